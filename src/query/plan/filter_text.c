/* src/query/plan/filter_text.c - keywords of full-text functions as words that a text must have. */
#include "query/bind/fold.h"
#include "query/function/full_text.h"
#include "query/plan/filter_private.h"

static struct filter *word_at(struct arena *arena, const struct item_path *path, enum text_language language,
                              struct text_term word)
{
    struct filter made = { .kind = FILTER_WORD, .word = word, .language = language };

    return item_path_keep(arena, path, &made.path) ? filter_make(arena, made) : filter_any();
}

/* All words of the keyword; where they stand, the evaluator sees. */
static struct filter *keyword_at(struct arena *arena, const struct item_path *path,
                                 const struct text_search *search, const struct text_keyword *keyword)
{
    struct filter *list;

    if (keyword->count == 0)
        return filter_none(arena);
    if (keyword->count == 1)
        return word_at(arena, path, search->language, search->term[keyword->first]);
    list = filter_list(arena, FILTER_AND, keyword->count);
    for (size_t i = 0; i < keyword->count; i++)
        filter_put(list, word_at(arena, path, search->language, search->term[keyword->first + i]));
    return filter_loosely(list);
}

static struct filter *constant_at(struct arena *arena, const struct item_path *path,
                                  struct text_search *search, struct slice word, uint32_t distance)
{
    if (!text_search_add(search, word, distance))
        return filter_any();
    return keyword_at(arena, path, search, &search->keyword[search->keyword_count - 1]);
}

struct filter *filter_words(struct arena *arena, const struct alias *aliases, const struct expr *call)
{
    const struct full_text_call *bound = call->memo;
    bool all = filter_claim(call) == CLAIM_WORDS;
    struct filter *list = filter_list(arena, all ? FILTER_AND : FILTER_OR, call->kid_count);
    struct text_search search;
    struct item_path path;

    item_path_begin(&path);
    if (!item_path_of(aliases, call->kid[0], &path))
        return filter_any();
    text_search_begin(&search, bound->language, arena);
    for (size_t i = 1; i < call->kid_count; i++) {
        struct value value;
        struct slice word;
        uint32_t distance;

        if (!fold_constant(call->kid[i], &value))
            filter_put(list, filter_any());
        else if (!full_text_keyword(value, &word, &distance))
            return filter_none(arena);
        else
            filter_put(list, constant_at(arena, &path, &search, word, distance));
    }
    return list;
}
