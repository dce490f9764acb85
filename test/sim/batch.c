/* test/sim/batch.c - atomic batches: the operations of item.c, several at once, all of them or none. */
#include "sim.h"

enum { BODY_BYTES = 2000 };

/* ---- making one up ---- */

static struct bundle random_bundle(struct sim *sim)
{
    struct bundle bundle = { .count = 1 + (int)sim_random(sim, BUNDLE_MAX) };

    for (int i = 0; i < bundle.count; i++) {
        struct plan *plan = &bundle.plan[i];

        *plan = item_plan(sim);
        if (i == 0)
            continue;
        plan->box = bundle.plan[0].box;
        plan->key = bundle.plan[0].key;
        plan->etag[0] = '\0'; /* it was another item's */
    }
    return bundle;
}

/* ---- sending it ---- */

static size_t print_operation(char *text, size_t size, const struct plan *plan)
{
    static const char *const types[PLAN_KINDS] = { "Create", "Upsert", "Read", "Replace", "Patch", "Delete" };
    char body[200] = "", id[32] = "", etag[TEXT_MAX + 32] = "";
    bool is_new = plan->kind == PLAN_CREATE || plan->kind == PLAN_UPSERT;

    item_print_body(body, sizeof(body), plan);
    if (!is_new)
        snprintf(id, sizeof(id), ",\"id\":\"i%d\"", plan->id);
    if (plan->etag[0]) /* without its quotes, which JSON would want escaped */
        snprintf(etag, sizeof(etag), ",\"%s\":\"%.*s\"", plan->kind == PLAN_READ ? "ifNoneMatch" : "ifMatch",
                 (int)strlen(plan->etag) - 2, plan->etag + 1);
    return (size_t)snprintf(text, size, "{\"operationType\":\"%s\"%s%s%s%s}", types[plan->kind], id, etag,
                            body[0] ? ",\"resourceBody\":" : "", body);
}

static struct exchange *send_bundle(struct sim *sim, const struct bundle *bundle)
{
    char path[80], key[32], body[BODY_BYTES];
    const char *session = sim->model.box[bundle->plan[0].box].session;
    const struct world_header headers[] = {
        { HEADER_PARTITION_KEY, key },
        { HEADER_IS_BATCH, "True" },
        { HEADER_BATCH_ATOMIC, "True" },
        { HEADER_SESSION_TOKEN, session[0] ? session : NULL },
    };
    size_t used = 0;

    box_path(path, sizeof(path), bundle->plan[0].box, "/docs");
    snprintf(key, sizeof(key), "[%s]", key_texts[bundle->plan[0].key]);
    for (int i = 0; i < bundle->count; i++) {
        body[used++] = i ? ',' : '[';
        used += print_operation(body + used, sizeof(body) - used, &bundle->plan[i]);
    }
    snprintf(body + used, sizeof(body) - used, "]");
    return world_send(&sim->world, METHOD_POST, path, headers, 4, body);
}

/* ---- what should happen ---- */

struct forecast {
    int status;  /* of the whole answer */
    int culprit; /* which operation fails; -1: none */
    bool writes;
    struct model after; /* ETags and _rids in it are made up */
};

/* Each operation meets what those before it have left. */
static void predict(const struct model *model, const struct bundle *bundle, int64_t now_ms,
                    struct forecast *forecast)
{
    *forecast = (struct forecast){ .status = 200, .culprit = -1, .after = *model };
    for (int i = 0; i < bundle->count; i++) {
        struct outcome outcome = model_predict(&forecast->after, &bundle->plan[i], now_ms);

        if (outcome.status >= 400) {
            bool exists = model->box[bundle->plan[0].box].exists;

            *forecast = (struct forecast){ .status = exists ? 207 : 404, .culprit = i, .after = *model };
            return;
        }
        if (outcome.status == 304)
            forecast->status = 207;
        if (outcome.writes)
            model_apply(&forecast->after, &bundle->plan[i], &outcome, now_ms, "?", "?");
        forecast->writes |= outcome.writes;
    }
}

/* ---- comparing ---- */

static int status_of(struct json result)
{
    struct json status = json_get(result, "statusCode");

    return json_kind(status) == JSON_NUMBER ? (int)json_int(status) : 0;
}

static bool fits_failure(const struct model *model, const struct bundle *bundle, int64_t now_ms,
                         const struct forecast *forecast, struct json body)
{
    struct model seen = *model;

    if (forecast->status != 207)
        return true;
    for (int i = 0; i < bundle->count; i++) {
        struct outcome outcome = model_predict(&seen, &bundle->plan[i], now_ms);
        int wanted = i == forecast->culprit ? outcome.status : 424;

        if (status_of(json_element(body, (size_t)i)) != wanted)
            return false;
        if (i < forecast->culprit && outcome.writes)
            model_apply(&seen, &bundle->plan[i], &outcome, now_ms, "?", "?");
    }
    return true;
}

/* Takes the answer's ETags and _rids up as it goes: later operations on the same item answer with its _rid. */
static bool fits_success(struct model *model, const struct bundle *bundle, struct exchange *exchange,
                         struct json body)
{
    for (int i = 0; i < bundle->count; i++) {
        const struct plan *plan = &bundle->plan[i];
        struct json result = json_element(body, (size_t)i);
        struct outcome outcome = model_predict(model, plan, exchange->op.now_ms);
        struct told row = { 0 };

        if (status_of(result) != outcome.status ||
            !item_fits(model, plan, &outcome, exchange, json_get(result, "resourceBody"),
                       json_get(result, "eTag"), &row))
            return false;
        if (outcome.writes)
            model_apply(model, plan, &outcome, exchange->op.now_ms, row.etag, row.rid);
    }
    return true;
}

