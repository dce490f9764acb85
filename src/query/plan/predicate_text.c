/* src/query/plan/predicate_text.c - from a word of a filter to the range of its terms, or those of words near it. */
#include <assert.h>

#include "base/limits.h"
#include "index/near_words.h"
#include "index/set.h"
#include "index/text_terms.h"
#include "query/plan/predicate_text.h"

/* Ranges of near words take no more of a query's memory: what then has no ranges is looked for in every item. */
enum { PLAN_BYTES_MAX = OP_MEMORY_BYTES_MAX / 8 };

static struct access *range_of(struct planner *planner, const struct filter *filter, struct slice prefix,
                               bool exact)
{
    struct access access = { .kind = ACCESS_RANGE,
                             .exact = exact,
                             .is_words = true,
                             .path = filter->path.steps,
                             .stem =
                                 slice_make(prefix.data + TERM_PATH_BYTES, prefix.size - TERM_PATH_BYTES - 1),
                             .from = prefix,
                             .to = index_prefix_end(&planner->op->arena, prefix) };

    return access_new(planner, access);
}

/* Texts with a word of a near stem may have others of that stem: they are looked at. */
static struct access *access_near(struct planner *planner, const struct filter *filter,
                                  const struct index_text *text)
{
    struct access *any_of = access_none(planner);
    struct near_words near;

    if (!text->has_forms || planner->op->arena.used_bytes > PLAN_BYTES_MAX ||
        near_words_find(planner->op, planner->index->view, text, &filter->word, &near) != ST_OK)
        return access_any();
    for (size_t i = 0; i < near.count; i++)
        any_of = access_or(planner, any_of, range_of(planner, filter, near.prefix[i], false));
    return any_of;
}

struct access *access_word(struct planner *planner, const struct filter *filter)
{
    const struct index_path *path = &filter->path.steps;
    struct slice stem = filter->word.stem;
    uint8_t prefix[TEXT_PREFIX_BYTES_MAX];
    struct index_text text;

    assert(filter->kind == FILTER_WORD);
    if (filter->path.traits.computed || filter->path.traits.has_place || !planner->index->has_text ||
        !planner->index->has_text(planner->index, path, &text) || text.language != filter->language ||
        stem.size == 0 || stem.size > TEXT_WORD_BYTES_MAX)
        return access_any();
    if (filter->word.distance)
        return access_near(planner, filter, &text);
    return range_of(
        planner, filter,
        arena_copy(&planner->op->arena, slice_make(prefix, text_term_prefix(prefix, text.id, stem))), true);
}
