/* src/housekeeping/rounds.c - containers in turn, and what a chore knows of each. */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "catalog/map.h"
#include "housekeeping/rounds.h"

/* How many states of dropped containers may be left before it is worth looking for them. */
enum { FORGOTTEN_MIN = 64 };

struct known {
    struct rid rid;
    uint64_t edition;
    int64_t rested_after_ms; /* on the monotonic clock */
    int64_t spent_us;        /* since the last rest */
    max_align_t state[];
};

struct rounds {
    const struct rounds_kind *kind;
    struct catalog *catalog;
    void *context;
    struct map known; /* by rid */
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

static struct known *know(struct rounds *rounds, const struct container *container)
{
    size_t bytes = sizeof(struct known) + rounds->kind->state_bytes;
    struct known *known = map_find(&rounds->known, rid_slice(&container->rid));

    if (!known) {
        known = heap_allocate(bytes);
        *known = (struct known){ .rid = container->rid, .edition = container->edition };
        map_put(&rounds->known, rid_slice(&known->rid), known);
    }
    assert(rid_equal(&known->rid, &container->rid));
    assert(known->edition <= container->edition); /* the catalog lists the newest, and they only rise */
    if (known->edition < container->edition) {
        memset(known, 0, bytes);
        *known = (struct known){ .rid = container->rid, .edition = container->edition };
    }
    return known;
}

/* Forgets dropped containers, when there are enough of them to make it worth while. */
static void forget_dropped(struct rounds *rounds)
{
    size_t databases, containers;

    catalog_count(rounds->catalog, &databases, &containers);
    if (rounds->known.count <= containers + FORGOTTEN_MIN)
        return;
    for (size_t i = 0; i < rounds->known.capacity; i++) {
        struct known *known = rounds->known.slot[i].value;

        if (!known || catalog_has_container(rounds->catalog, &known->rid))
            continue;
        map_remove(&rounds->known, rid_slice(&known->rid));
        free(known);
    }
}

/* ---- a round ---- */

/* The visits of a round. Each has a reference to its container. */
static struct visit *list_visits(struct op *op, struct rounds *rounds, size_t *count)
{
    struct container **list;
    struct visit *visits;
    size_t databases, most;

    catalog_count(rounds->catalog, &databases, &most);
    list = arena_alloc(&op->arena, (most + 1) * sizeof(struct container *));
    *count = catalog_list_where(rounds->catalog, rounds->kind->concerns, rounds->context, list, most);
    visits = arena_alloc(&op->arena, (*count + 1) * sizeof(*visits));
    for (size_t i = 0; i < *count; i++) {
        struct known *known = know(rounds, list[i]);

        visits[i] = (struct visit){
            .container = list[i], .state = known->state, .context = rounds->context, .known = known
        };
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
    struct visit *visits;
    struct op steps;
    enum status st;
    size_t count;

    forget_dropped(rounds);
    visits = list_visits(op, rounds, &count);
    op_init(&steps, op->env, OP_MEMORY_BYTES_MAX);
    st = go_round(&steps, rounds, visits, count);
    if (st != ST_OK)
        op_set_error(op, "%s", steps.error ? steps.error : error_row(st)->code);
    op_free(&steps);
    for (size_t i = 0; i < count; i++)
        container_release(visits[i].container);
    return st;
}
