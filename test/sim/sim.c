/* test/sim/sim.c - one seed from its first request to its last look. */
#include <stdarg.h>

#include "sim.h"

/* splitmix64, apart from the world's own: what the server draws does not change what it is asked. */
uint64_t sim_random(struct sim *sim, uint64_t below)
{
    uint64_t x = sim->random += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (x ^ (x >> 31)) % below;
}

bool sim_chance(struct sim *sim, unsigned percent)
{
    return sim_random(sim, 100) < percent;
}

int64_t sim_now(struct sim *sim)
{
    return env_now_ms(sim->world.env);
}

void sim_trace(struct sim *sim, const char *fmt, ...)
{
    char *line = sim->trace[sim->traced++ % TRACE_LINES];
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, TRACE_BYTES, fmt, args);
    va_end(args);
    for (const char *c = line; *c; c++)
        sim->digest = (sim->digest ^ (unsigned char)*c) * 0x100000001b3u;
}

/* The first reason counts. */
void sim_fail(struct sim *sim, const char *fmt, ...)
{
    va_list args;

    if (sim->failed)
        return;
    sim->failed = true;
    va_start(args, fmt);
    vsnprintf(sim->why, sizeof(sim->why), fmt, args);
    va_end(args);
}

/* ---- what happens ---- */

/* Seldom long enough for everything to expire, often for something. */
static void move_clock(struct sim *sim)
{
    static const int64_t most_ms[] = { 300, 1500, 4000, 25000 };
    int64_t ms = (int64_t)sim_random(sim, (uint64_t)most_ms[sim_random(sim, 4)]);

    env_advance_ms(sim->world.env, ms);
    sim_trace(sim, "%d ms pass", (int)ms);
}

static void sweep(struct sim *sim)
{
    enum status st;

    sim->sweeping = true;
    st = world_sweep(&sim->world);
    sim->sweeping = false;
    sim_trace(sim, "housekeeping -> %s", st == ST_OK ? "done" : error_row(st)->name);
    if (st != ST_OK && st != ST_UNAVAILABLE && st != ST_AMBIGUOUS)
        sim_fail(sim, "housekeeping failed");
}

struct action {
    unsigned share;
    unsigned interrupted, fails; /* so many of a hundred */
    void (*act)(struct sim *sim);
};

static const struct action actions[] = {
    { 46, 20, 6, item_act },  { 8, 20, 6, file_act },  { 12, 30, 8, batch_act }, { 14, 10, 3, page_act },
    { 3, 10, 3, page_count }, { 4, 50, 6, box_clear }, { 3, 0, 25, box_make },   { 1, 0, 25, box_drop },
    { 2, 0, 25, box_ttl },    { 1, 0, 6, box_read },   { 5, 60, 10, sweep },     { 7, 0, 0, move_clock },
};

static const struct action *choose(struct sim *sim)
{
    unsigned dice = (unsigned)sim_random(sim, 100);
    size_t which = 0;

    while (dice >= actions[which].share)
        dice -= actions[which++].share;
    return &actions[which];
}

/* ---- looking ---- */

/* What the list has not shown is looked for by its id only now and then. */
static void verify_items(struct sim *sim, int which)
{
    const struct box *box = &sim->model.box[which];

    for (int key = 0; key < KEYS; key++)
        for (int id = 0; id < IDS; id++)
            if (model_is_alive(box, &box->item[key][id], sim_now(sim)) || sim_chance(sim, 15)) {
                item_verify(sim, which, key, id);
                file_verify(sim, which, key, id);
            }
}

static void verify(struct sim *sim)
{
    for (int box = 0; box < BOXES; box++) {
        page_verify(sim, box);
        verify_items(sim, box);
    }
    fault_check_rows(sim);
}

static void settle(struct sim *sim)
{
    struct doubt doubt = sim->doubt;

    sim->doubt.about = DOUBT_NONE;
    sim->interrupted = false;
    if (doubt.about != DOUBT_NONE)
        disk_cut_at(sim->world.disk, 0, false); /* one doubt at a time */
    if (doubt.about == DOUBT_ITEM)
        item_settle(sim, &doubt);
    else if (doubt.about == DOUBT_BATCH)
        batch_settle(sim, &doubt);
    else if (doubt.about == DOUBT_FILE)
        file_settle(sim, &doubt);
    else if (doubt.about != DOUBT_NONE)
        box_settle(sim, &doubt);
}

static void count_conflicts(struct sim *sim)
{
    struct store_stats stats;

    store_stats(sim->world.store, &stats);
    sim->tally.conflicts += stats.conflicts;
}

/* Another process, over what the disk has kept. */
static void restart(struct sim *sim)
{
    count_conflicts(sim);
    world_restart(&sim->world, sim_random(sim, UINT64_MAX), sim_random(sim, 3));
}

static void step(struct sim *sim)
{
    const struct action *action = choose(sim);
    bool was_cut;

    fault_arm(sim, action->interrupted, action->fails);
    action->act(sim);
    fault_disarm(sim);
    was_cut = disk_is_off(sim->world.disk);
    if (was_cut) {
        sim_trace(sim, "the power fails, and comes back");
        restart(sim);
        sim->tally.cuts++;
    }
    settle(sim);
    if (was_cut && !sim->failed)
        verify(sim);
}

static void begin(struct sim *sim)
{
    if (world_send(&sim->world, METHOD_POST, "/dbs", NULL, 0, "{\"id\":\"db\"}")->answer.status != 201)
        sim_fail(sim, "the database cannot be made");
    for (int i = 0; i < 2 * BOXES; i++)
        box_make(sim);
}

/* The last look is a new process's: what is in memory only does not count. */
void sim_run(struct sim *sim, uint64_t seed, int steps)
{
    *sim = (struct sim){ .seed = seed, .random = seed };
    world_open(&sim->world, seed);
    begin(sim);
    for (int i = 0; i < steps && !sim->failed; i++)
        step(sim);
    if (!sim->failed) {
        sim_trace(sim, "a last look");
        restart(sim);
        verify(sim);
    }
    sim->tally.requests = sim->world.requests;
    sim->tally.expired = sim->world.expired;
    sim->tally.starts_cut = sim->world.starts_cut;
    world_close(&sim->world);
}
