/*
 * cli/reshape_verify.c - whether the new container has what the old one's items make, as of one moment of the old one.
 * The plan's query is asked over the old container as of that moment. Each of its rows is looked for in the new one, and compared. If
 * all are there, and the new one has as many items as there are rows, the two agree, and no two rows are one item.
 */
#include <stdlib.h>
#include <string.h>

#include "reshape_private.h"

enum { ROWS_AT_A_TIME = 200, EXAMPLES = 3 };

/* Rows that wait to be compared. */
struct pile {
    orrery_json *row[ROWS_AT_A_TIME];
    struct key key[ROWS_AT_A_TIME];
    size_t count;
};

/* What the service adds to items is not compared. */
static bool is_system(const char *name)
{
    static const char *const names[] = { "_rid", "_self", "_etag", "_attachments", "_ts", "_lsn" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static size_t own_members(orrery_value item)
{
    const char *name;
    orrery_value value;
    size_t count = 0;

    for (size_t at = 0; orrery_value_next(item, &at, &name, &value);)
        count += !is_system(name);
    return count;
}

static bool equal_values(orrery_value a, orrery_value b)
{
    char *text_a = NULL, *text_b = NULL;
    bool equal = orrery_value_print(a, &text_a, NULL) == ORRERY_OK &&
                 orrery_value_print(b, &text_b, NULL) == ORRERY_OK && strcmp(text_a, text_b) == 0;

    orrery_free(text_a);
    orrery_free(text_b);
    return equal;
}

bool rows_equal(orrery_value a, orrery_value b)
{
    const char *name;
    orrery_value value;

    if (own_members(a) != own_members(b))
        return false;
    for (size_t at = 0; orrery_value_next(a, &at, &name, &value);)
        if (!is_system(name) && !equal_values(value, orrery_value_member(b, name)))
            return false;
    return true;
}

static void tell_difference(const struct reshape *reshape, orrery_value row, const char *what, uint64_t *told)
{
    if ((*told)++ < EXAMPLES)
        tell("%s: the item '%s' %s", text_of(&reshape->to),
             orrery_value_text(orrery_value_member(row, "id"), NULL), what);
}

/* Answers come in the order of questions, without those that are not there. */
static void compare_pile(const struct reshape *reshape, const struct pile *pile, orrery_value found,
                         uint64_t *differences)
{
    size_t at = 0;

    for (size_t i = 0; i < pile->count; i++) {
        orrery_value row = orrery_json_root(pile->row[i]), item = orrery_value_element(found, at);
        struct key key;
        bool is_it = orrery_value_type(item) == ORRERY_OBJECT && row_key(reshape->key, item, &key) &&
                     equal_values(orrery_value_member(row, "id"), orrery_value_member(item, "id"));

        for (size_t j = 0; is_it && j < orrery_value_count(reshape->key); j++) {
            const char *path = orrery_value_text(orrery_value_element(reshape->key, j), NULL);
            orrery_value a = plan_value_at(row, path), b = plan_value_at(item, path);

            is_it = orrery_value_type(a) == orrery_value_type(b) &&
                    (orrery_value_type(a) == ORRERY_UNDEFINED || equal_values(a, b));
        }
        if (!is_it)
            tell_difference(reshape, row, "is missing", differences);
        else if (!rows_equal(row, item))
            tell_difference(reshape, row, "is another one", differences);
        at += is_it;
    }
}

static bool settle_pile(struct reshape *reshape, struct pile *pile, uint64_t *differences)
{
    orrery_identity identity[ROWS_AT_A_TIME];
    orrery_response *response = NULL;
    orrery_status status = ORRERY_OK;

    for (size_t i = 0; i < pile->count; i++)
        identity[i] = (orrery_identity){ orrery_value_text(
                                             orrery_value_member(orrery_json_root(pile->row[i]), "id"), NULL),
                                         pile->key[i].key };
    if (pile->count)
        status = orrery_read_many(reshape->cli->client, text_of(&reshape->to), identity, pile->count, NULL,
                                  &response);
    if (orrery_failed(status))
        cli_tell(reshape->cli, status, NULL);
    else if (pile->count)
        compare_pile(reshape, pile, orrery_value_member(orrery_response_json(response), "Documents"),
                     differences);
    for (size_t i = 0; i < pile->count; i++)
        orrery_json_free(pile->row[i]);
    pile->count = 0;
    orrery_response_free(response);
    return !orrery_failed(status);
}

static bool add_row(struct reshape *reshape, struct pile *pile, const char *row, size_t size)
{
    size_t i = pile->count;
    orrery_json *parsed = NULL;

    if (orrery_json_parse(row, size, &parsed) != ORRERY_OK ||
        !row_key(reshape->key, orrery_json_root(parsed), &pile->key[i])) {
        orrery_json_free(parsed);
        tell("a row of the plan's query is no item: %.200s", row);
        return false;
    }
    if (orrery_value_count(reshape->key) > 1)
        pile->key[i].key.items = pile->key[i].level; /* row_key() may have been given another place */
    pile->row[i] = parsed;
    pile->count++;
    return true;
}

/* What is compared so far. */
struct comparison {
    struct reshape *reshape;
    struct pile pile;
    uint64_t rows, differences;
};

static bool take_row(void *context, const char *row, size_t size)
{
    struct comparison *comparison = context;
    struct pile *pile = &comparison->pile;

    comparison->rows++;
    return add_row(comparison->reshape, pile, row, size) &&
           (pile->count < ROWS_AT_A_TIME || settle_pile(comparison->reshape, pile, &comparison->differences));
}

bool rows_as_of(struct reshape *reshape, size_t source, const char *sql,
                bool (*take)(void *context, const char *row, size_t size), void *context)
{
    struct text moment = { 0 };
    const char *headers[] = { NULL, NULL };
    orrery_options options = { .size = sizeof(options), .page_items = 1000, .headers = headers };
    orrery_query *query = NULL;
    orrery_status status;
    bool good = true;

    text_printf(&moment, "x-orrery-as-of: %s", text_of(&reshape->place[source].all));
    headers[0] = text_of(&moment);
    status = orrery_query_open(reshape->cli->client, text_of(&reshape->source[source].link), sql, NULL, 0,
                               NULL, &options, &query);
    while (good && !orrery_failed(status) && (status = orrery_query_step(query)) == ORRERY_ROW) {
        size_t size;
        const char *row = orrery_query_row(query, &size);

        good = take(context, row, size);
    }
    if (orrery_failed(status))
        cli_tell(reshape->cli, status, sql);
    orrery_query_close(query);
    text_free(&moment);
    return good && !orrery_failed(status);
}

static bool compare_all(struct reshape *reshape, uint64_t *rows, uint64_t *differences)
{
    const char *sql = reshape->mapping ? reshape->mapping : "SELECT * FROM c";
    struct comparison *comparison = must_alloc(sizeof(*comparison));
    bool good;

    comparison->reshape = reshape;
    if (reshape->embeds.count)
        good = embedded_verify(reshape) && embedded_rows(reshape, take_row, comparison);
    else
        good = rows_as_of(reshape, 0, sql, take_row, comparison);
    good = settle_pile(reshape, &comparison->pile, &comparison->differences) && good;
    *rows = comparison->rows;
    *differences = comparison->differences;
    free(comparison);
    return good;
}

static bool count_items(struct reshape *reshape, uint64_t *count)
{
    orrery_query *query = NULL;
    orrery_status status = orrery_query_open(reshape->cli->client, text_of(&reshape->to),
                                             "SELECT VALUE COUNT(1) FROM c", NULL, 0, NULL, NULL, &query);

    if (!orrery_failed(status))
        status = orrery_query_step(query);
    if (status == ORRERY_ROW)
        *count = (uint64_t)orrery_value_int(orrery_query_value(query));
    else
        cli_tell(reshape->cli, status, NULL);
    orrery_query_close(query);
    return status == ORRERY_ROW;
}

/* Of two items that would become one there would be one left. */
static bool are_as_many(uint64_t rows, uint64_t count)
{
    if (count != rows)
        tell("%llu items are to be %llu: two that become one would be lost, and it does not take the old "
             "one's place",
             (unsigned long long)rows, (unsigned long long)count);
    return count == rows;
}

bool verify(struct reshape *reshape, uint64_t *rows)
{
    uint64_t differences = 0, count = 0;
    bool good;

    good = compare_all(reshape, rows, &differences) && count_items(reshape, &count);
    if (good && differences)
        tell("%llu of %llu items differ: it is not what the plan says, and does not take the old one's place",
             (unsigned long long)differences, (unsigned long long)*rows);
    good = good && are_as_many(*rows, count) && !differences;
    reshape->balance = (struct balance){ .wanted = (int64_t)*rows, .there = (int64_t)count };
    return good;
}

bool verify_balance(struct reshape *reshape)
{
    struct balance *balance = &reshape->balance;
    uint64_t count = (uint64_t)balance->there;

    if ((balance->is_doubtful || balance->there != balance->wanted) && !count_items(reshape, &count))
        return false;
    return are_as_many((uint64_t)balance->wanted, count);
}
