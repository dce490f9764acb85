/* test/unit/housekeeping/rounds_test.c - containers come in turn, rest, and are known by rid and edition. */
#include "catalog/split.h"
#include "housekeeping/rounds.h"
#include "items.h"

/* A chore that counts its steps, and does as its fields say. */
struct chore {
    unsigned steps, due; /* so many steps each container has to take */
    int64_t rest_ms, spends_ms;
    enum status result;
    char order[64]; /* the first letters of the ids that it came to */
};

struct count {
    unsigned steps;
};

static bool is_due(const struct visit *visit, struct env *env)
{
    const struct chore *chore = visit->context;
    const struct count *count = visit->state;

    (void)env;
    return count->steps < chore->due;
}

static enum status advance(struct op *op, struct visit *visit)
{
    struct chore *chore = visit->context;
    struct count *count = visit->state;

    if (chore->steps < sizeof(chore->order) - 1)
        chore->order[chore->steps] = visit->container->id.data[0];
    count->steps++;
    chore->steps++;
    env_advance_ms(op->env, chore->spends_ms);
    visit->rest_ms = chore->rest_ms;
    return chore->result == ST_OK ? ST_OK : op_fail(op, chore->result, "made to fail");
}

static const struct rounds_kind plain = { .state_bytes = sizeof(struct count),
                                          .call_ms_max = 100,
                                          .failed_ms = 60000,
                                          .share = 9,
                                          .is_due = is_due,
                                          .advance = advance };

#define NAMED(id) "{'id':'" id "','partitionKey':{'paths':['/pk'],'version':2}}"

static unsigned run(struct rig *rig, struct rounds *rounds, struct chore *chore)
{
    chore->steps = 0;
    memset(chore->order, 0, sizeof(chore->order));
    CHECK(rounds_run(rig->op, rounds) == chore->result);
    return chore->steps;
}

TEST(each_that_is_due_takes_a_step_in_turn_until_none_is)
{
    struct chore chore = { .due = 3 };
    struct rounds *rounds;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, NAMED("a"));
    rig_container(&rig, NAMED("b"));
    rounds = rounds_open(&plain, rig.catalog, &chore);
    CHECK(run(&rig, rounds, &chore) == 6);
    for (int i = 2; i < 6; i++)
        CHECK(chore.order[i] == chore.order[i - 2] && chore.order[i] != chore.order[i - 1]);
    CHECK(run(&rig, rounds, &chore) == 0);
    rounds_close(rounds);
    rig_close(&rig);
}

TEST(a_call_ends_when_its_time_is_up_and_the_next_goes_on)
{
    struct chore chore = { .due = 10, .spends_ms = 30 };
    struct rounds *rounds;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, NAMED("a"));
    rounds = rounds_open(&plain, rig.catalog, &chore);
    CHECK(run(&rig, rounds, &chore) == 4 && run(&rig, rounds, &chore) == 4 && run(&rig, rounds, &chore) == 2);
    rounds_close(rounds);
    rig_close(&rig);
}

TEST(nothing_is_due_that_rests_and_it_rests_by_what_it_worked)
{
    struct chore chore = { .due = 100, .spends_ms = 10, .rest_ms = 50 };
    struct rounds *rounds;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, NAMED("a"));
    rounds = rounds_open(&plain, rig.catalog, &chore);
    CHECK(run(&rig, rounds, &chore) == 1);
    rig_advance_ms(&rig, 89);
    CHECK(run(&rig, rounds, &chore) == 0);
    rig_advance_ms(&rig, 1);
    CHECK(run(&rig, rounds, &chore) == 1);
    rig_advance_ms(&rig, 90);
    chore.spends_ms = 1;
    CHECK(run(&rig, rounds, &chore) == 1);
    rig_advance_ms(&rig, 49);
    CHECK(run(&rig, rounds, &chore) == 0);
    rig_advance_ms(&rig, 1);
    CHECK(run(&rig, rounds, &chore) == 1);
    rounds_close(rounds);
    rig_close(&rig);
}

TEST(a_failure_is_told_and_rested_from_and_a_dropped_container_is_none)
{
    struct chore chore = { .due = 100, .result = ST_UNAVAILABLE };
    struct rounds *rounds;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, NAMED("a"));
    rounds = rounds_open(&plain, rig.catalog, &chore);
    CHECK(run(&rig, rounds, &chore) == 1 && strcmp(rig.op->error, "made to fail") == 0);
    chore.result = ST_OK;
    rig_advance_ms(&rig, 59999);
    CHECK(run(&rig, rounds, &chore) == 0);
    rig_advance_ms(&rig, 1);
    chore.result = ST_OWNER_NOT_FOUND;
    chore.steps = 0;
    CHECK(rounds_run(rig.op, rounds) == ST_OK && chore.steps == 1);
    rounds_close(rounds);
    rig_close(&rig);
}

TEST(the_work_goes_on_over_a_split_and_begins_anew_with_another_definition)
{
    struct range_split wanted = { .id = 0, .parts = 2 };
    struct chore chore = { .due = 5 };
    struct container *container, *parted = NULL;
    struct rounds *rounds;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, NAMED("a"));
    rounds = rounds_open(&plain, rig.catalog, &chore);
    CHECK(run(&rig, rounds, &chore) == 5);
    REQUIRE(catalog_change_ranges(rig.op, rig.catalog, container, range_split, &wanted, &parted) == ST_OK);
    CHECK(parted->ranges.count == 2 && run(&rig, rounds, &chore) == 0);
    rig_redefine(&rig, parted, "{'id':'a','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':5}");
    CHECK(run(&rig, rounds, &chore) == 5);
    container_release(parted);
    rounds_close(rounds);
    rig_close(&rig);
}

/* Under the address sanitizer nothing is left, and nothing used that was forgotten. */
TEST(containers_that_were_dropped_are_forgotten_and_others_are_not)
{
    struct chore chore = { .due = 1 };
    struct rounds *rounds;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, NAMED("kept"));
    rounds = rounds_open(&plain, rig.catalog, &chore);
    for (int i = 0; i < 200; i++) {
        struct container *container = rig_container(&rig, NAMED("a"));

        run(&rig, rounds, &chore);
        CHECK(chore.steps == (i == 0 ? 2 : 1));
        CHECK(catalog_drop_container(rig.op, rig.catalog, container, false) == ST_OK);
        container_release(rig.made[--rig.made_count]);
    }
    rounds_close(rounds);
    rig_close(&rig);
}

static bool is_named(const struct container *container, const void *context)
{
    (void)context;
    return slice_is(container->id, "b");
}

TEST(only_those_that_the_chore_concerns_are_visited)
{
    struct rounds_kind kind = plain;
    struct chore chore = { .due = 1 };
    struct rounds *rounds;
    struct rig rig;

    kind.concerns = is_named;
    rig_open(&rig, false);
    rig_container(&rig, NAMED("a"));
    rig_container(&rig, NAMED("b"));
    rounds = rounds_open(&kind, rig.catalog, &chore);
    CHECK(run(&rig, rounds, &chore) == 1 && chore.order[0] == 'b');
    rounds_close(rounds);
    rig_close(&rig);
}
