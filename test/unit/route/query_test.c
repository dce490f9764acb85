/* test/unit/route/query_test.c - queries that a loop thread answers, and those that it gives up and hands on. */
#include "base/limits.h"
#include "client.h"

#define DOCS "/dbs/d/colls/c/docs"

enum { ITEMS = 600, NOT_TRIED_MAX = 32 };

/* Items 1 to 600 with n from 1 on, u from 0 to 6, and a list; half of them have no text. */
static void open_with_items(struct client *client)
{
    char body[200];

    client_open_filled(client);
    for (int i = 1; i <= ITEMS; i++) {
        snprintf(body, sizeof(body), "{'id':'%d','pk':'a','n':%d,'u':%d,'list':[%d,%d]%s}", i, i, i % 7, i,
                 i % 5, i % 2 ? ",'text':'some words'" : "");
        client_mark(client, MARK_UPSERT);
        CHECK(client_send(client, METHOD_POST, DOCS, body) < 300);
    }
    client_header(client, HEADER_IS_UPSERT, NULL);
    client_mark(client, MARK_QUERY);
    client_header(client, HEADER_CONTENT_TYPE, "application/query+json");
}

static int ask(struct client *client, const char *text, int parameter)
{
    char body[400];

    snprintf(body, sizeof(body), "{'query':'%s','parameters':[{'name':'@x','value':%d}]}", text, parameter);
    return client_send(client, METHOD_POST, DOCS, body);
}

static void forget_trials(struct client *client)
{
    memset(&client->trials, 0, sizeof(client->trials));
}

TEST(a_short_query_is_answered_on_the_loop_thread)
{
    struct client client;

    open_with_items(&client);
    CHECK(ask(&client, "SELECT * FROM c WHERE c.n = @x", 7) == 200 && !client.was_handed_on);
    CHECK(json_int(client_member(&client, "_count")) == 1);
    CHECK(ask(&client, "SELECT TOP 3 c.id FROM c WHERE c.n > @x ORDER BY c.n", 7) == 200 &&
          !client.was_handed_on);
    CHECK(json_int(client_member(&client, "_count")) == 3);
    CHECK(ask(&client, "SELECT * FROM c WHERE", 7) == 400 && !client.was_handed_on);
    client_close(&client);
}

TEST(what_may_take_long_for_one_item_is_handed_on)
{
    static const char *const texts[] = {
        "SELECT * FROM c WHERE REGEXMATCH(c.text, \\\"(a+)+b\\\")",
        "SELECT udf.f(c) FROM c WHERE c.n = @x",
        "SELECT VALUE REPLICATE(\\\"a\\\", 10000)",
        "SELECT VALUE REPLACE(c.text, \\\"o\\\", c.text) FROM c WHERE c.n = @x",
        "SELECT VALUE SETUNION(c.list, c.list) FROM c WHERE c.n = @x",
        "SELECT * FROM c WHERE ST_ISVALID(c.place)"
    };
    struct client client;

    open_with_items(&client);
    client.steps = INLINE_STEPS_MAX * 100;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ask(&client, texts[i], 1);
        CHECK(client.was_handed_on);
    }
    client_close(&client);
}

/* Item 1000 has an object of many members, item 1001 long texts. */
static void add_large_items(struct client *client)
{
    enum { TEXT = 1500, MEMBERS = 2000 };
    struct buf body;

    client_header(client, HEADER_CONTENT_TYPE, NULL);
    client_header(client, HEADER_IS_QUERY, NULL);
    client_mark(client, MARK_UPSERT);
    buf_init(&body, &client->keep.arena);
    buf_printf(&body, "{'id':'large','pk':'a','n':1000,'m':{'a':1");
    for (int i = 0; i < MEMBERS; i++)
        buf_printf(&body, ",'m%d':%d", i, i);
    buf_printf(&body, "}}%c", '\0');
    CHECK(client_send(client, METHOD_POST, DOCS, body.data) == 201);
    buf_init(&body, &client->keep.arena);
    buf_printf(&body, "{'id':'long','pk':'a','n':1001,'long':'");
    for (int i = 0; i < TEXT; i++)
        buf_byte(&body, 'a');
    buf_text(&body, "','accents':'");
    for (int i = 0; i < TEXT; i++)
        buf_text(&body, "\xc3\xa9");
    buf_printf(&body, "'}%c", '\0');
    CHECK(client_send(client, METHOD_POST, DOCS, body.data) == 201);
    client_header(client, HEADER_IS_UPSERT, NULL);
    client_mark(client, MARK_QUERY);
    client_header(client, HEADER_CONTENT_TYPE, "application/query+json");
}

