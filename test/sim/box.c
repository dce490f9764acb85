/* test/sim/box.c - containers made, changed and dropped; logical partitions deleted whole. */
#include "sim.h"

void box_path(char *path, size_t size, int box, const char *rest)
{
    snprintf(path, size, "/dbs/db/colls/c%d%s", box, rest);
}

/* What is indexed changes no answer while the path of ORDER BY is; when it changes, the items are indexed again. */
static const char *random_indexing(struct sim *sim)
{
    static const char *const policies[] = {
        "",
        "",
        ",\"indexingPolicy\":{\"excludedPaths\":[{\"path\":\"/u/?\"},{\"path\":\"/ttl/?\"}]}",
        ",\"indexingPolicy\":{\"automatic\":false}",
        ",\"indexingPolicy\":{\"includedPaths\":[{\"path\":\"/n/?\"}],\"excludedPaths\":[{\"path\":\"/*\"}]}",
        ",\"indexingPolicy\":{\"compositeIndexes\":[[{\"path\":\"/n\"},{\"path\":\"/"
        "_ts\",\"order\":\"descending\"}]]}",
    };

    return policies[sim_random(sim, sizeof(policies) / sizeof(policies[0]))];
}

static struct exchange *send_definition(struct sim *sim, enum method method, int box, bool unique,
                                        int default_ttl)
{
    char path[80] = "/dbs/db/colls", body[500], ttl[40] = "";

    if (method == METHOD_PUT)
        box_path(path, sizeof(path), box, "");
    if (default_ttl)
        snprintf(ttl, sizeof(ttl), ",\"defaultTtl\":%d", default_ttl);
    snprintf(body, sizeof(body),
             "{\"id\":\"c%d\",\"partitionKey\":{\"paths\":[\"/pk\"],\"kind\":\"Hash\",\"version\":2}%s%s%s}",
             box, unique ? ",\"uniqueKeyPolicy\":{\"uniqueKeys\":[{\"paths\":[\"/u\"]}]}" : "", ttl,
             random_indexing(sim));
    return world_send(&sim->world, method, path, NULL, 0, body);
}

static struct exchange *send_plain(struct sim *sim, enum method method, int box)
{
    char path[80];

    box_path(path, sizeof(path), box, "");
    return world_send(&sim->world, method, path, NULL, 0, "");
}

static int random_ttl(struct sim *sim)
{
    static const int ttls[] = { 0, -1, 3, 3, 20 };

    return ttls[sim_random(sim, 5)];
}

static void expect(struct sim *sim, const struct exchange *exchange, int status)
{
    if (exchange->answer.status != status)
        sim_fail(sim, "the model says %d", status);
}

/* Mostly one that is missing: without containers little happens. */
static int box_to_make(struct sim *sim)
{
    int box = (int)sim_random(sim, BOXES);

    for (int i = 0; i < BOXES && sim->model.box[box].exists && sim_chance(sim, 80); i++)
        box = (box + 1) % BOXES;
    return box;
}

void box_make(struct sim *sim)
{
    struct doubt doubt = { .about = DOUBT_MADE,
                           .box = box_to_make(sim),
                           .unique = sim_chance(sim, 60),
                           .default_ttl = random_ttl(sim) };
    struct exchange *exchange = send_definition(sim, METHOD_POST, doubt.box, doubt.unique, doubt.default_ttl);
    bool exists = sim->model.box[doubt.box].exists;

    sim_trace(sim, "make c%d unique %d ttl %d -> %d", doubt.box, doubt.unique, doubt.default_ttl,
              exchange->answer.status);
    if (exists)
        doubt.about = DOUBT_NONE;
    if (fault_doubts(sim, exchange, doubt))
        return;
    expect(sim, exchange, exists ? 409 : 201);
    if (!exists)
        model_make_box(&sim->model, doubt.box, doubt.unique, doubt.default_ttl);
}

