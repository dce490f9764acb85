/* test/sim/item.c - requests for one item: made up, sent, compared with the model. */
#include "sim.h"

static const char *const kind_names[PLAN_KINDS] = {
    "create", "upsert", "read", "replace", "patch", "delete"
};

/* ---- making one up ---- */

static struct doc random_doc(struct sim *sim)
{
    static const int ttls[] = { -1, 1, 4, 30 };
    struct doc doc = { .n = (int)sim_random(sim, 10), .u = (int)sim_random(sim, 5) };

    doc.has_u = sim_chance(sim, 85);
    doc.has_ttl = sim_chance(sim, 25);
    doc.ttl = ttls[sim_random(sim, 4)];
    return doc;
}

/* The right ETag, an old one, or none. */
static void random_etag(struct sim *sim, struct plan *plan)
{
    const struct item *item = &sim->model.box[plan->box].item[plan->key][plan->id];
    const char *etag = sim_chance(sim, 60) ? item->etag : item->stale;

    if (plan->kind != PLAN_CREATE && sim_chance(sim, 30))
        snprintf(plan->etag, sizeof(plan->etag), "%s", etag);
}

/* More is created than deleted: an empty container has little to tell. */
static enum plan_kind random_kind(struct sim *sim)
{
    static const enum plan_kind kinds[] = {
        PLAN_CREATE,  PLAN_CREATE, PLAN_UPSERT, PLAN_UPSERT, PLAN_REPLACE,
        PLAN_REPLACE, PLAN_PATCH,  PLAN_READ,   PLAN_READ,   PLAN_DELETE
    };

    return kinds[sim_random(sim, sizeof(kinds) / sizeof(kinds[0]))];
}

struct plan item_plan(struct sim *sim)
{
    struct plan plan = sim->last;

    plan.kind = random_kind(sim);
    plan.patch = (enum patch_kind)sim_random(sim, PATCHES);
    plan.doc = random_doc(sim);
    plan.etag[0] = '\0';
    if (sim_chance(sim, 60)) { /* else the same item again: what is remembered of it may be out of date */
        plan.box = (int)sim_random(sim, BOXES);
        plan.key = (int)sim_random(sim, KEYS);
        plan.id = (int)sim_random(sim, IDS);
    }
    plan.to = plan.kind == PLAN_REPLACE && sim_chance(sim, 30) ? (int)sim_random(sim, IDS) : plan.id;
    random_etag(sim, &plan);
    sim->last = plan;
    return plan;
}

/* ---- sending it ---- */

static void print_doc(char *body, size_t size, const struct plan *plan)
{
    char u[32] = "", ttl[32] = "";

    if (plan->doc.has_u)
        snprintf(u, sizeof(u), ",\"u\":%d", plan->doc.u);
    if (plan->doc.has_ttl)
        snprintf(ttl, sizeof(ttl), ",\"ttl\":%d", plan->doc.ttl);
    snprintf(body, size, "{\"id\":\"i%d\",\"pk\":%s,\"n\":%d%s%s}", plan->to, key_texts[plan->key],
             plan->doc.n, u, ttl);
}

static void print_patch(char *body, size_t size, const struct plan *plan)
{
    static const struct {
        const char *op, *path;
    } patches[PATCHES] = { { "incr", "/n" }, { "set", "/u" }, { "remove", "/u" }, { "set", "/ttl" } };
    const int values[PATCHES] = { plan->doc.n, plan->doc.u, 0, plan->doc.ttl };

    snprintf(body, size, "{\"operations\":[{\"op\":\"%s\",\"path\":\"%s\"%s", patches[plan->patch].op,
             patches[plan->patch].path, plan->patch == PATCHES_U_AWAY ? "" : ",\"value\":");
    size -= strlen(body);
    body += strlen(body);
    if (plan->patch == PATCHES_U_AWAY)
        snprintf(body, size, "}]}");
    else
        snprintf(body, size, "%d}]}", values[plan->patch]);
}

void item_print_body(char *body, size_t size, const struct plan *plan)
{
    body[0] = '\0';
    if (plan->kind == PLAN_PATCH)
        print_patch(body, size, plan);
    else if (plan->kind != PLAN_READ && plan->kind != PLAN_DELETE)
        print_doc(body, size, plan);
}

