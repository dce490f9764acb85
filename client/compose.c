/*
 * client/compose.c - aggregates within expressions, over several ranges or collections: SELECT SUM(c.a) / COUNT(1) AS mean ...
 * A plan knows whole aggregates only. So the query becomes two: the first has each aggregate, and each expression of GROUP BY
 * that is selected, as a column of its own, and is merged as any other; the second computes the selection from the rows that
 * came out, and is answered by the server, because nobody else knows all of the language.
 *
 *     SELECT c.g, SUM(c.a) / COUNT(1) AS mean FROM c GROUP BY c.g
 *     SELECT c.g AS k0, SUM(c.a) AS a1, COUNT(1) AS a2 FROM c GROUP BY c.g
 *     SELECT orrery_row.k0 AS g, orrery_row.a1 / orrery_row.a2 AS mean FROM orrery_row IN (SELECT VALUE @orrery_rows)
 */
#include <stdlib.h>
#include <strings.h>

#include "query.h"

enum {
    ROWS_BYTES_MAX = 128 * 1024
}; /* of the second query, at a time: the service takes 512 KB of text and parameters */

struct word {
    struct slice text;
    int depth; /* of brackets around it */
};

struct composition {
    struct word *words;
    size_t count, capacity;
    size_t first, from, group, end; /* of the selection; FROM; behind GROUP BY, or the end; behind the last */
    bool has_value;
    size_t columns, unnamed;
    struct buf inner, outer;

    struct slice sql; /* the second query */
    struct json parameters;
    struct buf gathered; /* rows of the first, with commas between them */
    struct slice body;   /* what is being asked; empty: nothing is */
    char *token;         /* where the answer to it goes on */
    struct call *call;
    struct arena arena; /* of the rows */
    struct json *rows;
    size_t row_count, next_row;
    bool all_gathered;
};

/* ---- words of a text */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '@' || (c & 0x80);
}

static bool goes_on(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

/* White space and comments. */
static size_t gap(const char *text)
{
    size_t size = strspn(text, " \t\r\n\v\f");

    while (strncmp(text + size, "--", 2) == 0) {
        size += strcspn(text + size, "\r\n");
        size += strspn(text + size, " \t\r\n\v\f");
    }
    return size;
}

static size_t string_bytes(const char *text)
{
    size_t size = 1;

    while (text[size] && text[size] != text[0])
        size += text[size] == '\\' && text[size + 1] ? 2 : 1;
    return size + (text[size] != '\0');
}

static size_t word_bytes(const char *text)
{
    size_t size = 1;

    if (*text == '"' || *text == '\'')
        return string_bytes(text);
    if (!goes_on(*text))
        return 1;
    while (goes_on(text[size]))
        size++;
    return size;
}

static bool read_words(struct arena *arena, struct composition *made, const char *text)
{
    int depth = 0;

    for (text += gap(text); *text; text += gap(text)) {
        size_t size = word_bytes(text);

        if (!memory_grow_in(arena, &made->words, &made->capacity, made->count + 2, sizeof(*made->words)))
            return false;
        depth -= strchr(")]}", *text) != NULL;
        made->words[made->count++] = (struct word){ slice_make(text, size), depth };
        depth += strchr("([{", *text) != NULL;
        text += size;
    }
    return true;
}

static bool is_word(const struct composition *made, size_t at, const char *name)
{
    struct slice text = at < made->count ? made->words[at].text : slice_of("");

    return text.size == strlen(name) && strncasecmp(text.data, name, text.size) == 0;
}

/* A keyword, and no property of that name. */
static bool is_keyword(const struct composition *made, size_t at, const char *name)
{
    return is_word(made, at, name) && (at == 0 || !is_word(made, at - 1, "."));
}

/* ---- which part is what */

/* The next keyword outside of brackets; the end: there is none. */
static size_t find_keyword(const struct composition *made, size_t at, const char *name)
{
    while (at < made->count && !(made->words[at].depth == 0 && is_keyword(made, at, name)))
        at++;
    return at;
}

/* Whether it is of a form whose two queries answer what the one would. */
static bool find_parts(struct composition *made)
{
    static const char *const others[] = { "ORDER", "OFFSET", "HAVING", "DISTINCT", "TOP" };

    if (made->count < 4 || !is_keyword(made, 0, "SELECT"))
        return false;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (find_keyword(made, 0, others[i]) < made->count)
            return false;
    made->has_value = is_keyword(made, 1, "VALUE");
    made->first = made->has_value ? 2 : 1;
    made->from = find_keyword(made, made->first, "FROM");
    made->end = made->count;
    made->group = find_keyword(made, made->from, "GROUP");
    made->group += made->group < made->end ? 2 : 0;
    return made->from < made->end && made->from > made->first;
}

/* Behind the bracket that ends what begins at `at`. */
static size_t behind(const struct composition *made, size_t at)
{
    int depth = made->words[at].depth;

    for (at++; at < made->count && made->words[at].depth > depth;)
        at++;
    return at < made->count ? at + 1 : at;
}

/* The comma, outside of brackets, that ends a part of a list. */
static size_t end_of_part(const struct composition *made, size_t at, size_t end)
{
    while (at < end && !(made->words[at].depth == 0 && is_word(made, at, ",")))
        at++;
    return at;
}

/* ---- columns of the first query */

static const char *const aggregates[] = { "COUNT", "SUM",     "AVG",      "MIN",
                                          "MAX",   "COUNTIF", "MAKELIST", "MAKESET" };

/* Behind the aggregate that begins there; `at`: none does. */
static size_t aggregate_end(const struct composition *made, size_t at)
{
    for (size_t i = 0; i < sizeof(aggregates) / sizeof(aggregates[0]); i++)
        if (is_keyword(made, at, aggregates[i]) && is_word(made, at + 1, "("))
            return behind(made, at + 1);
    return at;
}

static bool is_same(const struct composition *made, size_t a, size_t b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!slice_equal(made->words[a + i].text, made->words[b + i].text))
            return false;
    return true;
}