/* "before" part between part between ... "after" */
static const char *repeated(struct client *client, const char *before, const char *part, const char *between,
                            int times, const char *after)
{
    struct buf text;

    buf_init(&text, &client->keep.arena);
    buf_printf(&text, "{'query':'%s", before);
    for (int i = 0; i < times; i++)
        buf_printf(&text, "%s%s", i ? between : "", part);
    buf_printf(&text, "%s'}", after);
    buf_byte(&text, '\0');
    return text.data;
}

TEST(what_looks_at_much_for_a_few_items_is_handed_on)
{
    static const struct {
        const char *before, *part, *between;
        int times;
        const char *after;
    } texts[] = {
        { "SELECT * FROM c WHERE c.n = 1000 AND (", "c.m.z = 1", " OR ", 24, ")" },
        { "SELECT VALUE [", "c", ", ", 60, "] FROM c WHERE c.n = 1000" },
        { "SELECT * FROM c WHERE c.n = 1000 AND ", "c.m < c.m", " AND ", 16, "" },
        { "SELECT * FROM c WHERE c.n = 1001 AND c.long LIKE \\\"%", "a_", "", 20, "b%\\\"" },
        { "SELECT * FROM c WHERE c.n = 1001 AND ", "c.long", " || ", 20, " = c.id" },
        { "SELECT * FROM c WHERE c.n = 1 AND c.u NOT IN (", "0", ",", 130, ")" },
        { "SELECT * FROM c WHERE c.n = 1 AND c.u = \\\"", "a", "", 3100, "\\\"" },
    };
    struct client client;

    open_with_items(&client);
    add_large_items(&client);
    CHECK(ask(&client, "SELECT * FROM c WHERE c.n = @x", 1001) == 200 && !client.was_handed_on);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        forget_trials(&client);
        client_send(&client, METHOD_POST, DOCS,
                    repeated(&client, texts[i].before, texts[i].part, texts[i].between, texts[i].times,
                             texts[i].after));
        CHECK(client.was_handed_on);
    }
    client_close(&client);
}

/* Item 2000 has short texts, item 2001 an object of some hundred members. */
static void add_small_items(struct client *client)
{
    struct buf body;

    client_header(client, HEADER_CONTENT_TYPE, NULL);
    client_header(client, HEADER_IS_QUERY, NULL);
    client_mark(client, MARK_UPSERT);
    buf_init(&body, &client->keep.arena);
    buf_printf(&body, "{'id':'texts','pk':'a','n':2000,'s':'%0100d','t':'%0500d'}", 0, 0);
    CHECK(client_send(client, METHOD_POST, DOCS, body.data) == 201);
    buf_init(&body, &client->keep.arena);
    buf_printf(&body, "{'id':'object','pk':'a','n':2001,'m':{'a':1");
    for (int i = 0; i < 300; i++)
        buf_printf(&body, ",'m%d':%d", i, i);
    buf_printf(&body, "}}%c", '\0');
    CHECK(client_send(client, METHOD_POST, DOCS, body.data) == 201);
    client_header(client, HEADER_IS_UPSERT, NULL);
    client_mark(client, MARK_QUERY);
    client_header(client, HEADER_CONTENT_TYPE, "application/query+json");
}

#define SIXTEEN(x) x "," x "," x "," x "," x "," x "," x "," x "," x "," x "," x "," x "," x "," x "," x "," x
#define ARRAYS "FROM c JOIN (SELECT VALUE [" SIXTEEN("c.s") "]) b JOIN (SELECT VALUE [" SIXTEEN("b") "]) d "

