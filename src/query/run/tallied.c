/* src/query/run/tallied.c - which aggregates an index of words answers, and what it answers. */
#include <assert.h>

#include "query/bind/fold.h"
#include "query/eval/builtin.h"
#include "query/function/full_text.h"
#include "query/plan/covered.h"
#include "query/run/postings.h"
#include "query/run/tallied.h"

static const size_t NO_KEYWORD = SIZE_MAX;

/* ---- which aggregates ---- */

/* Of the whole scope. A scope that is about a key has few items: looking at them costs less than counting all. */
static bool is_plain(const struct select *select, const struct query_index *index)
{
    return covered_items(select) == select && !select->where && !select->group_count &&
           !select->order_count && !select->distinct && index && index->tally && !index->left_out.data &&
           index->key_value_count == 0;
}

static bool is_text_call(const struct expr *expr, size_t kid_count)
{
    return expr->kind == EXPR_CALL && expr->builtin->bind == full_text_bind && expr->kid_count == kid_count;
}

/* The text of a call, which others of the statement may have, too. NULL: the index does not have it. */
static struct tallied_text *text_of(struct tallied *tallied, struct op *op, const struct expr *call,
                                    const struct query_index *index)
{
    const struct full_text_call *bound = call->memo;
    struct tallied_text *made = &tallied->text[tallied->text_count];

    if (!postings_text(op, call, index, &made->path, &made->text))
        return NULL;
    for (size_t i = 0; i < tallied->text_count; i++)
        if (index_path_equal(&tallied->text[i].path, &made->path))
            return &tallied->text[i];
    text_search_begin(&made->search, bound->language, &op->arena);
    tallied->text_count++;
    return made;
}

/* COUNTIF(FullTextContains(text, keyword)) */
static enum status add_keyword(struct op *op, const struct expr *call, const struct query_index *index,
                               struct tallied *tallied, struct tallied_value *value, bool *found)
{
    struct value keyword;
    struct slice word;
    uint32_t distance;
    struct tallied_text *text = text_of(tallied, op, call, index);

    *found = text && fold_constant(call->kid[1], &keyword) && full_text_keyword(keyword, &word, &distance);
    if (!*found)
        return ST_OK;
    value->text = text;
    value->keyword = text->search.keyword_count;
    return text_search_add(&text->search, word, distance) ? ST_OK : op_fail_as(op, ST_QUERY_MEMORY);
}

static enum status add_aggregate(struct op *op, const struct expr *aggregate, const struct query_index *index,
                                 struct tallied *tallied, struct tallied_value *value, bool *found)
{
    const struct builtin_aggregate *traits = &aggregate->builtin->aggregate;
    const struct expr *of = aggregate->kid[0];
    struct value constant;

    *value = (struct tallied_value){ .keyword = NO_KEYWORD };
    if (traits->counts_true && is_text_call(of, 2))
        return add_keyword(op, of, index, tallied, value, found);
    if (traits->sums && is_text_call(of, 1))
        *found = (value->text = text_of(tallied, op, of, index)) != NULL;
    else
        *found = traits->counts && fold_constant(of, &constant) && constant.kind != JSON_UNDEFINED;
    return ST_OK;
}

enum status tallied_find(struct tallied *tallied, struct op *op, const struct select *select,
                         const struct query_index *index, bool *found)
{
    size_t count = select->aggregate_count;
    enum status st = ST_OK;

    *tallied = (struct tallied){ 0 };
    *found = count && is_plain(select, index);
    if (!*found)
        return ST_OK;
    tallied->text = arena_alloc(&op->arena, (count + 1) * sizeof(*tallied->text));
    tallied->value = arena_alloc(&op->arena, count * sizeof(*tallied->value));
    for (; tallied->value_count < count && *found; tallied->value_count++)
        TRY(add_aggregate(op, select->aggregate[tallied->value_count], index, tallied,
                          &tallied->value[tallied->value_count], found));
    *found = *found && tallied->text_count;
    for (size_t i = 0; i < tallied->text_count && *found; i++)
        *found = postings_tell(&tallied->text[i].text, &tallied->text[i].search);
out:
    return st;
}

/* ---- what it answers ---- */

static void set_value(const struct tallied *tallied, struct tallied_value *value)
{
    const struct query_tally *tally = &tallied->text[0].tally;

    if (!value->text) {
        value->value = value_int(1);
        value->times = tally->documents;
    } else if (value->keyword == NO_KEYWORD) {
        value->value = value_int((int64_t)value->text->tally.words);
        value->times = 1;
    } else {
        value->value = value_bool(true);
        value->times = value->text->tally.hits[value->keyword];
    }
}

enum status tallied_open(struct tallied *tallied, struct op *op, const struct query_index *index)
{
    enum status st = ST_OK;

    assert(tallied->text_count);
    tallied->is_open = true;
    for (size_t i = 0; i < tallied->text_count && tallied->is_open; i++) {
        struct tallied_text *text = &tallied->text[i];
        struct words_question question = { .path = &text->path,
                                           .text = &text->text,
                                           .search = &text->search };

        TRY(index->tally(op, index, &question, &text->tally));
        tallied->is_open = text->tally.is_told;
        for (size_t k = 0; k < text->search.keyword_count && tallied->is_open; k++)
            tallied->hits += (double)text->tally.hits[k];
    }
    for (size_t i = 0; i < tallied->value_count && tallied->is_open; i++)
        set_value(tallied, &tallied->value[i]);
out:
    return st;
}