/* Behind the longest expression of GROUP BY that stands there; `at`: none does. */
static size_t group_end(const struct composition *made, size_t at)
{
    size_t found = at;

    if (at > 0 && is_word(made, at - 1, "."))
        return at;
    for (size_t i = made->group; i < made->end;) {
        size_t end = end_of_part(made, i, made->end), count = end - i;

        if (count > found - at && at + count <= made->from && is_same(made, i, at, count))
            found = at + count;
        i = end + 1;
    }
    return found;
}

static struct slice span(const struct composition *made, size_t from, size_t to)
{
    const char *begin = made->words[from].text.data;
    struct slice last = made->words[to - 1].text;

    return slice_make(begin, (size_t)(last.data + last.size - begin));
}

static void add_column(struct composition *made, size_t from, size_t to)
{
    buf_text(&made->inner, made->columns ? ", " : "");
    buf_slice(&made->inner, span(made, from, to));
    buf_printf(&made->inner, " AS a%zu", made->columns);
    buf_printf(&made->outer, "orrery_row.a%zu", made->columns++);
}

/* ---- the second query's selection */

/* Whether the words end in a name for the column: "... AS name", "... name". */
static bool is_named(const struct composition *made, size_t from, size_t to)
{
    if (to - from < 2)
        return false;
    return is_keyword(made, to - 2, "AS") || (is_letter(made->words[to - 1].text.data[0]) &&
                                              strchr(")]}\"'0123456789", made->words[to - 2].text.data[0]));
}

/* A path is called by its last step, anything else by a number. */
static void add_name(struct composition *made, size_t from, size_t to, bool is_path)
{
    if (is_path && to - from > 2 && is_word(made, to - 2, "."))
        buf_printf(&made->outer, " AS %.*s", SLICE_ARGS(made->words[to - 1].text));
    else if (is_path && to - from > 3 && is_word(made, to - 1, "]") &&
             made->words[to - 2].text.data[0] == '"')
        buf_printf(&made->outer, " AS %.*s", SLICE_ARGS(made->words[to - 2].text));
    else
        buf_printf(&made->outer, " AS \"$%zu\"", ++made->unnamed);
}

static bool touches_next(const struct composition *made, size_t at)
{
    return made->words[at].text.data + made->words[at].text.size == made->words[at + 1].text.data;
}