TEST(what_makes_much_of_little_is_handed_on)
{
    static const struct {
        const char *before, *part, *between;
        int times;
        const char *after;
    } texts[] = {
        { "SELECT VALUE e[0][0][0] " ARRAYS "JOIN (SELECT VALUE [", "d", ",", 8, "]) e WHERE c.n = 2000" },
        { "SELECT VALUE e.p " ARRAYS "JOIN (SELECT VALUE {p:0,", "q:d,r:d,s:d,t:d,u:d,v:d,w:d", "", 1,
          "}) e WHERE c.n = 2000" },
        { "SELECT VALUE ARRAY(SELECT VALUE d FROM x IN (SELECT VALUE [", "1", ",", 8,
          "]))[0][0][0] " ARRAYS "WHERE c.n = 2000" },
        { "SELECT * FROM c WHERE c.n = 2000 AND CONTAINS_ANY_CI(c.t, ", "\\\"00000001\\\"", ",", 20, ")" },
        { "SELECT VALUE OBJECTTOARRAY(c.m, \\\"", "k", "", 400, "\\\")[0].v FROM c WHERE c.n = 2001" },
        { "SELECT VALUE ARRAY_LENGTH(STRINGSPLIT(", "c.t", " || ", 4,
          ", \\\"0\\\")) FROM c WHERE c.n = 2000" },
        { "SELECT VALUE STRINGTONUMBER(", "c.t", " || ", 3, " || c.id) FROM c WHERE c.n = 2000" },
        { "SELECT VALUE LTRIM(c.accents, \\\"", "ab", "", 200, "\xc3\xa9\\\") FROM c WHERE c.n = 1001" },
    };
    struct client client;

    open_with_items(&client);
    add_large_items(&client);
    add_small_items(&client);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        forget_trials(&client);
        client_send(&client, METHOD_POST, DOCS,
                    repeated(&client, texts[i].before, texts[i].part, texts[i].between, texts[i].times,
                             texts[i].after));
        CHECK(client.was_handed_on && client.exchange.answer.status == 200);
    }
    client_close(&client);
}

TEST(what_looks_for_many_members_among_many_is_handed_on)
{
    enum { MEMBERS = 100 };
    struct client client;
    struct buf object, body;

    open_with_items(&client);
    buf_init(&object, &client.keep.arena);
    for (int i = 0; i < MEMBERS; i++)
        buf_printf(&object, "%s'm%d':%d", i ? "," : "", i, i);
    buf_init(&body, &client.keep.arena);
    buf_printf(&body, "{'id':'1','pk':'a','n':1000,'list':[{%.*s}]}%c", (int)object.size, object.data, '\0');
    client_header(&client, HEADER_IS_QUERY, NULL);
    client_header(&client, HEADER_CONTENT_TYPE, NULL);
    client_mark(&client, MARK_UPSERT);
    CHECK(client_send(&client, METHOD_POST, DOCS, body.data) == 200);
    client_header(&client, HEADER_IS_UPSERT, NULL);
    client_mark(&client, MARK_QUERY);
    client_header(&client, HEADER_CONTENT_TYPE, "application/query+json");
    buf_init(&body, &client.keep.arena);
    buf_printf(&body,
               "{'query':'SELECT * FROM c WHERE c.n = 1000 AND ARRAY_CONTAINS(c.list, @p, true)',"
               "'parameters':[{'name':'@p','value':{%.*s}}]}%c",
               (int)object.size, object.data, '\0');
    CHECK(client_send(&client, METHOD_POST, DOCS, body.data) == 200 && client.was_handed_on);
    CHECK(json_int(client_member(&client, "_count")) == 1);
    client_close(&client);
}

