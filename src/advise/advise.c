/* src/advise/advise.c - the looks, the links, the rules, the report. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "advise/advise.h"
#include "advise/asked.h"
#include "advise/rules.h"
#include "base/limits.h"

/* Of an operation's time, what reading may take; the rest is for lookups and for the answer. */
enum { LOOK_MS_MAX = 20 * 1000, TREES_BYTES_MAX = 192 * 1024 * 1024 };

/* ---- the report ---- */

static void add_text(struct json_builder *out, const char *name, struct slice text)
{
    json_add_name(out, slice_of(name));
    json_add_string(out, text);
}

static void add_number(struct json_builder *out, const char *name, uint64_t number)
{
    json_add_name(out, slice_of(name));
    json_add_int(out, (int64_t)number);
}

static void add_types(struct json_builder *out, const struct look *look)
{
    json_add_name(out, slice_of("types"));
    json_begin_array(out);
    for (size_t i = 0; i < look->type_count; i++) {
        const struct tree *tree = &look->type[i];

        json_begin_object(out);
        if (tree->type.data)
            add_text(out, "type", tree->type);
        add_number(out, "itemsLookedAt", tree->items);
        add_number(out, "meanBytes", tree->items ? tree->bytes / tree->items : 0);
        add_number(out, "paths", tree->node_count - 1);
        json_end(out);
    }
    json_end(out);
}

/* What was done with it, as the record has it. */
static void add_operations(struct json_builder *out, const struct asked *asked)
{
    if (json_kind(asked->record) == JSON_UNDEFINED)
        return;
    json_add_name(out, slice_of("operations"));
    json_add(out, json_get(asked->record, "operations"));
    add_number(out, "queries", asked_executed(asked));
    add_number(out, "queriesOfOnePartition", asked_single(asked));
}

static void add_container(struct json_builder *out, const struct advice *advice, const struct look *look)
{
    struct asked asked = asked_of(advice, look);

    json_begin_object(out);
    add_text(out, "container", look->container->link);
    add_number(out, "items", look->items);
    add_number(out, "itemsLookedAt", look->looked);
    add_number(out, "bytes", look->bytes);
    add_number(out, "keys", look->keys);
    if (look->discriminator.size)
        add_text(out, "discriminator", look->discriminator);
    add_types(out, look);
    add_operations(out, &asked);
    json_end(out);
}

static void add_unseen_of(struct json_builder *out, struct arena *arena, const struct look *look)
{
    struct buf text;

    buf_init(&text, arena);
    buf_slice(&text, look->container->link);
    if (!look->whole)
        buf_printf(&text, ": %llu of about %llu items were read before the time was over.",
                   (unsigned long long)look->items, (unsigned long long)look->expected);
    else if (!look->keys_counted)
        buf_text(&text, ": the keys are too many to be counted.");
    else if (look->untyped)
        buf_printf(&text, ": %llu items of further types were not looked at.",
                   (unsigned long long)look->untyped);
    else
        return;
    json_add_string(out, buf_as_slice(&text));
}

static int by_severity(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;

    if (a->severity != b->severity)
        return a->severity < b->severity ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void add_unseen(struct json_builder *report, struct op *op, const struct advice *advice)
{
    json_add_name(report, slice_of("notSeen"));
    json_begin_array(report);
    if (json_kind(advice->workload) == JSON_UNDEFINED)
        json_add_string(
            report, slice_of("What is asked and written, and how often: rules about queries are not applied. "
                             "A server that was started with --record knows it."));
    for (size_t i = 0; i < advice->look_count; i++)
        add_unseen_of(report, &op->arena, &advice->look[i]);
    json_end(report);
}

static enum status print_report(struct op *op, struct advice *advice, struct buf *out)
{
    struct json_builder report;

    if (advice->count)
        qsort(advice->finding, advice->count, sizeof(*advice->finding), by_severity);
    json_builder_init(&report, &op->arena);
    json_begin_object(&report);
    json_add_name(&report, slice_of("containers"));
    json_begin_array(&report);
    for (size_t i = 0; i < advice->look_count; i++)
        add_container(&report, advice, &advice->look[i]);
    json_end(&report);
    json_add_name(&report, slice_of("findings"));
    json_begin_array(&report);
    for (size_t i = 0; i < advice->count; i++)
        json_add(&report, advice->finding[i].body);
    json_end(&report);
    add_unseen(&report, op, advice);
    json_end(&report);
    if (json_kind(json_built(&report)) == JSON_UNDEFINED)
        return op_fail_as(op, ST_TOO_LARGE);
    json_print(out, json_built(&report));
    return ST_OK;
}

/* ---- the whole ---- */

/* Each container has its part of the time, and what one leaves the next may use. */
static enum status look_at_all(struct op *op, const struct advise_options *options, struct arena *trees,
                               struct look *look)
{
    int64_t began_ms = env_monotonic_ms(op->env);
    enum status st = ST_OK;

    for (size_t i = 0; i < options->count; i++)
        TRY(look_at(op, trees, options->container[i],
                    began_ms + LOOK_MS_MAX * (int64_t)(i + 1) / (int64_t)options->count, &look[i]));
out:
    return st;
}

/* As it is shown to others: rules need no more. */
static enum status read_workload(struct op *op, const struct advise_options *options, struct advice *advice)
{
    struct buf text;
    enum status st = ST_OK;

    if (!options->workload)
        return ST_OK;
    buf_init(&text, &op->arena);
    workload_print(options->workload, &text, WORKLOAD_SHOWN);
    TRY(text.failed ? op_fail_as(op, ST_TOO_LARGE) : ST_OK);
    TRY(json_parse(op, buf_as_slice(&text), &advice->workload));
out:
    return st;
}

enum status advise(struct op *op, const struct advise_options *options, struct buf *out)
{
    struct look *look = arena_try_alloc(&op->arena, (options->count + 1) * sizeof(*look));
    struct advice advice = { .look = look, .look_count = options->count, .values = options->values };
    struct arena trees;
    enum status st;

    op_arena(op, &trees, TREES_BYTES_MAX);
    TRY(look ? ST_OK : op_fail_as(op, ST_TOO_LARGE));
    TRY(look_at_all(op, options, &trees, look));
    TRY(links_find(op, look, options->count, &advice.links));
    TRY(read_workload(op, options, &advice));
    TRY(rules_apply(op, &advice));
    TRY(print_report(op, &advice, out));
out:
    arena_free(&trees);
    return st;
}
