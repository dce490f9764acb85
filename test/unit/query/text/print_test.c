/* test/unit/query/text/print_test.c - trees as text, and the text as trees again. */
#include <dirent.h>
#include <stdlib.h>

#include "query/text/parse.h"
#include "test.h"

/* The text of a query as it is printed; absent when it does not parse. */
static struct slice printed(struct slice query)
{
    struct select *select;
    struct buf out;

    if (query_parse(test_op(), query, &select) != ST_OK)
        return (struct slice){ NULL, 0 };
    buf_init(&out, &test_op()->arena);
    query_print(&out, select);
    return buf_as_slice(&out);
}

static bool prints_as(const char *query, const char *text)
{
    struct slice got = printed(slice_of(query));

    if (got.data && slice_is(got, text))
        return true;
    printf("%s\nprints as\n%.*s\nand not as\n%s\n", query, SLICE_ARGS(got), text);
    return false;
}

/* What is printed parses, and prints as itself. */
static bool prints_to_itself(struct slice query)
{
    struct slice once = printed(query), twice = once.data ? printed(once) : once;

    if (twice.data && slice_equal(once, twice))
        return true;
    printf("%.*s\nprints as\n%.*s\nand then as\n%.*s\n", SLICE_ARGS(query), SLICE_ARGS(once),
           SLICE_ARGS(twice));
    return false;
}

TEST(clauses_stand_on_lines_of_their_own)
{
    CHECK(prints_as("select top 5 * from c", "SELECT TOP 5 *\nFROM c"));
    CHECK(prints_as("SELECT DISTINCT TOP 5 VALUE c.n FROM c", "SELECT DISTINCT TOP 5 VALUE c.n\nFROM c"));
    CHECK(prints_as("SELECT c.a, c.b AS x, c.d y FROM Root c",
                    "SELECT c.a, c.b AS x, c.d AS y\nFROM Root AS c"));
    CHECK(prints_as("SELECT 1 WHERE true GROUP BY 1 ORDER BY c.a desc, c.b ASC, c.d OFFSET 1 LIMIT @n",
                    "SELECT 1\nWHERE true\nGROUP BY 1\nORDER BY c.a DESC, c.b ASC, c.d\nOFFSET 1 LIMIT @n"));
    CHECK(prints_as("SELECT x FROM c.a[\"b\"][0] d JOIN x IN d.e",
                    "SELECT x\nFROM c.a[\"b\"][0] AS d\nJOIN x IN d.e"));
}

TEST(every_operation_is_in_parentheses)
{
    CHECK(prints_as("SELECT 1+2*3", "SELECT (1 + (2 * 3))"));
    CHECK(prints_as("SELECT a AND b AND NOT c OR d", "SELECT (((a AND b) AND (NOT c)) OR d)"));
    CHECK(prints_as("SELECT a ?? b ? c : d", "SELECT ((a ?? b) ? c : d)"));
    CHECK(prints_as("SELECT a between 1 and 2, a NOT IN (1,2), a LIKE 'x' ESCAPE '!'",
                    "SELECT (a BETWEEN 1 AND 2), (a NOT  IN (1, 2)), (a LIKE \"x\" ESCAPE \"!\")"));
    CHECK(prints_as("SELECT a <> b, a || b, ~a, +a, -a", "SELECT (a != b), (a || b), (~ a), (+ a), (- a)"));
}

TEST(numbers_have_all_their_digits_and_their_signs)
{
    CHECK(prints_as("SELECT 1, 1.0, 1.5, 0x10", "SELECT 1, 1, 1.5, 16"));
    CHECK(prints_as("SELECT 0.01579204574227333", "SELECT 0.015792045742273331"));
    CHECK(prints_as("SELECT -0.005676387343555689", "SELECT -0.0056763873435556889"));
    CHECK(prints_as("SELECT 1e300", "SELECT 1.0000000000000001e+300"));
    CHECK(prints_as("SELECT 0.1, 1e20, 2.5e-5, - 1", "SELECT 0.1, 1e+20, 2.5e-05, (- 1)"));
    CHECK(prints_as("SELECT -1[0], (-1).a, 'a'.b", "SELECT (- (1)[0]), (-1).a, (\"a\").b"));
    CHECK(prints_as("SELECT -9223372036854775808", "SELECT -9223372036854775808"));
    CHECK(prints_as("SELECT NaN, Infinity, -Infinity", "SELECT NaN, Infinity, -Infinity"));
}

TEST(strings_are_in_double_quotes)
{
    CHECK(prints_as("SELECT 'it\\'s', 'a\"b', '\\\\', '\\u0001\\n', '你'",
                    "SELECT \"it's\", \"a\\\"b\", \"\\\\\", \"\\u0001\\n\", \"你\""));
    CHECK(prints_as("SELECT c['a'], c.a, c[@p], c[0]", "SELECT c[\"a\"], c.a, c[@p], c[0]"));
    CHECK(prints_as("SELECT {a: 1, 'b': [null, undefined]}", "SELECT {\"a\": 1, \"b\": [null, undefined]}"));
}

TEST(subqueries_are_indented)
{
    CHECK(prints_as(
        "SELECT s FROM c JOIN (SELECT VALUE s FROM s IN c.scores GROUP BY s) s",
        "SELECT s\nFROM c\nJOIN (\n    SELECT VALUE s\n    FROM s IN c.scores\n    GROUP BY s\n) AS s"));
    CHECK(prints_as("SELECT EXISTS(SELECT 1 FROM x IN (SELECT 2))",
                    "SELECT EXISTS(\n    SELECT 1\n    FROM x IN (\n        SELECT 2\n    )\n)"));
    CHECK(prints_as("SELECT ARRAY(SELECT 1), (SELECT 1).a",
                    "SELECT ARRAY(\n        SELECT 1\n    ), (\n    SELECT 1\n).a"));
}