static struct exchange *send_plan(struct sim *sim, const struct plan *plan)
{
    static const enum method methods[PLAN_KINDS] = { METHOD_POST, METHOD_POST,  METHOD_GET,
                                                     METHOD_PUT,  METHOD_PATCH, METHOD_DELETE };
    bool is_new = plan->kind == PLAN_CREATE || plan->kind == PLAN_UPSERT;
    char path[80], rest[32] = "/docs", key[32], body[200];
    const char *session = sim->model.box[plan->box].session;
    const struct world_header headers[] = {
        { HEADER_PARTITION_KEY, key },
        { HEADER_IS_UPSERT, plan->kind == PLAN_UPSERT ? "True" : NULL },
        { plan->kind == PLAN_READ ? HEADER_IF_NONE_MATCH : HEADER_IF_MATCH,
          plan->etag[0] ? plan->etag : NULL },
        { HEADER_SESSION_TOKEN, session[0] ? session : NULL },
    };

    if (!is_new)
        snprintf(rest, sizeof(rest), "/docs/i%d", plan->id);
    box_path(path, sizeof(path), plan->box, rest);
    snprintf(key, sizeof(key), "[%s]", key_texts[plan->key]);
    item_print_body(body, sizeof(body), plan);
    return world_send(&sim->world, methods[plan->kind], path, headers, 4, body);
}

/* ---- comparing ---- */

/* What an answer to a write must say: the new item, at this time, under a new ETag and, if it is not new, its old _rid. */
static bool is_written(const struct model *model, const struct plan *plan, const struct outcome *outcome,
                       struct exchange *exchange, struct slice etag, const struct told *row)
{
    const struct item *old = &model->box[plan->box].item[plan->key][plan->id];

    return row->key == plan->key && row->id == plan->to && doc_equal(&row->doc, &outcome->doc) &&
           slice_is(etag, row->etag) && strcmp(row->etag, old->etag) != 0 &&
           row->ts == exchange->op.now_ms / 1000 &&
           (outcome->status == 200) == (strcmp(row->rid, old->rid) == 0);
}

bool item_fits(const struct model *model, const struct plan *plan, const struct outcome *outcome,
               struct exchange *exchange, struct json body, struct json etag, struct told *row)
{
    if (plan->kind == PLAN_READ && outcome->status == 200)
        return row_read(exchange, body, row) && row->key == plan->key && row->id == plan->id &&
               row_is_item(model, plan->box, row, exchange->op.now_ms);
    if (outcome->writes && plan->kind != PLAN_DELETE)
        return json_kind(etag) == JSON_STRING && row_read(exchange, body, row) &&
               is_written(model, plan, outcome, exchange, json_string(etag), row);
    return true;
}

/* The header's ETag, as the body of a batch would have it. */
static struct json etag_told(struct exchange *exchange)
{
    struct json_builder out;
    char etag[TEXT_MAX];

    if (!world_header_text(exchange, "etag", etag, TEXT_MAX))
        return json_undefined;
    json_builder_init(&out, &exchange->op.arena);
    json_add_string(&out, slice_of(etag));
    return json_built(&out);
}

static bool fits(const struct model *model, const struct plan *plan, const struct outcome *outcome,
                 struct exchange *exchange, struct told *row)
{
    return exchange->answer.status == outcome->status &&
           item_fits(model, plan, outcome, exchange, world_body(exchange), etag_told(exchange), row);
}

/*
 * A request that was interrupted answers as if it had run after the other one, which it did if it wrote; or
 * before, when it wrote nothing, or wrote into a container that the other one dropped.
 */
static void compare(struct sim *sim, const struct plan *plan, struct exchange *exchange)
{
    int64_t now_ms = exchange->op.now_ms;
    struct outcome outcome = model_predict(&sim->model, plan, now_ms), earlier;
    struct told row = { 0 };

    if (fits(&sim->model, plan, &outcome, exchange, &row)) {
        if (outcome.writes)
            model_apply(&sim->model, plan, &outcome, now_ms, row.etag, row.rid);
        return;
    }
    if (sim->interrupted && sim->world.depth == 0) {
        earlier = model_predict(&sim->before, plan, now_ms);
        if ((!earlier.writes || sim->before.box[plan->box].made != sim->model.box[plan->box].made) &&
            fits(&sim->before, plan, &earlier, exchange, &row))
            return;
    }
    sim_fail(sim, "the model says %d", outcome.status);
    sim_trace(sim, "  %.*s", (int)(exchange->answer.body.size > 180 ? 180 : exchange->answer.body.size),
              exchange->answer.body.data ? exchange->answer.body.data : "");
}

void item_trace(struct sim *sim, const char *prefix, const struct plan *plan, int status)
{
    char doc[120];

    print_doc(doc, sizeof(doc), plan);
    sim_trace(sim, "%s%s c%d [%s] i%d %s %d%s -> %d", prefix, kind_names[plan->kind], plan->box,
              key_texts[plan->key], plan->id, doc, plan->patch, plan->etag[0] ? " by etag" : "", status);
}

