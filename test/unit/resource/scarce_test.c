/*
 * test/unit/resource/scarce_test.c - operations that get no more memory at some point, at each of many points.
 * Each must end with an answer: what it should be, or that there is no memory. The program must not end, and nothing may be
 * left out of an answer.
 */
#include "ask.h"
#include "base/limits.h"

enum { KB = 1024, STEP_BYTES = 2 * KB, LIMIT_BYTES_MAX = 3 * 1024 * KB };

struct scarce {
    const char *name;
    operation *run;
    const char *key, *id, *body, *mode; /* mode: A-IM */
    bool is_query;
    int status; /* when there is memory enough */
};

#define QUERY(text, of)                                                          \
    {                                                                            \
        text, document_query, NULL, NULL, "{'query':'" text "'}", NULL, true, of \
    }

static const struct scarce operations[] = {
    QUERY("SELECT * FROM c", 200),
    QUERY("SELECT * FROM c ORDER BY c.n", 200),
    QUERY("SELECT * FROM c ORDER BY c.text DESC", 200),
    QUERY("SELECT c.id, c._rid, c._etag FROM c WHERE c._ts > 0", 200),
    QUERY("SELECT VALUE c FROM c WHERE c.n > 3", 200),
    QUERY("SELECT c FROM c WHERE CONTAINS(c.text, c.id)", 200),
    QUERY("SELECT DISTINCT VALUE c.list FROM c", 200),
    QUERY("SELECT DISTINCT VALUE c FROM c", 200),
    QUERY("SELECT c.list, COUNT(1) AS n FROM c GROUP BY c.list", 200),
    QUERY("SELECT VALUE COUNT(1) FROM c", 200),
    QUERY("SELECT VALUE l FROM c JOIN l IN c.list", 200),
    QUERY("SELECT TOP 3 * FROM (SELECT * FROM c) AS s ORDER BY s.n", 200),
    QUERY("SELECT VALUE ARRAY(SELECT VALUE x FROM x IN c.list WHERE x > 2) FROM c", 200),
    QUERY("SELECT VALUE CONCAT(c.text, UPPER(c.text), REVERSE(c.text)) FROM c", 200),
    { "list", document_list, NULL, NULL, NULL, NULL, false, 200 },
    { "feed", document_list, NULL, NULL, NULL, "Incremental Feed", false, 200 },
    { "read", document_read, "['a']", "1", NULL, NULL, false, 200 },
    { "replace", document_replace, "['a']", "1", "{'id':'1','pk':'a','n':1,'list':[1,2,3]}", NULL, false,
      200 },
    { "upsert", document_upsert, "['a']", NULL, "{'id':'2','pk':'a','n':2,'text':'y'}", NULL, false, 200 },
    { "patch", document_patch, "['a']", "3",
      "{'operations':[{'op':'set','path':'/n','value':9},{'op':'set','path':'/list/0','value':{'a':[1]}}]}",
      NULL, false, 200 },
};

static void fill(struct ask *ask)
{
    ask_header(ask, HEADER_PARTITION_KEY, "['a']");
    for (int i = 0; i < 12; i++) {
        char document[4 * KB];

        snprintf(document, sizeof(document), "{'id':'%d','pk':'a','n':%d,'text':'%0*d','list':[%d,2,3,4]}", i,
                 i, 3000, i, i);
        CHECK(ask_run(ask, document_create, document) == 201);
    }
}

static void prepare(struct ask *ask, const struct scarce *scarce)
{
    ask_clear(ask);
    ask_header(ask, HEADER_PARTITION_KEY, scarce->key);
    ask_header(ask, HEADER_A_IM, scarce->mode);
    if (scarce->is_query) {
        ask_header(ask, HEADER_IS_QUERY, "true");
        ask_header(ask, HEADER_CONTENT_TYPE, "application/query+json");
        ask_header(ask, HEADER_CROSS_PARTITION, "true");
    }
    ask_about(ask, scarce->id ? scarce->id : "");
}

/* Its answer in so much memory; in any, if that is 0. The size of the body too. */
static int run_within(struct ask *ask, const struct scarce *scarce, size_t limit_bytes, size_t *size)
{
    struct op *op = ask->rig.op;
    struct arena kept;
    struct account account;
    int status;

    account_init(&account, limit_bytes);
    prepare(ask, scarce);
    kept = op->arena;
    arena_init(&op->arena, OP_MEMORY_BYTES_MAX);
    op_join_account(op, &account);
    status = ask_run(ask, scarce->run, scarce->body);
    *size = ask->answer.body.size;
    arena_free(&op->arena);
    op->arena = kept;
    CHECK(atomic_load(&account.used_bytes) == 0); /* everything was given back */
    return status;
}

static void check_scarce(struct ask *ask, const struct scarce *scarce)
{
    size_t whole, size;
    int status = run_within(ask, scarce, 0, &whole), refused = 0;

    if (status != scarce->status)
        printf("%s: %d, %s\n", scarce->name, status, ask->rig.op->error);
    CHECK(status == scarce->status);
    for (size_t limit = STEP_BYTES; limit <= LIMIT_BYTES_MAX; limit += STEP_BYTES) {
        bool is_refused = run_within(ask, scarce, limit, &size) != scarce->status;

        if (is_refused ? !ask->rig.op->claim.refused : size != whole)
            printf("%s within %zu bytes: %d, %zu bytes of %zu\n", scarce->name, limit, ask->answer.status,
                   size, whole);
        CHECK(is_refused ? ask->rig.op->claim.refused : size == whole);
        refused += is_refused;
        if (!is_refused && limit > 512 * KB)
            break;
    }
    CHECK(refused > 0 || !scarce->is_query); /* what is small fits into an operation's first memory */
    CHECK(size == whole);
}

TEST(what_gets_no_more_memory_is_an_answer_wherever_that_happens)
{
    struct ask ask;

    ask_open(&ask);
    fill(&ask);
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        check_scarce(&ask, &operations[i]);
    ask_close(&ask);
}