void box_drop(struct sim *sim)
{
    struct doubt doubt = { .about = DOUBT_DROPPED, .box = (int)sim_random(sim, BOXES) };
    struct exchange *exchange = send_plain(sim, METHOD_DELETE, doubt.box);

    sim_trace(sim, "drop c%d -> %d", doubt.box, exchange->answer.status);
    if (fault_doubts(sim, exchange, doubt))
        return;
    expect(sim, exchange, sim->model.box[doubt.box].exists ? 204 : 404);
    if (sim->model.box[doubt.box].exists)
        model_drop_box(&sim->model, doubt.box);
}

void box_read(struct sim *sim)
{
    int box = (int)sim_random(sim, BOXES);
    struct exchange *exchange = send_plain(sim, METHOD_GET, box);

    sim_trace(sim, "read c%d -> %d", box, exchange->answer.status);
    if (!fault_doubts(sim, exchange, (struct doubt){ 0 }))
        expect(sim, exchange, sim->model.box[box].exists ? 200 : 404);
}

/* An item that had expired and lives by the new default may have been removed already: only a read can tell. */
static void take_ttl(struct sim *sim, int which, int default_ttl)
{
    struct box *box = &sim->model.box[which];
    struct plan plan = { .box = which };
    bool dead[KEYS][IDS];
    struct exchange *exchange;

    for (plan.key = 0; plan.key < KEYS; plan.key++)
        for (plan.id = 0; plan.id < IDS; plan.id++)
            dead[plan.key][plan.id] = !model_is_alive(box, &box->item[plan.key][plan.id], sim_now(sim));
    box->default_ttl = default_ttl;
    for (plan.key = 0; plan.key < KEYS; plan.key++)
        for (plan.id = 0; plan.id < IDS; plan.id++) {
            struct item *item = &box->item[plan.key][plan.id];

            item->touched = ++sim->model.changes;
            if (!dead[plan.key][plan.id] || !model_is_alive(box, item, sim_now(sim)))
                continue;
            exchange = item_read(sim, which, plan.key, plan.id);
            if (exchange->answer.status == 404)
                item->exists = false;
            item_verify(sim, which, plan.key, plan.id);
        }
}

void box_ttl(struct sim *sim)
{
    struct doubt doubt = { .about = DOUBT_TTL,
                           .box = (int)sim_random(sim, BOXES),
                           .default_ttl = random_ttl(sim) };
    struct box *box = &sim->model.box[doubt.box];
    struct exchange *exchange = send_definition(sim, METHOD_PUT, doubt.box, box->unique, doubt.default_ttl);

    sim_trace(sim, "c%d gets ttl %d -> %d", doubt.box, doubt.default_ttl, exchange->answer.status);
    if (fault_doubts(sim, exchange, doubt))
        return;
    expect(sim, exchange, box->exists ? 200 : 404);
    fault_disarm(sim);
    if (box->exists && !sim->failed)
        take_ttl(sim, doubt.box, doubt.default_ttl);
}

/* ---- every item of a key ---- */

static bool was_there(const struct sim *sim, int box, int key, const char *rid)
{
    const struct box *before = &(sim->interrupted ? &sim->before : &sim->model)->box[box];

    for (int id = 0; id < IDS; id++)
        if (before->item[key][id].exists && strcmp(before->item[key][id].rid, rid) == 0)
            return true;
    return false;
}

/* What another request created meanwhile stays. */
static void take_clear(struct sim *sim, int box, int key)
{
    for (int id = 0; id < IDS; id++) {
        const struct item *item = &sim->model.box[box].item[key][id];

        if (model_is_alive(&sim->model.box[box], item, sim_now(sim)) && was_there(sim, box, key, item->rid))
            model_remove(&sim->model, box, key, id);
    }
}

