/* test/unit/resource/heat_test.c - which keys and ranges requests went to, in a memory that does not grow. */
#include <pthread.h>
#include <stdio.h>

#include "ask.h"
#include "catalog/split.h"
#include "resource/heat.h"
#include "resource/scope.h"

/* A container with two ranges, 1 and 2, whose requests are noted. */
struct hearth {
    struct ask ask;
    struct container *container;
    struct heat *heat;
    struct heat_sums sums;
};

static void open_hearth(struct hearth *hearth)
{
    struct range_split wanted = { .id = 0, .parts = 2 };
    struct ask *ask = &hearth->ask;

    ask_open(ask);
    CHECK(catalog_change_ranges(ask->rig.op, ask->rig.catalog, ask->call.container, range_split, &wanted,
                                &hearth->container) == ST_OK);
    ask->call.container = hearth->container;
    hearth->heat = ask->service.heat = heat_open(ask->rig.op->env);
    hearth->sums = heat_sums_new(hearth->heat);
}

static void close_hearth(struct hearth *hearth)
{
    heat_sums_free(&hearth->sums);
    heat_close(hearth->heat);
    container_release(hearth->container);
    ask_close(&hearth->ask);
}

/* A request with that key in its header, or none, that was answered for so many units. */
static void note(struct hearth *hearth, const char *key, double charge)
{
    struct ask *ask = &hearth->ask;
    struct partition_scope scope;
    struct answer answer;
    struct reply reply;

    ask_header(ask, HEADER_PARTITION_KEY, key);
    reply_begin(&reply, ask->rig.op, &answer);
    scope_all(&reply, &ask->call);
    (void)scope_read(ask->rig.op, &ask->call, &reply, &scope);
    heat_note(ask->rig.op, &ask->call, &reply, charge);
}

/* The row whose key has that text; its count is 0 when there is none. */
static struct sketch_row row_of(const struct hearth *hearth, const char *key)
{
    struct sketch_row row[64];
    size_t count = sketch_top(hearth->sums.keys, row, 64);

    for (size_t i = 0; i < count; i++) {
        struct heat_place place = heat_key_of(&row[i]);

        if (slice_is(place.key, key) && rid_equal(&place.container, &hearth->container->rid))
            return row[i];
    }
    return (struct sketch_row){ 0 };
}

TEST(a_key_is_as_hot_as_what_was_spent_on_it)
{
    struct hearth hearth;

    open_hearth(&hearth);
    note(&hearth, "['oslo']", 1);
    note(&hearth, "[ 'oslo' ]", 2.5); /* another way of writing it */
    note(&hearth, "['rome']", 1);
    note(&hearth, NULL, 100);      /* of no key */
    note(&hearth, "['a','b']", 1); /* which was refused */
    heat_gather(hearth.heat, &hearth.sums);
    CHECK(row_of(&hearth, "[\"oslo\"]").count == 350 && row_of(&hearth, "[\"rome\"]").count == 100);
    CHECK(sketch_total(hearth.sums.keys) == 450);
    close_hearth(&hearth);
}

TEST(ranges_share_what_a_request_over_all_of_them_cost)
{
    struct sketch_row row[4];
    struct hearth hearth;

    open_hearth(&hearth);
    note(&hearth, NULL, 10);
    heat_gather(hearth.heat, &hearth.sums);
    CHECK(sketch_top(hearth.sums.ranges, row, 4) == 2 && row[0].count == 500 && row[1].count == 500);
    CHECK(heat_range_of(&row[0]).range + heat_range_of(&row[1]).range == 1 + 2);
    note(&hearth, "['oslo']", 1);
    heat_gather(hearth.heat, &hearth.sums);
    CHECK(sketch_top(hearth.sums.ranges, row, 4) == 2 && row[0].count == 600 && row[1].count == 500);
    close_hearth(&hearth);
}

TEST(of_many_requests_some_stand_for_the_others_and_nothing_grows)
{
    size_t before = heat_bytes() + heat_sums_bytes();
    struct hearth hearth;
    char key[32];

    open_hearth(&hearth);
    for (int i = 0; i < 40000; i++) {
        snprintf(key, sizeof(key), i % 4 ? "['hot']" : "['cold%d']", i);
        note(&hearth, key, 1);
    }
    heat_gather(hearth.heat, &hearth.sums);
    CHECK(sketch_total(hearth.sums.keys) > 100 * 36000 && sketch_total(hearth.sums.keys) < 100 * 44000);
    CHECK(heat_bytes() + heat_sums_bytes() == before && before < 512 * 1024);
    close_hearth(&hearth);
}

enum { WRITERS = 4, NOTES_EACH = 3000 };

static void *note_many(void *context)
{
    struct hearth *hearth = context;
    struct request request = { .header[HEADER_PARTITION_KEY] = slice_of("[\"hot\"]") };
    struct call call = { .service = &hearth->ask.service,
                         .request = &request,
                         .container = hearth->container };
    struct reply reply = { 0 };
    struct op op;

    op_init(&op, env_system(), SIZE_MAX);
    for (int i = 0; i < NOTES_EACH; i++)
        heat_note(&op, &call, &reply, 1);
    op_free(&op);
    return NULL;
}

TEST(many_threads_note_while_it_is_gathered)
{
    struct hearth hearth;
    pthread_t writer[WRITERS];

    open_hearth(&hearth);
    for (int i = 0; i < WRITERS; i++)
        CHECK(pthread_create(&writer[i], NULL, note_many, &hearth) == 0);
    for (int i = 0; i < 100; i++)
        heat_gather(hearth.heat, &hearth.sums);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writer[i], NULL);
    heat_gather(hearth.heat, &hearth.sums);
    CHECK(sketch_total(hearth.sums.keys) > 0); /* a note that met another was lost */
    CHECK(row_of(&hearth, "[\"hot\"]").count == sketch_total(hearth.sums.keys));
    close_hearth(&hearth);
}

TEST(a_key_that_is_long_is_cut_and_stays_one_key)
{
    struct sketch_row row[4];
    struct hearth hearth;
    char key[600];

    open_hearth(&hearth);
    snprintf(key, sizeof(key), "['%0500d']", 1);
    note(&hearth, key, 1);
    snprintf(key, sizeof(key), "['%0500d']", 2);
    note(&hearth, key, 1);
    heat_gather(hearth.heat, &hearth.sums);
    CHECK(sketch_top(hearth.sums.keys, row, 4) == 2);
    CHECK(heat_key_of(&row[0]).key.size == HEAT_KEY_BYTES && row[0].size == RID_CONTAINER_BYTES + 504);
    close_hearth(&hearth);
}

TEST(a_service_that_nobody_watches_notes_nothing)
{
    struct hearth hearth;

    open_hearth(&hearth);
    hearth.ask.service.heat = NULL;
    note(&hearth, "['oslo']", 1);
    heat_gather(hearth.heat, &hearth.sums);
    CHECK(sketch_total(hearth.sums.keys) == 0);
    close_hearth(&hearth);
}