/* `model` becomes what it is after the batch. */
static bool fits(struct model *model, const struct bundle *bundle, const struct forecast *forecast,
                 struct exchange *exchange)
{
    struct json body = world_body(exchange);

    if (exchange->answer.status != forecast->status ||
        (forecast->status < 400 &&
         (json_kind(body) != JSON_ARRAY || json_count(body) != (size_t)bundle->count)))
        return false;
    if (forecast->culprit >= 0)
        return fits_failure(model, bundle, exchange->op.now_ms, forecast, body);
    return fits_success(model, bundle, exchange, body);
}

/* As item.c has it: an interrupted one answers as if it had come after the other, or before it if it wrote nothing. */
static void compare(struct sim *sim, const struct bundle *bundle, struct exchange *exchange)
{
    int box = bundle->plan[0].box;
    struct forecast forecast;
    struct model after = sim->model;

    predict(&sim->model, bundle, exchange->op.now_ms, &forecast);
    if (fits(&after, bundle, &forecast, exchange)) {
        sim->model = after;
        return;
    }
    if (sim->interrupted) {
        struct forecast earlier;

        after = sim->before;
        predict(&sim->before, bundle, exchange->op.now_ms, &earlier);
        if ((!earlier.writes || sim->before.box[box].made != sim->model.box[box].made) &&
            fits(&after, bundle, &earlier, exchange))
            return;
    }
    sim_fail(sim, "the model says %d, culprit %d", forecast.status, forecast.culprit);
    sim_trace(sim, "  %.*s", (int)(exchange->answer.body.size > 180 ? 180 : exchange->answer.body.size),
              exchange->answer.body.data ? exchange->answer.body.data : "");
}

static void trace_bundle(struct sim *sim, const struct bundle *bundle, int status)
{
    for (int i = 0; i < bundle->count; i++)
        item_trace(sim, i ? "  and " : "batch: ", &bundle->plan[i], i + 1 < bundle->count ? 0 : status);
}

/* Nothing is locked, so that what interrupts it may be about the same items. */
void batch_act(struct sim *sim)
{
    struct bundle bundle = random_bundle(sim);
    struct plan outer = bundle.plan[0];
    struct doubt doubt = { .about = DOUBT_BATCH, .bundle = bundle, .now_ms = sim_now(sim) };
    struct exchange *exchange;

    outer.id = -1;
    sim->outer = &outer;
    exchange = send_bundle(sim, &bundle);
    sim->outer = NULL;
    trace_bundle(sim, &bundle, exchange->answer.status);
    if (fault_doubts(sim, exchange, doubt))
        return;
    compare(sim, &bundle, exchange);
    answer_session(sim, bundle.plan[0].box, exchange);
}

/* ---- learning ---- */

/* Whether the place is as the batch would have left it; `item` then has its ETag and _rid. */
static bool is_after(struct sim *sim, const struct plan *plan, int id, struct item *item)
{
    const struct item *before = &sim->model.box[plan->box].item[plan->key][id];
    struct exchange *exchange = item_read(sim, plan->box, plan->key, id);
    struct told row;

    if (!item->exists)
        return exchange->answer.status == 404;
    if (exchange->answer.status != 200 || !row_read(exchange, world_body(exchange), &row) ||
        !doc_equal(&row.doc, &item->doc) || strcmp(row.etag, before->etag) == 0)
        return false;
    snprintf(item->etag, TEXT_MAX, "%s", row.etag);
    snprintf(item->rid, TEXT_MAX, "%s", row.rid);
    return true;
}

/* Of the places that the batch touches, how many there are and how many are as it would leave them. */
static void look(struct sim *sim, const struct plan *plan, struct model *after, int *touched, int *changed)
{
    *touched = *changed = 0;
    for (int id = 0; id < IDS; id++) {
        const struct box *box = &sim->model.box[plan->box];
        const struct item *before = &box->item[plan->key][id];
        struct item *item = &after->box[plan->box].item[plan->key][id];

        if (item->touched == before->touched)
            continue;
        if (!item->exists && !model_is_alive(box, before, sim_now(sim))) /* nowhere to be seen either way */
            continue;
        ++*touched;
        *changed += is_after(sim, plan, id, item);
    }
}

/* All of its places changed or none: anything else is half a batch. */
void batch_settle(struct sim *sim, const struct doubt *doubt)
{
    const struct plan *plan = &doubt->bundle.plan[0];
    struct forecast forecast;
    int touched, changed;

    predict(&sim->model, &doubt->bundle, doubt->now_ms, &forecast);
    if (!forecast.writes)
        return;
    look(sim, plan, &forecast.after, &touched, &changed);
    if (touched && changed == touched) {
        sim_trace(sim, "it took place");
        sim->tally.took_place++;
        sim->model = forecast.after;
        if (doubt->promised_not)
            sim_fail(sim, "a batch took place that was answered as one that did not");
    } else if (changed) {
        sim_fail(sim, "half a batch took place: %d of %d", changed, touched);
    } else {
        sim->tally.did_not++;
    }
    for (int id = 0; id < IDS; id++)
        item_verify(sim, plan->box, plan->key, id);
}