static void act(struct sim *sim, const struct plan *plan)
{
    struct doubt doubt = { .about = DOUBT_ITEM, .plan = *plan, .now_ms = sim_now(sim) };
    struct exchange *exchange = send_plan(sim, plan);

    item_trace(sim, "", plan, exchange->answer.status);
    if (fault_doubts(sim, exchange, doubt))
        return;
    compare(sim, plan, exchange);
    answer_session(sim, plan->box, exchange);
}

void item_act(struct sim *sim)
{
    struct plan plan = item_plan(sim);

    sim->outer = &plan;
    act(sim, &plan);
    sim->outer = NULL;
}

/* The item whose time is over and whose place housekeeping is about to free. */
static void take_expired_place(struct sim *sim, struct plan *plan)
{
    for (int tries = 0; tries < 4 * BOXES * KEYS * IDS; tries++) {
        const struct box *box = &sim->model.box[plan->box];
        const struct item *item = &box->item[plan->key][plan->id];

        if (box->exists && item->exists && !model_is_alive(box, item, sim_now(sim)))
            return;
        plan->box = (int)sim_random(sim, BOXES);
        plan->key = (int)sim_random(sim, KEYS);
        plan->id = plan->to = (int)sim_random(sim, IDS);
    }
}

/* In the same logical partition, with the same unique value, on another item or on the one it will become. */
static void come_near(struct sim *sim, const struct plan *outer, struct plan *plan)
{
    plan->box = outer->box;
    plan->key = outer->key;
    plan->doc.has_u = outer->doc.has_u;
    plan->doc.u = outer->doc.u;
    plan->to = plan->id;
    if (outer->id < 0)
        return;
    plan->id = outer->to != outer->id ? outer->to : (outer->id + 1 + (int)sim_random(sim, IDS - 1)) % IDS;
    plan->to = plan->kind == PLAN_REPLACE && sim_chance(sim, 30) ? outer->id : plan->id;
}

/* Never on the item that is locked: on one thread that would wait for ever. */
void item_interrupt(struct sim *sim)
{
    struct plan plan = item_plan(sim);

    plan.etag[0] = '\0';
    if (sim->outer)
        come_near(sim, sim->outer, &plan);
    if (sim->sweeping) {
        plan.kind = PLAN_UPSERT;
        plan.to = plan.id;
        take_expired_place(sim, &plan);
    }
    act(sim, &plan);
}

/* ---- learning ---- */

struct exchange *item_read(struct sim *sim, int box, int key, int id)
{
    return send_plan(sim, &(struct plan){ .kind = PLAN_READ, .box = box, .key = key, .id = id, .to = id });
}

void item_verify(struct sim *sim, int box, int key, int id)
{
    struct plan plan = { .kind = PLAN_READ, .box = box, .key = key, .id = id, .to = id };
    struct exchange *exchange;

    if (sim->failed)
        return;
    exchange = send_plan(sim, &plan);
    compare(sim, &plan, exchange);
    if (sim->failed)
        sim_trace(sim, "looked at c%d [%s] i%d -> %d", box, key_texts[key], id, exchange->answer.status);
}

/* Whether the write took place: its document is there under an ETag that nobody has seen, or the item has gone. */
static bool took_place(struct sim *sim, const struct plan *plan, const struct outcome *outcome,
                       struct told *row)
{
    const struct item *item = &sim->model.box[plan->box].item[plan->key][plan->to];
    struct exchange *exchange = item_read(sim, plan->box, plan->key, plan->to);

    if (plan->kind == PLAN_DELETE)
        return exchange->answer.status == 404;
    return exchange->answer.status == 200 && row_read(exchange, world_body(exchange), row) &&
           strcmp(row->etag, item->etag) != 0 && doc_equal(&row->doc, &outcome->doc);
}

void item_settle(struct sim *sim, const struct doubt *doubt)
{
    const struct plan *plan = &doubt->plan;
    struct outcome outcome = model_predict(&sim->model, plan, doubt->now_ms);
    struct told row = { 0 };

    if (outcome.writes && !took_place(sim, plan, &outcome, &row)) {
        sim->tally.did_not++;
    } else if (outcome.writes) {
        sim_trace(sim, "it took place");
        sim->tally.took_place++;
        model_apply(&sim->model, plan, &outcome, doubt->now_ms, row.etag, row.rid);
        if (doubt->promised_not)
            sim_fail(sim, "a write took place that was answered as one that did not");
    }
    item_verify(sim, plan->box, plan->key, plan->id);
    item_verify(sim, plan->box, plan->key, plan->to);
}