TEST(names_of_functions_stay_as_they_are_written)
{
    CHECK(prints_as("SELECT Count(1), udf.f(1, 'x'), abs( 1 )", "SELECT Count(1), udf.f(1, \"x\"), abs(1)"));
}

TEST(what_is_printed_prints_as_itself)
{
    static const char *const queries[] = {
        "SELECT 5",
        "SELECT VALUE 'a' LIKE '!%a' ESCAPE '!'",
        "SELECT * FROM c WHERE c.a NOT LIKE @p",
        "SELECT a ? b ? 1 : 2 : c ?? d ?? e",
        "SELECT (a ?? b) ?? (c ?? (d ?? e))",
        "SELECT a - b - c, a - (b - c), a / b * c % d, a << 1 >> 2 >>> 3, a & b | c ^ d",
        "SELECT NOT a, NOT NOT a, NOT (a AND b), a = b = c, a < b = (c > d)",
        "SELECT - - 5, -(-5), +5, ~-5, - c.a",
        "SELECT 9007199254740993, 18446744073709551616, 1e-300, 123456789012345678901234567890",
        "SELECT VALUE {'a': {'b': [[], [1, [2]]]}, \"\\ud83d\\ude00\": 1}",
        "SELECT c['x y'].z[0]['q'] FROM c IN d.e[1]['f']",
        "SELECT VALUE (SELECT VALUE x FROM x IN c.y WHERE EXISTS(SELECT 1 FROM z IN x WHERE z = 1)) FROM c",
        "SELECT ALL(SELECT 1), FIRST(SELECT 2), LAST(SELECT 3)",
        "SELECT * FROM (SELECT DISTINCT VALUE c.a FROM c) AS s JOIN t IN (SELECT VALUE s.u) JOIN (SELECT 1) "
        "v",
        "SELECT kv FROM c JOIN kv IN (SELECT VALUE OBJECTTOARRAY(c.m, 'k', 'v'))",
        "SELECT c.a AS 'x y', c.b 'value', c.d AS '', c.e 'select', c.f AS 'f' FROM c",
        "SELECT TOP @n c.a FROM c ORDER BY VectorDistance(c.v, @v, true)",
        "SELECT c.name FROM c ORDER BY RANK RRF(FullTextScore(c.t, ['a']), VectorDistance(c.v, [1, -2.5])) "
        "OFFSET 0 LIMIT 1",
        "SELECT c._rid, [{\"item\": c.a}] AS orderByItems, c AS payload FROM c WHERE ((c.b = \"x\") AND "
        "(true)) ORDER BY c.a",
    };

    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
        CHECK(prints_to_itself(slice_of(queries[i])));
}

/* Parentheses have a limit: a list of a thousand conditions must not reach it by being printed. */
TEST(a_long_chain_prints_as_itself)
{
    static const char *const words[] = { " OR c.a = ", " AND c.a != ", " + ", " * " };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t count = i < 2 ? 5000 : 100;
        struct buf query;

        buf_init(&query, &test_op()->arena);
        buf_text(&query, "SELECT * FROM c WHERE c.x = 1");
        for (size_t k = 0; k < count; k++)
            buf_printf(&query, "%s%zu", words[i], k);
        CHECK(prints_to_itself(buf_as_slice(&query)));
    }
}

/*
 * Every query of the data-driven cases, wherever it parses.
 */

static size_t queries_seen;

static bool read_file(const char *path, struct buf *text)
{
    FILE *file = fopen(path, "rb");
    size_t got;

    if (!file)
        return false;
    buf_init(text, &test_op()->arena);
    do {
        char room[4096];

        got = fread(room, 1, sizeof(room), file);
        buf_append(text, room, got);
    } while (got);
    fclose(file);
    return true;
}

/* The value of the line that begins with `query`, with the indented lines that follow it. */
static void check_case(struct slice text)
{
    struct buf query;
    bool inside = false;

    buf_init(&query, &test_op()->arena);
    while (text.size) {
        const char *end = memchr(text.data, '\n', text.size);
        struct slice line = slice_make(text.data, end ? (size_t)(end - text.data) : text.size);

        inside = slice_starts_with(line, "query ") || (inside && slice_starts_with(line, " "));
        if (inside) {
            buf_slice(&query, query.size ? line : slice_after(line, strlen("query ")));
            buf_byte(&query, '\n');
        }
        text = slice_after(text, line.size + (end != NULL));
    }
    if (!printed(buf_as_slice(&query)).data)
        return;
    queries_seen++;
    CHECK(prints_to_itself(buf_as_slice(&query)));
}

static void check_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;

    while (directory && (entry = readdir(directory))) {
        struct arena_mark mark = arena_mark(&test_op()->arena);
        char path[1024];
        struct buf text;

        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' && entry->d_type == DT_DIR)
            check_folder(path);
        else if (strstr(entry->d_name, ".case") && read_file(path, &text))
            check_case(buf_as_slice(&text));
        arena_rewind(&test_op()->arena, mark);
    }
    if (directory)
        closedir(directory);
}

TEST(every_query_of_the_cases_prints_as_itself)
{
    check_folder(test_source_path("test/query"));
    check_folder(test_source_path("test/plan"));
    CHECK(queries_seen > 100);
}
