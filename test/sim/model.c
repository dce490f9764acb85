/* test/sim/model.c - what should happen, in the plainest way it can be said. */
#include <stdio.h>
#include <string.h>

#include "model.h"

bool doc_equal(const struct doc *a, const struct doc *b)
{
    return a->n == b->n && a->has_u == b->has_u && (!a->has_u || a->u == b->u) && a->has_ttl == b->has_ttl &&
           (!a->has_ttl || a->ttl == b->ttl);
}

bool model_is_alive(const struct box *box, const struct item *item, int64_t now_ms)
{
    int seconds = item->doc.has_ttl ? item->doc.ttl : box->default_ttl;

    if (!box->exists || !item->exists)
        return false;
    return box->default_ttl == 0 || seconds == -1 || now_ms < item->ts_ms + 1000 * (int64_t)seconds;
}

static bool same_value(const struct doc *a, const struct doc *b)
{
    return a->has_u == b->has_u && (!a->has_u || a->u == b->u);
}

static bool breaks_unique(const struct box *box, const struct plan *plan, int own, const struct doc *doc,
                          int64_t now_ms)
{
    for (int id = 0; box->unique && id < IDS; id++) {
        const struct item *other = &box->item[plan->key][id];

        if (id != own && model_is_alive(box, other, now_ms) && same_value(&other->doc, doc))
            return true;
    }
    return false;
}

/* The old document is in `doc`; false when the patch does not fit it. */
static bool patch(const struct plan *plan, struct doc *doc)
{
    switch (plan->patch) {
    case PATCHES_N:
        doc->n += plan->doc.n;
        return true;
    case PATCHES_U:
        doc->has_u = true;
        doc->u = plan->doc.u;
        return true;
    case PATCHES_TTL:
        doc->has_ttl = true;
        doc->ttl = plan->doc.ttl;
        return true;
    default:
        if (!doc->has_u)
            return false;
        doc->has_u = false;
        return true;
    }
}

static struct outcome refused(int status)
{
    return (struct outcome){ .status = status };
}

/* An item that is there, and whose ETag is the one wanted. */
static struct outcome predict_change(const struct box *box, const struct plan *plan, const struct item *item,
                                     int64_t now_ms)
{
    struct outcome outcome = { .status = 200, .writes = true, .doc = plan->doc };

    if (plan->kind == PLAN_DELETE)
        return (struct outcome){ .status = 204, .writes = true };
    if (plan->kind == PLAN_PATCH) {
        outcome.doc = item->doc;
        if (!patch(plan, &outcome.doc))
            return refused(400);
    }
    if (plan->to != plan->id && model_is_alive(box, &box->item[plan->key][plan->to], now_ms))
        return refused(409);
    if (breaks_unique(box, plan, plan->id, &outcome.doc, now_ms))
        return refused(409);
    return outcome;
}

static struct outcome predict_new(const struct box *box, const struct plan *plan, int64_t now_ms)
{
    if (breaks_unique(box, plan, plan->id, &plan->doc, now_ms))
        return refused(409);
    return (struct outcome){ .status = 201, .writes = true, .doc = plan->doc };
}

struct outcome model_predict(const struct model *model, const struct plan *plan, int64_t now_ms)
{
    const struct box *box = &model->box[plan->box];
    const struct item *item = &box->item[plan->key][plan->id];
    bool alive = model_is_alive(box, item, now_ms);
    bool is_new = plan->kind == PLAN_CREATE || plan->kind == PLAN_UPSERT;

    if (!box->exists)
        return refused(404);
    if (alive && plan->kind == PLAN_CREATE)
        return refused(409);
    if (!alive)
        return is_new ? predict_new(box, plan, now_ms) : refused(404);
    if (plan->kind == PLAN_READ && strcmp(plan->etag, item->etag) == 0)
        return refused(304);
    if (plan->kind == PLAN_READ)
        return (struct outcome){ .status = 200, .doc = item->doc };
    if (plan->etag[0] && strcmp(plan->etag, item->etag) != 0)
        return refused(412);
    return predict_change(box, plan, item, now_ms);
}

void model_remove(struct model *model, int box, int key, int id)
{
    struct item *item = &model->box[box].item[key][id];

    item->exists = false;
    item->touched = ++model->changes;
}

void model_apply(struct model *model, const struct plan *plan, const struct outcome *outcome, int64_t now_ms,
                 const char *etag, const char *rid)
{
    struct item *item = &model->box[plan->box].item[plan->key][plan->to];
    const struct item *old = &model->box[plan->box].item[plan->key][plan->id];

    if (outcome->status == 201)
        memset(item->file, 0, sizeof(item->file));
    else
        memmove(item->file, old->file, sizeof(item->file)); /* they go with it when it is renamed */
    if (plan->to != plan->id || plan->kind == PLAN_DELETE)
        model_remove(model, plan->box, plan->key, plan->id);
    if (plan->kind == PLAN_DELETE)
        return;
    memcpy(item->stale, item->etag, sizeof(item->stale));
    item->exists = true;
    item->doc = outcome->doc;
    item->ts_ms = now_ms;
    item->touched = ++model->changes;
    snprintf(item->etag, sizeof(item->etag), "%s", etag);
    snprintf(item->rid, sizeof(item->rid), "%s", rid);
}

struct outcome model_predict_file(const struct model *model, const struct errand *errand, int64_t now_ms)
{
    static const struct outcome there[FILE_KINDS] = { { .status = 200, .writes = true },
                                                      { .status = 200 },
                                                      { .status = 204, .writes = true } };
    const struct box *box = &model->box[errand->box];
    const struct item *item = &box->item[errand->key][errand->id];

    if (!model_is_alive(box, item, now_ms))
        return refused(404);
    if (item->file[errand->file])
        return there[errand->kind];
    return errand->kind == FILE_PUT ? (struct outcome){ .status = 201, .writes = true } : refused(404);
}

void model_apply_file(struct model *model, const struct errand *errand)
{
    int *file = &model->box[errand->box].item[errand->key][errand->id].file[errand->file];

    *file = errand->kind == FILE_PUT ? errand->content : 0;
}

void model_make_box(struct model *model, int box, bool unique, int default_ttl)
{
    model->box[box] = (struct box){
        .exists = true, .unique = unique, .default_ttl = default_ttl, .made = ++model->changes
    };
}

void model_drop_box(struct model *model, int box)
{
    model->box[box] = (struct box){ .made = ++model->changes };
}
