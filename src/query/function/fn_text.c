/*
 * src/query/function/fn_text.c - full-text search: whether keywords are in a text, and how well it fits them.
 * A text is looked through word by word (text/match.h). An index changes nothing but speed.
 */
#include "query/eval/eval.h"
#include "query/function/builtins.h"
#include "query/function/full_text.h"
#include "text/score.h"

/* The memo after the first row: what is looked for is read once, as long as it is the same for every row. */
struct memo {
    struct full_text_call call; /* prepared */
    bool differs;               /* from row to row: nothing is kept */
    const struct value *keyword;
    size_t keyword_count;
    struct text_search search;
};

static struct memo *memo_of(struct eval *eval)
{
    const struct full_text_call *call = *eval->memo;
    struct memo *memo;

    if (call->prepared)
        return *eval->memo;
    memo = arena_alloc(eval->kept, sizeof(*memo));
    *memo = (struct memo){ .call = *call };
    memo->call.prepared = true;
    *eval->memo = memo;
    return memo;
}

static struct slice bytes_of(struct value value)
{
    return value.kind == JSON_STRING ? value.string : json_bytes(value.json);
}

static bool is_same(const struct memo *memo, const struct value *keyword, size_t count)
{
    if (!memo->keyword || memo->keyword_count != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (memo->keyword[i].kind != keyword[i].kind ||
            !slice_equal(bytes_of(memo->keyword[i]), bytes_of(keyword[i])))
            return false;
    return true;
}

/* False when memory ends, which is recorded. */
static bool read_keywords(struct eval *eval, enum text_language language, struct arena *memory,
                          const struct value *keyword, size_t count, struct text_search *search)
{
    text_search_begin(search, language, memory);
    for (size_t i = 0; i < count; i++) {
        struct slice word;
        uint32_t distance;

        if (!full_text_keyword(keyword[i], &word, &distance))
            return false;
        if (!text_search_add(search, word, distance)) {
            eval_fail(eval, ST_QUERY_MEMORY);
            return false;
        }
    }
    return true;
}

/* Keywords that outlive the row; NULL when memory ends. */
static const struct value *keep(struct eval *eval, const struct value *keyword, size_t count)
{
    struct value *kept = arena_try_alloc(eval->kept, (count + 1) * sizeof(*kept));

    for (size_t i = 0; kept && i < count; i++) {
        struct slice bytes = bytes_of(keyword[i]);
        char *copy = arena_try_alloc(eval->kept, bytes.size + 1);

        if (!copy)
            return NULL;
        memcpy(copy, bytes.data, bytes.size);
        kept[i] = keyword[i];
        if (keyword[i].kind == JSON_STRING)
            kept[i].string = slice_make(copy, bytes.size);
        else
            kept[i].json = json_from_bytes(slice_make(copy, bytes.size));
    }
    return kept;
}

/* NULL when a keyword is none. */
static const struct text_search *search_of(struct eval *eval, const struct value *keyword, size_t count)
{
    struct memo *memo = memo_of(eval);
    struct text_search *search;

    if (is_same(memo, keyword, count))
        return &memo->search;
    if (!memo->keyword && !memo->differs) {
        if (!read_keywords(eval, memo->call.language, eval->kept, keyword, count, &memo->search))
            return NULL;
        memo->keyword = keep(eval, keyword, count);
        memo->keyword_count = count;
        memo->differs = !memo->keyword;
        return &memo->search;
    }
    memo->differs = true;
    memo->keyword = NULL;
    search = eval_alloc(eval, sizeof(*search));
    if (!search || !read_keywords(eval, memo->call.language, &eval->op->arena, keyword, count, search))
        return NULL;
    return search;
}

static bool look(struct eval *eval, const struct text_search *search, struct slice text,
                 struct text_hits *hits)
{
    if (!eval_spend(eval, text.size * (1 + search->term_count)))
        return false;
    if (text_search_look(search, text, &eval->op->arena, hits))
        return true;
    eval_fail(eval, ST_QUERY_MEMORY);
    return false;
}

/* (text, keyword ...): undefined where the text is no string, or a keyword is none. */
static struct value contains(struct eval *eval, const struct value *arg, int count, bool all)
{
    const struct text_search *search;
    struct text_hits hits;
    size_t found = 0;

    if (arg[0].kind != JSON_STRING)
        return value_undefined;
    search = search_of(eval, arg + 1, (size_t)count - 1);
    if (!search || !look(eval, search, arg[0].string, &hits))
        return value_undefined;
    for (size_t i = 0; i < search->keyword_count; i++)
        found += hits.frequency[i] > 0;
    return value_bool(all ? found == search->keyword_count : found > 0);
}

static struct value fn_contains_all(struct eval *eval, const struct value *arg, int count)
{
    return contains(eval, arg, count, true);
}

static struct value fn_contains_any(struct eval *eval, const struct value *arg, int count)
{
    return contains(eval, arg, count, false);
}

static struct value fn_word_count(struct eval *eval, const struct value *arg, int count)
{
    (void)count;
    if (arg[0].kind != JSON_STRING || !eval_spend(eval, arg[0].string.size))
        return value_undefined;
    return value_int(text_length(memo_of(eval)->call.language, arg[0].string));
}

/* The elements of an array; NULL when memory ends. */
static struct value *elements(struct eval *eval, struct json array)
{
    struct value *value = eval_alloc(eval, (json_count(array) + 1) * sizeof(*value));
    size_t count = 0;

    for (struct json_iter i = json_iter(array); value && json_next(&i);)
        value[count++] = value_from_json(i.value);
    return value;
}

static const double *numbers(struct eval *eval, struct json array)
{
    double *number = eval_alloc(eval, (json_count(array) + 1) * sizeof(*number));
    size_t count = 0;

    for (struct json_iter i = json_iter(array); number && json_next(&i);)
        number[count++] = json_kind(i.value) == JSON_NUMBER ? json_double(i.value) : 0;
    return number;
}

/* (text, [keyword ...], documents, words, [hits ...]): what ranges are asked for, when all have counted. */
static struct value fn_score(struct eval *eval, const struct value *arg, int count)
{
    struct text_statistics statistics = { .documents = arg[2].number, .words = arg[3].number };
    const struct text_search *search;
    struct value *keyword;
    struct text_hits hits;

    (void)count;
    if (arg[0].kind != JSON_STRING || arg[1].kind != JSON_ARRAY || arg[4].kind != JSON_ARRAY ||
        json_count(arg[1].json) != json_count(arg[4].json))
        return value_undefined;
    keyword = elements(eval, arg[1].json);
    statistics.hits = numbers(eval, arg[4].json);
    if (!keyword || !statistics.hits)
        return value_undefined;
    search = search_of(eval, keyword, json_count(arg[1].json));
    if (!search || !look(eval, search, arg[0].string, &hits))
        return value_undefined;
    return value_double(text_score(&statistics, &hits, search->keyword_count));
}

static const struct builtin rows[] = {
    /* name, fewest and most arguments; then what is not as usual */
    { "FULLTEXTCONTAINS",
      2,
      2,
      "FULLTEXT_CONTAINS",
      fn_contains_all,
      NOT_OF_ITEM | TAKES_LONG | LATE,
      { .kind = CLAIM_WORDS },
      .bind = full_text_bind },
    { "FULLTEXTCONTAINSALL",
      2,
      ARGS_NO_MAX,
      "FULLTEXT_CONTAINS_ALL",
      fn_contains_all,
      NOT_OF_ITEM | TAKES_LONG | LATE,
      { .kind = CLAIM_WORDS },
      .bind = full_text_bind },
    { "FULLTEXTCONTAINSANY",
      2,
      ARGS_NO_MAX,
      "FULLTEXT_CONTAINS_ANY",
      fn_contains_any,
      NOT_OF_ITEM | TAKES_LONG | LATE,
      { .kind = CLAIM_ANY_WORDS },
      .bind = full_text_bind },
    { "FULLTEXTSCORE", 2, ARGS_NO_MAX, .flags = NOT_OF_ITEM | TAKES_LONG | NOT_CONSTANT | SCORES,
      .bind = full_text_bind_score },
    { "RRF", 0, ARGS_NO_MAX, .flags = NOT_CONSTANT | FUSES | TAKES_LONG },
    { "_FULLTEXTSCORE", 5, 5, NULL, fn_score, NOT_OF_ITEM | TAKES_LONG | ORDERS,
      .bind = full_text_bind_rewritten },
    { "_FULLTEXTWORDCOUNT", 1, 1, NULL, fn_word_count, NOT_OF_ITEM | TAKES_LONG, .bind = full_text_bind },
};

const struct builtin_family builtins_text = { rows, sizeof(rows) / sizeof(rows[0]) };