/* False: it has a query of its own, which may ask for anything. */
static bool add_expression(struct composition *made, size_t from, size_t to)
{
    for (size_t at = from; at < to;) {
        size_t end = aggregate_end(made, at);

        if (end == at)
            end = group_end(made, at);
        if (is_keyword(made, at, "SELECT"))
            return false;
        if (end > at) {
            add_column(made, at, end);
        } else {
            end = at + 1;
            buf_slice(&made->outer, made->words[at].text);
        }
        if (end < to && !touches_next(made, end - 1))
            buf_byte(&made->outer, ' ');
        at = end;
    }
    return true;
}

static bool add_selection(struct composition *made)
{
    for (size_t at = made->first; at < made->from;) {
        size_t end = end_of_part(made, at, made->from);

        if (end == at || !add_expression(made, at, end))
            return false;
        if (!made->has_value && !is_named(made, at, end))
            add_name(made, at, end, group_end(made, at) == end);
        if (end < made->from)
            buf_text(&made->outer, ", ");
        at = end + 1;
    }
    return made->columns > 0;
}

/* ---- the two queries */

static void print_body(struct buf *out, struct slice sql, struct json parameters)
{
    buf_text(out, "{\"query\":");
    json_print_string(out, sql);
    if (parameters.at) {
        buf_text(out, ",\"parameters\":");
        json_print(out, parameters);
    }
    buf_byte(out, '}');
}

static bool rewrite(struct arena *arena, struct composition *made, const char *sql)
{
    if (!read_words(arena, made, sql) || !find_parts(made))
        return false;
    buf_init(&made->inner, arena);
    buf_init(&made->outer, arena);
    buf_text(&made->inner, "SELECT ");
    buf_text(&made->outer, made->has_value ? "SELECT VALUE " : "SELECT ");
    if (!add_selection(made))
        return false;
    buf_byte(&made->inner, ' ');
    buf_slice(&made->inner, span(made, made->from, made->end));
    buf_text(&made->outer, " FROM orrery_row IN (SELECT VALUE @orrery_rows)");
    made->sql = buf_as_slice(&made->outer);
    return !made->inner.failed && !made->outer.failed;
}

bool compose_begin(orrery_query *query)
{
    struct composition *made = memory_list(&query->arena, 1, sizeof(*made));
    struct json body = json_undefined;
    char *sql;
    struct buf out;

    if (query->composed || !made || parse_json(&query->arena, query->original, &body) != ORRERY_OK)
        return false;
    *made = (struct composition){ .parameters = json_get(body, "parameters") };
    sql = memory_text_in(&query->arena, json_string(json_get(body, "query")));
    if (!sql || !rewrite(&query->arena, made, sql))
        return false;
    buf_init(&out, &query->arena);
    print_body(&out, buf_as_slice(&made->inner), made->parameters);
    if (out.failed)
        return false;
    arena_init(&made->arena, SIZE_MAX);
    buf_init(&made->gathered, &query->arena);
    query->original = query->body = buf_as_slice(&out);
    query->composed = made;
    return true;
}

void compose_free(struct composition *composed)
{
    if (!composed)
        return;
    call_free(composed->call);
    arena_free(&composed->arena);
    allocator_free(composed->token);
}

/* ---- rows */

/* The second query over the rows that were gathered. */
static orrery_status write_body(orrery_query *query)
{
    struct composition *composed = query->composed;
    struct buf out;

    buf_init(&out, &query->arena);
    buf_text(&out, "{\"query\":");
    json_print_string(&out, composed->sql);
    buf_text(&out, ",\"parameters\":[{\"name\":\"@orrery_rows\",\"value\":[");
    buf_slice(&out, buf_as_slice(&composed->gathered));
    buf_text(&out, "]}");
    for (struct json_iter i = json_iter(composed->parameters); json_next(&i);) {
        buf_byte(&out, ',');
        json_print(&out, i.value);
    }
    buf_text(&out, "]}");
    if (out.failed)
        return client_no_memory(query->client);
    composed->body = buf_as_slice(&out);
    buf_init(&composed->gathered, &query->arena);
    return ORRERY_OK;
}