void box_clear(struct sim *sim)
{
    struct doubt doubt = { .about = DOUBT_CLEAR,
                           .box = sim->outer ? sim->outer->box : (int)sim_random(sim, BOXES),
                           .key = sim->outer ? sim->outer->key : (int)sim_random(sim, KEYS) };
    const struct box *box = &sim->model.box[doubt.box];
    struct plan outer = { .box = doubt.box, .key = doubt.key, .id = -1, .doc = { .has_u = true, .u = 100 } };
    uint64_t made = box->made;
    struct exchange *exchange;
    char path[80], key[32];

    box_path(path, sizeof(path), doubt.box, "/operations/partitionkeydelete");
    snprintf(key, sizeof(key), "[%s]", key_texts[doubt.key]);
    if (sim->world.depth == 0)
        sim->outer = &outer;
    exchange = world_send(&sim->world, METHOD_POST, path, &(struct world_header){ HEADER_PARTITION_KEY, key },
                          1, "");
    if (sim->world.depth == 0)
        sim->outer = NULL;
    sim_trace(sim, "clear c%d [%s] -> %d", doubt.box, key_texts[doubt.key], exchange->answer.status);
    if (fault_doubts(sim, exchange, doubt) || box->made != made)
        return;
    expect(sim, exchange, box->exists ? 200 : 404);
    if (box->exists)
        take_clear(sim, doubt.box, doubt.key);
}

/* ---- learning ---- */

static void settle_clear(struct sim *sim, const struct doubt *doubt)
{
    for (int id = 0; id < IDS; id++) {
        const struct item *item = &sim->model.box[doubt->box].item[doubt->key][id];

        if (model_is_alive(&sim->model.box[doubt->box], item, sim_now(sim)) &&
            item_read(sim, doubt->box, doubt->key, id)->answer.status == 404)
            model_remove(&sim->model, doubt->box, doubt->key, id);
        item_verify(sim, doubt->box, doubt->key, id);
    }
}

static int ttl_told(struct exchange *exchange)
{
    struct json ttl = json_get(world_body(exchange), "defaultTtl");

    return json_kind(ttl) == JSON_NUMBER ? (int)json_int(ttl) : 0;
}

/*
 * What the catalog says is only final when its doubt is over: the next change, even one that is refused, ends it.
 * Reopening may fail a few times more, and is tried again after a pause.
 */
static struct exchange *read_settled(struct sim *sim, int box)
{
    enum { PAUSE_MS = 300, TRIES = 4 };
    struct exchange *exchange;

    for (int tries = 0; tries < TRIES; tries++) {
        exchange = world_send(&sim->world, METHOD_POST, "/dbs", NULL, 0, "{\"id\":\"db\"}");
        if (exchange->answer.status == 409)
            return send_plain(sim, METHOD_GET, box);
        env_advance_ms(sim->world.env, PAUSE_MS);
    }
    sim_fail(sim, "the catalog stays in doubt");
    return exchange;
}

void box_settle(struct sim *sim, const struct doubt *doubt)
{
    struct box *box = &sim->model.box[doubt->box];
    bool took_place = false;
    struct exchange *exchange;

    if (doubt->about == DOUBT_CLEAR) {
        settle_clear(sim, doubt);
        return;
    }
    exchange = read_settled(sim, doubt->box);
    if (doubt->about == DOUBT_MADE && exchange->answer.status == 200) {
        took_place = true;
        model_make_box(&sim->model, doubt->box, doubt->unique, doubt->default_ttl);
    } else if (doubt->about == DOUBT_DROPPED && box->exists && exchange->answer.status == 404) {
        took_place = true;
        model_drop_box(&sim->model, doubt->box);
    } else if (doubt->about == DOUBT_TTL && box->exists && exchange->answer.status == 200 &&
               ttl_told(exchange) == doubt->default_ttl) {
        took_place = box->default_ttl != doubt->default_ttl;
        take_ttl(sim, doubt->box, doubt->default_ttl);
    }
    if (took_place && doubt->promised_not)
        sim_fail(sim, "a change took place that was answered as one that did not");
    expect(sim, send_plain(sim, METHOD_GET, doubt->box), box->exists ? 200 : 404);
}
