/* test/unit/resource/scope_test.c - which ranges an answer is about, and for which the client's session token is read. */
#include "ask.h"
#include "catalog/split.h"
#include "resource/scope.h"

/* The container as two ranges, 1 and 2, and an answer under way. */
struct halves {
    struct ask ask;
    struct container *container;
    struct answer answer;
    struct reply reply;
    struct partition_scope scope;
};

static void begin_answer(struct halves *halves)
{
    reply_begin(&halves->reply, halves->ask.rig.op, &halves->answer);
    scope_all(&halves->reply, &halves->ask.call);
}

static void open_halves(struct halves *halves)
{
    struct range_split wanted = { .id = 0, .parts = 2 };
    struct ask *ask = &halves->ask;

    ask_open(ask);
    CHECK(catalog_change_ranges(ask->rig.op, ask->rig.catalog, ask->call.container, range_split, &wanted,
                                &halves->container) == ST_OK);
    ask->call.container = halves->container;
    begin_answer(halves);
}

static void close_halves(struct halves *halves)
{
    container_release(halves->container);
    ask_close(&halves->ask);
}

static enum status read_scope(struct halves *halves)
{
    begin_answer(halves);
    return scope_read(halves->ask.rig.op, &halves->ask.call, &halves->reply, &halves->scope);
}

/* Whether the answer is about this range alone. */
static bool is_about(const struct halves *halves, uint32_t id)
{
    const struct about *about = &halves->reply.about;

    return about->of_items && about->ranges.count == 1 && about->ranges.id[0] == id;
}

TEST(an_answer_is_about_every_range_until_a_key_or_a_range_is_named)
{
    struct halves halves;
    struct placed_key key = { .epk = { .size = 16, .bytes = { 0x30 } } };

    open_halves(&halves);
    CHECK(halves.reply.about.ranges.count == 2 && slice_is(halves.reply.about.link, "dbs/db/colls/c"));
    scope_key(&halves.reply, &halves.ask.call, &key);
    CHECK(is_about(&halves, 2));
    key.epk.bytes[0] = 0x01;
    scope_key(&halves.reply, &halves.ask.call, &key);
    CHECK(is_about(&halves, 1));
    CHECK(read_scope(&halves) == ST_OK && halves.reply.about.ranges.count == 2 &&
          halves.scope.key.values.count == 0);
    ask_header(&halves.ask, HEADER_PARTITION_KEY_RANGE_ID, "2");
    CHECK(read_scope(&halves) == ST_OK && is_about(&halves, 2) && halves.scope.min.size > 0);
    ask_header(&halves.ask, HEADER_PARTITION_KEY_RANGE_ID, "0");
    CHECK(read_scope(&halves) == ST_RANGE_GONE);
    close_halves(&halves);
}

TEST(a_range_that_is_named_answers_whichever_range_the_key_lies_in)
{
    struct halves halves;
    uint32_t of_key;

    open_halves(&halves);
    ask_header(&halves.ask, HEADER_PARTITION_KEY, "['a']");
    CHECK(read_scope(&halves) == ST_OK && halves.reply.about.ranges.count == 1 &&
          halves.scope.key.values.count == 1);
    of_key = halves.reply.about.ranges.id[0];
    ask_header(&halves.ask, HEADER_PARTITION_KEY_RANGE_ID, of_key == 1 ? "2" : "1");
    CHECK(read_scope(&halves) == ST_OK && is_about(&halves, 3 - of_key));
    close_halves(&halves);
}

TEST(bounds_of_the_clients_own_narrow_a_range_and_never_widen_it)
{
    struct halves halves;
    struct epk max;

    open_halves(&halves);
    ask_header(&halves.ask, HEADER_PARTITION_KEY_RANGE_ID, "1");
    CHECK(read_scope(&halves) == ST_OK);
    max = halves.scope.max;
    ask_header(&halves.ask, HEADER_START_EPK, "05");
    ask_header(&halves.ask, HEADER_END_EPK, "FF");
    CHECK(read_scope(&halves) == ST_OK && halves.scope.min.size == 1 && halves.scope.min.bytes[0] == 0x05);
    CHECK(slice_equal(epk_slice(&halves.scope.max), epk_slice(&max)));
    ask_header(&halves.ask, HEADER_END_EPK, "06");
    CHECK(read_scope(&halves) == ST_OK && halves.scope.max.size == 1 && halves.scope.max.bytes[0] == 0x06);
    close_halves(&halves);
}

static enum status check_session(struct halves *halves, const char *token)
{
    ask_header(&halves->ask, HEADER_SESSION_TOKEN, token);
    return scope_check_session(halves->ask.rig.op, &halves->ask.call, &halves->reply);
}

/* The container's LSN is that one. */
static void come_to(struct halves *halves, uint64_t lsn)
{
    const struct container *container = halves->ask.call.container;
    struct batch *batch = batch_new(halves->ask.rig.op, container->bucket_id);
    struct commit_stamp stamp;

    batch_begins_above(batch, lsn - 1);
    CHECK(store_commit(halves->ask.rig.op, container->bucket, batch, &stamp) == ST_OK && stamp.lsn == lsn);
}

TEST(a_session_is_asked_of_the_ranges_that_the_answer_is_about)
{
    struct halves halves;

    open_halves(&halves);
    CHECK(check_session(&halves, NULL) == ST_OK && check_session(&halves, "") == ST_OK);
    come_to(&halves, 4);
    CHECK(check_session(&halves, "1:-1#5,2:-1#3") == ST_SESSION_UNAVAILABLE);
    ask_header(&halves.ask, HEADER_PARTITION_KEY_RANGE_ID, "2");
    CHECK(read_scope(&halves) == ST_OK);
    CHECK(check_session(&halves, "1:-1#5,2:-1#3") == ST_OK);
    CHECK(check_session(&halves, "0:-1#5") == ST_SESSION_UNAVAILABLE); /* the one that they were made of */
    come_to(&halves, 5);
    CHECK(check_session(&halves, "0:-1#5") == ST_OK);
    close_halves(&halves);
}