TEST(a_text_whose_query_was_given_up_is_not_tried_for_a_while)
{
    const char *text = "SELECT * FROM c WHERE c.n > @x", *other = "SELECT * FROM c WHERE c.n < @x";
    struct client client;
    int not_tried = 0;

    open_with_items(&client);
    CHECK(ask(&client, text, 0) == 200 && client.was_handed_on);
    while (client.was_handed_on) {
        CHECK(ask(&client, other, 2) == 200 && !client.was_handed_on);
        CHECK(ask(&client, text, ITEMS) == 200);
        not_tried += client.was_handed_on;
    }
    CHECK(not_tried >= 1 && not_tried <= NOT_TRIED_MAX);
    CHECK(ask(&client, text, ITEMS) == 200 && !client.was_handed_on);
    client_close(&client);
}

TEST(texts_that_differ_in_numbers_and_strings_are_one_that_is_not_tried)
{
    struct client client;

    open_with_items(&client);
    CHECK(ask(&client, "SELECT * FROM c WHERE c.n > 0 AND c.u != \\\"b 1\\\"", 0) == 200 &&
          client.was_handed_on);
    CHECK(ask(&client, "SELECT * FROM c WHERE c.n > 599 AND c.u != \\\"a\\\"", 0) == 200 &&
          client.was_handed_on);
    CHECK(ask(&client, "SELECT * FROM c WHERE c.n > 599 AND c.v != \\\"a\\\"", 0) == 200 &&
          !client.was_handed_on);
    client_close(&client);
}

/* But for the id of the activity. */
static struct slice answer_to(struct client *client, const char *text)
{
    struct op *op = &client->keep;
    struct answer *answer = &client->exchange.answer;
    struct buf kept;
    int status = ask(client, text, 30);
    char *activity;

    buf_init(&kept, &op->arena);
    buf_printf(&kept, "%d ", status);
    buf_slice(&kept, buf_as_slice(&answer->head));
    buf_slice(&kept, buf_as_slice(&answer->body));
    buf_byte(&kept, '\0');
    while ((activity = strstr(kept.data, client->exchange.op.activity_id)))
        memset(activity, 'x', strlen(client->exchange.op.activity_id));
    return buf_as_slice(&kept);
}

TEST(wherever_a_query_is_given_up_its_answer_is_the_same)
{
    static const char *const texts[] = {
        "SELECT * FROM c WHERE c.n > @x AND c.n < 45",
        "SELECT TOP 5 * FROM c WHERE c.n > @x ORDER BY c.n DESC",
        "SELECT c.u, COUNT(1) AS k FROM c GROUP BY c.u",
        "SELECT VALUE COUNT(1) FROM c WHERE c.n > @x",
        "SELECT DISTINCT VALUE c.u FROM c",
        "SELECT VALUE l FROM c JOIN l IN c.list WHERE l = 3",
        "SELECT c.id FROM c WHERE c.n IN (1, 2, 3, @x) AND (c.u = 2 OR c.u = 3) ORDER BY c.n",
        "SELECT VALUE SUM(c.n) FROM c WHERE IS_DEFINED(c.text) AND c.n < @x",
        "SELECT * FROM c WHERE c.text LIKE \\\"%word%\\\" OFFSET 2 LIMIT 4",
        "SELECT * FROM c WHERE EXISTS(SELECT VALUE l FROM l IN c.list WHERE l > @x)",
        "SELECT UPPER(c.text) AS t, ARRAY_LENGTH(c.list) AS k FROM c WHERE CONTAINS(c.text, \\\"some\\\")",
    };
    struct client client;
    bool was_handed_on;

    open_with_items(&client);
    client_header(&client, HEADER_MAX_ITEM_COUNT, "7");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct slice whole;

        client.steps = INLINE_STEPS_MAX * 100;
        whole = answer_to(&client, texts[i]);
        CHECK(!client.was_handed_on);
        was_handed_on = true;
        for (client.steps = 0; was_handed_on; client.steps += 1 + client.steps / 8) {
            forget_trials(&client);
            CHECK(slice_equal(answer_to(&client, texts[i]), whole));
            was_handed_on = client.was_handed_on;
        }
        CHECK(client.steps > 1); /* it was given up somewhere */
    }
    client_close(&client);
}
