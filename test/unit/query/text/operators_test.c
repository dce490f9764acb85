/*
 * test/unit/query/text/operators_test.c - how operators bind, every pair of them, against what the service's
 * compiler made of each. test/query/engine/operators.py recorded it.
 */
#include <stdio.h>

#include "query/text/parse.h"
#include "query/text/print.h"
#include "test.h"

enum { HEAD_CHARS = sizeof("SELECT ") - 1 };

/* An error as the file spells it: its code, its place in the expression, its text. */
static struct slice mistake_of(struct op *op)
{
    struct json error;
    struct buf out;

    CHECK(json_parse(op, slice_of(op->error), &error) == ST_OK);
    error = json_element(json_get(error, "errors"), 0);
    buf_init(&out, &op->arena);
    buf_slice(&out, json_string(json_get(error, "code")));
    buf_printf(&out, " %d %d ", (int)json_int(json_get(json_get(error, "location"), "start")) - HEAD_CHARS,
               (int)json_int(json_get(json_get(error, "location"), "end")) - HEAD_CHARS);
    buf_slice(&out, json_string(json_get(error, "message")));
    return buf_as_slice(&out);
}

static struct slice bound(struct op *op, struct slice expression)
{
    struct select *select;
    struct buf text, out;

    buf_init(&text, &op->arena);
    buf_printf(&text, "SELECT %.*s FROM c", SLICE_ARGS(expression));
    if (query_parse(op, buf_as_slice(&text), &select) != ST_OK)
        return mistake_of(op);
    buf_init(&out, &op->arena);
    query_print_expr(&out, select->item[0].expr);
    return buf_as_slice(&out);
}

static bool binds(struct slice expression, struct slice expected)
{
    struct slice got = bound(test_op(), expression);

    if (slice_equal(got, expected))
        return true;
    printf("%.*s\nis\n%.*s\nand not\n%.*s\n", SLICE_ARGS(expression), SLICE_ARGS(expected), SLICE_ARGS(got));
    return false;
}

TEST(every_pair_of_operators_binds_as_the_service_has_it)
{
    FILE *file = fopen(test_source_path("test/query/engine/operators.txt"), "r");
    size_t pairs = 0;
    char line[1024];

    CHECK(file != NULL);
    while (fgets(line, sizeof(line), file)) {
        struct arena_mark mark = arena_mark(&test_op()->arena);
        char *tab = strchr(line, '\t');

        line[strcspn(line, "\n")] = '\0';
        CHECK(tab && binds(slice_make(line, (size_t)(tab - line)), slice_of(tab + 1)));
        test_op()->error = NULL;
        arena_rewind(&test_op()->arena, mark);
        pairs++;
    }
    fclose(file);
    CHECK(pairs > 1000);
}
