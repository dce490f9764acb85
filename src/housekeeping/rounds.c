/* src/housekeeping/rounds.c - containers in turn, and what a chore knows of each. */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "catalog/map.h"
#include "housekeeping/rounds.h"
#include "keys/bytes.h"

/* How many states of dropped containers may be left before it is worth looking for them. */
enum { FORGOTTEN_MIN = 64 };

/* Which container's state it is, and of which of its parts. */
enum { PLACE_BYTES = RID_CONTAINER_BYTES + 4 };

struct known {
    struct rid rid;
    uint8_t place[PLACE_BYTES];
    uint64_t edition;
    int64_t rested_after_ms; /* on the monotonic clock */
    int64_t spent_us;        /* since the last rest */
    max_align_t state[];
};

struct rounds {
    const struct rounds_kind *kind;
    struct catalog *catalog;
    void *context;
    struct map known; /* by place */
    size_t kept;      /* how many states were left when those of dropped containers were last looked for */
};

struct rounds *rounds_open(const struct rounds_kind *kind, struct catalog *catalog, void *context)
{
    struct rounds *rounds = heap_allocate(sizeof(*rounds));

    assert(kind->is_due);
    assert(kind->advance);
    *rounds = (struct rounds){ .kind = kind, .catalog = catalog, .context = context };
    return rounds;
}

void rounds_close(struct rounds *rounds)
{
    if (!rounds)
        return;
    for (size_t i = 0; i < rounds->known.capacity; i++)
        free(rounds->known.slot[i].value);
    map_free(&rounds->known);
    free(rounds);
}

/* ---- the state of a container ---- */

static struct slice place_of(const struct container *container, uint8_t place[PLACE_BYTES])
{
    memcpy(place, container->rid.bytes, RID_CONTAINER_BYTES);
    put_be(place + RID_CONTAINER_BYTES, container->part_index, 4);
    return slice_make(place, PLACE_BYTES);
}

static void begin_state(struct known *known, const struct container *container, size_t bytes)
{
    memset(known, 0, bytes);
    known->rid = container->rid;
    known->edition = container->edition;
    place_of(container, known->place);
}

static struct known *know(struct rounds *rounds, const struct container *container)
{
    size_t bytes = sizeof(struct known) + rounds->kind->state_bytes;
    uint8_t place[PLACE_BYTES];
    struct known *known = map_find(&rounds->known, place_of(container, place));

    if (!known) {
        known = heap_allocate(bytes);
        begin_state(known, container, bytes);
        map_put(&rounds->known, slice_make(known->place, PLACE_BYTES), known);
    }
    assert(rid_equal(&known->rid, &container->rid));
    assert(known->edition <= container->edition); /* the catalog lists the newest, and they only rise */
    if (known->edition < container->edition)
        begin_state(known, container, bytes);
    return known;
}

/* Forgets dropped containers, when there are enough of them to make it worth while. */
static void forget_dropped(struct rounds *rounds)
{
    if (rounds->known.count <= 2 * rounds->kept + FORGOTTEN_MIN)
        return;
    for (size_t i = 0; i < rounds->known.capacity; i++) {
        struct known *known = rounds->known.slot[i].value;

        if (!known || catalog_has_container(rounds->catalog, &known->rid))
            continue;
        map_remove(&rounds->known, slice_make(known->place, PLACE_BYTES));
        free(known);
    }
    rounds->kept = rounds->known.count;
}

/* ---- a round ---- */

static struct visit visit_of(struct rounds *rounds, struct container *container)
{
    struct known *known = know(rounds, container);

    return (struct visit){
        .container = container, .state = known->state, .context = rounds->context, .known = known
    };
}

/* The containers that the chore is about. Each is a reference. */
static struct container **list_containers(struct op *op, const struct rounds *rounds, size_t *count)
{
    struct container **list;
    size_t databases, most;

    catalog_count(rounds->catalog, &databases, &most);
    list = arena_alloc(&op->arena, (most + 1) * sizeof(struct container *));
    *count = catalog_list_where(rounds->catalog, rounds->kind->concerns, rounds->context, list, most);
    return list;
}

/* The visits of a round. */
static struct visit *list_visits(struct op *op, struct rounds *rounds, struct container *const *list,
                                 size_t listed, size_t *count)
{
    struct visit *visits;
    size_t most = 0;

    for (size_t i = 0; i < listed; i++)
        most += list[i]->part_count;
    visits = arena_alloc(&op->arena, (most + 1) * sizeof(*visits));
    *count = 0;
    for (size_t i = 0; i < listed; i++) {
        uint32_t parts = rounds->kind->by_part ? list[i]->part_count : 1;

        for (uint32_t j = 0; j < parts; j++)
            visits[(*count)++] = visit_of(rounds, rounds->kind->by_part ? list[i]->part[j] : list[i]);
    }
    return visits;
}

static bool is_due(const struct rounds *rounds, const struct visit *visit, struct env *env)
{
    return env_monotonic_ms(env) >= visit->known->rested_after_ms && rounds->kind->is_due(visit, env);
}

static void note_rest(struct known *known, struct env *env, int64_t rest_ms)
{
    known->rested_after_ms = env_monotonic_ms(env) + rest_ms;
    known->spent_us = 0;
}

static enum status take_step(struct op *op, const struct rounds *rounds, struct visit *visit)
{
    const struct rounds_kind *kind = rounds->kind;
    struct known *known = visit->known;
    int64_t began_us = env_monotonic_us(op->env), share_ms;
    enum status st;

    assert(known->edition == visit->container->edition); /* the state is of this definition */
    visit->rest_ms = 0;
    op_begin(op, OP_TIMEOUT_MS);
    st = kind->advance(op, visit);
    assert(visit->rest_ms >= 0);
    assert(visit->known == known);
    known->spent_us += env_monotonic_us(op->env) - began_us;
    share_ms = kind->share * known->spent_us / 1000;
    if (st != ST_OK)
        note_rest(known, op->env, kind->failed_ms);
    else if (visit->rest_ms > 0)
        note_rest(known, op->env, visit->rest_ms > share_ms ? visit->rest_ms : share_ms);
    return st == ST_OWNER_NOT_FOUND || st == ST_NOT_FOUND ? ST_OK : st; /* it was dropped meanwhile */
}

static enum status go_round(struct op *op, const struct rounds *rounds, struct visit *visits, size_t count)
{
    int64_t until_ms = env_monotonic_ms(op->env) + rounds->kind->call_ms_max;
    size_t at = count ? (size_t)(env_random_u64(op->env) % count) : 0, idle = 0;
    enum status st = ST_OK;

    for (; idle < count && env_monotonic_ms(op->env) <= until_ms; at = (at + 1) % count) {
        idle++;
        if (!is_due(rounds, &visits[at], op->env))
            continue;
        idle = 0;
        TRY(take_step(op, rounds, &visits[at]));
    }
out:
    return st;
}

enum status rounds_run(struct op *op, struct rounds *rounds)
{
    struct container **list;
    struct visit *visits;
    struct op steps;
    enum status st;
    size_t listed, count;

    forget_dropped(rounds);
    list = list_containers(op, rounds, &listed);
    visits = list_visits(op, rounds, list, listed, &count);
    op_init(&steps, op->env, OP_MEMORY_BYTES_MAX);
    st = go_round(&steps, rounds, visits, count);
    if (st != ST_OK)
        op_set_error(op, "%s", steps.error ? steps.error : error_row(st)->code);
    op_free(&steps);
    for (size_t i = 0; i < listed; i++)
        container_release(list[i]);
    return st;
}
