/* src/query/run/fitting.c - the items whose texts fit best, one batch after the other, until enough have passed the filter. */
#include <stdlib.h>

#include "query/bind/fold.h"
#include "query/eval/builtin.h"
#include "query/function/full_text.h"
#include "query/run/fitting.h"
#include "query/run/near.h"
#include "query/run/postings.h"

enum {
    WANTED_MAX = 10000,
    FILTERED_ROWS = 16, /* so many more are found at first than are wanted, */
    MORE = 4,           /* and then so many times as many */
    READ_MIN = 1000,
    READ_SHARE = 10, /* more than a tenth of the scope's items are not read one by one */
};

/* ---- which calls ---- */

/* _FullTextScore(text, [keyword ...], documents, words, [hits ...]) */
static bool is_score(const struct expr *call)
{
    return call->kind == EXPR_CALL && call->builtin->bind == full_text_bind_rewritten && call->kid_count == 5;
}

static enum status read_keywords(struct op *op, struct json list, struct ranking_part *part, bool *found)
{
    const struct full_text_call *bound = part->call->memo;

    text_search_begin(&part->search, bound->language, &op->arena);
    for (struct json_iter i = json_iter(list); *found && json_next(&i);) {
        struct slice word;
        uint32_t distance;

        *found = full_text_keyword(value_from_json(i.value), &word, &distance);
        if (*found && !text_search_add(&part->search, word, distance))
            return op_fail_as(op, ST_QUERY_MEMORY);
    }
    return ST_OK;
}

/* Whether they can be those of texts: what is told of the most that a keyword adds rests on it. */
static bool read_statistics(struct op *op, const struct expr *const *kid, struct ranking_part *part)
{
    struct value documents, words, hits;
    size_t count = 0;

    if (!fold_constant(kid[2], &documents) || !fold_constant(kid[3], &words) ||
        !fold_constant(kid[4], &hits) || documents.kind != JSON_NUMBER || words.kind != JSON_NUMBER ||
        hits.kind != JSON_ARRAY || json_count(hits.json) != part->search.keyword_count ||
        !(documents.number > 0) || !(words.number > 0))
        return false;
    part->hits = arena_alloc(&op->arena, (part->search.keyword_count + 1) * sizeof(*part->hits));
    for (struct json_iter i = json_iter(hits.json); json_next(&i); count++) {
        part->hits[count] = json_kind(i.value) == JSON_NUMBER ? json_double(i.value) : -1;
        if (!(part->hits[count] >= 0 && part->hits[count] <= documents.number))
            return false;
    }
    part->is_given = true;
    part->statistics = (struct text_statistics){ documents.number, words.number, part->hits };
    return true;
}

enum status fitting_find(struct fitting *fitting, struct op *op, const struct query *query,
                         const struct select *select, uint64_t wanted, bool *found)
{
    const struct expr *call = select->order[0].expr;
    struct ranking_part *part = &fitting->part;
    struct value keywords;
    enum status st = ST_OK;

    *found = is_score(call) && near_reads_items(select) && !query->bound.calls_udfs && wanted > 0 &&
             wanted <= WANTED_MAX && fold_constant(call->kid[1], &keywords) && keywords.kind == JSON_ARRAY &&
             !keywords.is_row;
    if (!*found)
        return ST_OK;
    *part = (struct ranking_part){
        .call = call, .is_text = true, .weight = 1, .turned = !select->order[0].descending
    };
    fitting->wanted = (size_t)wanted;
    TRY(read_keywords(op, keywords.json, part, found));
    *found = *found && read_statistics(op, (const struct expr *const *)call->kid, part);
out:
    return st;
}

bool fitting_is_worth(const struct fitting *fitting, const struct way *way)
{
    if (way->allowed == QUERY_BY_INDEX)
        return true;
    if (fitting->part.turned)
        return !way_picks_fewer(way, (double)fitting->wanted);
    return way->kind != WAY_PICK || way->access_items >= fitting_hits(fitting);
}

double fitting_hits(const struct fitting *fitting)
{
    double count = 0;

    for (size_t i = 0; i < fitting->part.search.keyword_count; i++)
        count += fitting->part.hits[i];
    return count;
}

/* ---- the best ---- */

static enum status find_more(struct fitting *fitting)
{
    size_t wanted = fitting->best.wanted ? MORE * fitting->best.wanted : fitting->wanted + FILTERED_ROWS;

    return (fitting->part.turned ? postings_least : postings_first)(
        fitting->cursor->eval.op, &fitting->cursor->kept, &fitting->part, fitting->index,
        fitting->by_creation, wanted, &fitting->best);
}

static int by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* As many as are still wanted. Those that were given come first again when more are found. */
static enum status give_next(struct lead *lead, const uint64_t **number, size_t *count)
{
    struct fitting *fitting = (struct fitting *)lead;
    enum status st = ST_OK;

    *count = 0;
    *number = fitting->number;
    if (fitting->passed >= fitting->wanted || fitting->read > fitting->read_max)
        return ST_OK;
    if (fitting->next == fitting->best.count && fitting->best.count == fitting->best.wanted)
        TRY(find_more(fitting));
    while (fitting->next < fitting->best.count && *count < fitting->wanted - fitting->passed)
        fitting->number[(*count)++] = fitting->best.found[fitting->next++].number;
    if (*count > 1)
        qsort(fitting->number, *count, sizeof(*fitting->number), by_u64);
    fitting->read += *count;
out:
    return st;
}

/* Behind all texts are items without one, which no list of texts has. Rising, they come first. */
static void see(struct lead *lead, struct value score)
{
    struct fitting *fitting = (struct fitting *)lead;

    fitting->passed += fitting->part.turned || score.kind == JSON_NUMBER;
}

static bool gave_all_items(const struct fitting *fitting)
{
    return fitting->part.turned && fitting->next == fitting->best.count &&
           fitting->best.count < fitting->best.wanted;
}

static bool has_enough(const struct lead *lead)
{
    const struct fitting *fitting = (const struct fitting *)lead;

    return fitting->passed >= fitting->wanted || gave_all_items(fitting);
}

enum status fitting_open(struct fitting *fitting, struct cursor *cursor, struct way *way, bool by_creation)
{
    struct ranking ranking = { .part = &fitting->part, .count = 1 };
    const struct query_index *index = cursor->source->index;
    size_t share = (size_t)(way->scope_items / READ_SHARE);
    struct op *op = cursor->eval.op;
    enum status st = ST_OK;

    fitting->lead = (struct lead){ give_next, see, has_enough };
    fitting->cursor = cursor;
    fitting->index = index;
    fitting->by_creation = by_creation;
    fitting->read_max = (share > READ_MIN ? share : READ_MIN) + MORE * fitting->wanted;
    if (!cursor->source->pick || !postings_serve(op, cursor->select, &ranking, index))
        return ST_OK;
    TRY(postings_load(op, &cursor->kept, &ranking, index, &fitting->is_open));
    fitting->is_open = fitting->is_open && postings_tell_first(&fitting->part);
    fitting->part.asked.ties_fall = !fitting->part.turned; /* as rows that are sorted have them */
    fitting->number = arena_try_alloc(&cursor->kept, (fitting->wanted + 1) * sizeof(*fitting->number));
    if (!fitting->number)
        TRY(op_fail_as(op, ST_QUERY_MEMORY));
out:
    return st;
}