/* It asks for nothing that is stored, and so may be of any key: then it goes to one range, and is answered once. */
static orrery_status start(orrery_query *query)
{
    struct call *call = call_new(query->client, METHOD_POST, &query->options);
    orrery_status status;

    if (!call)
        return ORRERY_ENOMEM;
    status = call_child(call, query->places[0].link, "docs", NULL);
    call->repeatable = true;
    call_header(call, "x-ms-documentdb-isquery", "true");
    call_header(call, "x-ms-documentdb-partitionkey", "[\"\"]");
    call_header(call, "x-ms-continuation", query->composed->token);
    call_body(call, "application/query+json", query->composed->body);
    if (status == ORRERY_OK)
        status = call_start(call);
    if (status == ORRERY_OK)
        query->composed->call = call;
    else
        call_free(call);
    return status == ORRERY_OK ? ORRERY_WAIT : status;
}

/* Rows of an answer, in the composition's arena. */
static orrery_status read_rows(orrery_query *query, const orrery_response *response)
{
    struct composition *composed = query->composed;
    struct json body = json_undefined, rows;
    orrery_status status;

    arena_reset(&composed->arena);
    composed->row_count = composed->next_row = 0;
    status = parse_json(&composed->arena,
                        slice_make(orrery_response_body(response, NULL), response->body_bytes), &body);
    rows = json_get(body, "Documents");
    if (status == ORRERY_OK && json_kind(rows) != JSON_ARRAY)
        status = ORRERY_EJSON;
    if (status != ORRERY_OK)
        return client_fail(query->client, status, "a page of rows: %s", orrery_status_text(status));
    composed->rows = memory_list(&composed->arena, json_count(rows), sizeof(*composed->rows));
    if (!composed->rows)
        return client_no_memory(query->client);
    for (struct json_iter i = json_iter(rows); json_next(&i);)
        composed->rows[composed->row_count++] = i.value;
    return ORRERY_OK;
}

static orrery_status hold_answer(orrery_query *query, const orrery_response *response)
{
    struct composition *composed = query->composed;
    const char *next = orrery_response_continuation(response);
    char *token = next ? memory_text(slice_of(next)) : NULL;
    orrery_status status = next && !token ? client_no_memory(query->client) : read_rows(query, response);

    query->charge += orrery_response_charge(response);
    if (status != ORRERY_OK) {
        allocator_free(token);
        return status;
    }
    allocator_free(composed->token);
    composed->token = token;
    if (!token)
        composed->body = slice_make(NULL, 0);
    return ORRERY_OK;
}

static orrery_status take_answer(orrery_query *query)
{
    orrery_response *response = NULL;
    struct call *call = query->composed->call;
    orrery_status status;

    if (call->state != CALL_ENDED)
        return ORRERY_WAIT;
    query->composed->call = NULL;
    client_begin(query->client);
    status = call_take(call, &response);
    if (status == ORRERY_OK)
        status = hold_answer(query, response);
    orrery_response_free(response);
    return status;
}

/* Rows of the first query, until there are many or no more. */
static orrery_status gather(orrery_query *query, merge_rows *next)
{
    struct composition *composed = query->composed;
    orrery_status status = ORRERY_ROW;
    struct json row;

    while (status == ORRERY_ROW && !composed->all_gathered && composed->gathered.size < ROWS_BYTES_MAX) {
        status = next(query, &row);
        composed->all_gathered = status == ORRERY_DONE;
        if (status != ORRERY_ROW)
            break;
        buf_text(&composed->gathered, composed->gathered.size ? "," : "");
        json_print(&composed->gathered, row);
    }
    if (composed->gathered.failed)
        return client_no_memory(query->client);
    return status == ORRERY_ROW ? ORRERY_DONE : status;
}

/* One step: ORRERY_OK means that the next may be taken, ORRERY_DONE that there is none. */
static orrery_status compose_step(orrery_query *query, merge_rows *next)
{
    struct composition *composed = query->composed;
    orrery_status status;

    if (composed->call)
        return take_answer(query);
    if (composed->body.size > 0)
        return start(query);
    status = gather(query, next);
    if (status != ORRERY_DONE || composed->gathered.size == 0)
        return status;
    return write_body(query);
}

orrery_status compose_next(orrery_query *query, merge_rows *next, struct json *row)
{
    struct composition *composed = query->composed;
    orrery_status status = ORRERY_OK;

    while (status == ORRERY_OK && query->phase == PHASE_RUN && composed->next_row == composed->row_count)
        status = compose_step(query, next);
    if (status != ORRERY_OK || query->phase != PHASE_RUN)
        return status;
    *row = composed->rows[composed->next_row++];
    return ORRERY_ROW;
}
