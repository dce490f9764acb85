/* test/sim/file.c - attachments of items: put, read, deleted, and compared with the model. */
#include "sim.h"

static const char *const kind_names[FILE_KINDS] = { "put", "read", "delete" };

/* ---- sending ---- */

static struct errand random_errand(struct sim *sim)
{
    static const enum file_kind kinds[] = { FILE_PUT, FILE_PUT, FILE_READ, FILE_DELETE };
    struct errand errand = { .kind = kinds[sim_random(sim, 4)],
                             .box = sim->last.box,
                             .key = sim->last.key,
                             .id = sim->last.to,
                             .file = (int)sim_random(sim, FILES),
                             .content = (int)(sim->traced % 100000) + 1 };

    if (sim_chance(sim, 50)) { /* else of the item that was asked for last */
        errand.box = (int)sim_random(sim, BOXES);
        errand.key = (int)sim_random(sim, KEYS);
        errand.id = (int)sim_random(sim, IDS);
    }
    return errand;
}

/* What is put stands in the media, and in their type too, which the attachment tells by itself. */
static struct exchange *send_errand(struct sim *sim, const struct errand *errand)
{
    static const enum method methods[FILE_KINDS] = { METHOD_POST, METHOD_GET, METHOD_DELETE };
    bool puts = errand->kind == FILE_PUT;
    char path[80], rest[48], key[32], name[8], type[24], content[16];
    const struct world_header headers[] = {
        { HEADER_PARTITION_KEY, key },
        { HEADER_IS_UPSERT, puts ? "True" : NULL },
        { HEADER_SLUG, puts ? name : NULL },
        { HEADER_CONTENT_TYPE, puts ? type : NULL },
    };

    snprintf(name, sizeof(name), "f%d", errand->file);
    snprintf(content, sizeof(content), "%d", errand->content);
    snprintf(type, sizeof(type), "text/%s", content);
    snprintf(key, sizeof(key), "[%s]", key_texts[errand->key]);
    snprintf(rest, sizeof(rest), "/docs/i%d/attachments%s%s", errand->id, puts ? "" : "/", puts ? "" : name);
    box_path(path, sizeof(path), errand->box, rest);
    return world_send(&sim->world, methods[errand->kind], path, headers, 4, puts ? content : "");
}

/* ---- comparing ---- */

static bool member_is(struct json body, const char *name, const char *text)
{
    struct json member = json_get(body, name);

    return json_kind(member) == JSON_STRING && slice_is(json_string(member), text);
}

static bool holds(struct exchange *exchange, int file, int content)
{
    struct json body = world_body(exchange);
    char name[8], type[24];

    snprintf(name, sizeof(name), "f%d", file);
    snprintf(type, sizeof(type), "text/%d", content);
    return member_is(body, "id", name) && member_is(body, "contentType", type);
}

static bool fits(const struct model *model, const struct errand *errand, const struct outcome *outcome,
                 struct exchange *exchange)
{
    int kept = model->box[errand->box].item[errand->key][errand->id].file[errand->file];

    if (exchange->answer.status != outcome->status)
        return false;
    if (outcome->status >= 300 || errand->kind == FILE_DELETE)
        return true;
    return holds(exchange, errand->file, errand->kind == FILE_PUT ? errand->content : kept);
}

/* As for items: after the one that came between, or before it when nothing was written or its container went. */
static void compare(struct sim *sim, const struct errand *errand, struct exchange *exchange)
{
    int64_t now_ms = exchange->op.now_ms;
    struct outcome outcome = model_predict_file(&sim->model, errand, now_ms), earlier;

    if (fits(&sim->model, errand, &outcome, exchange)) {
        if (outcome.writes)
            model_apply_file(&sim->model, errand);
        return;
    }
    if (sim->interrupted) {
        earlier = model_predict_file(&sim->before, errand, now_ms);
        if ((!earlier.writes || sim->before.box[errand->box].made != sim->model.box[errand->box].made) &&
            fits(&sim->before, errand, &earlier, exchange))
            return;
    }
    sim_fail(sim, "the model says %d of an attachment, the server %d", outcome.status,
             exchange->answer.status);
}

void file_act(struct sim *sim)
{
    struct errand errand = random_errand(sim);
    struct doubt doubt = { .about = DOUBT_FILE, .errand = errand, .now_ms = sim_now(sim) };
    struct plan locked = { .box = errand.box, .key = errand.key, .id = errand.id, .to = errand.id };
    struct exchange *exchange;

    sim->outer = &locked;
    exchange = send_errand(sim, &errand);
    sim->outer = NULL;
    sim_trace(sim, "%s file %d of c%d [%s] i%d: %d -> %d", kind_names[errand.kind], errand.file, errand.box,
              key_texts[errand.key], errand.id, errand.content, exchange->answer.status);
    if (fault_doubts(sim, exchange, doubt))
        return;
    compare(sim, &errand, exchange);
    answer_session(sim, errand.box, exchange);
}

/* ---- learning ---- */

/* /media/... is told by the attachment, and its bytes are what was put last. */
static void verify_media(struct sim *sim, struct json attachment, int content)
{
    struct json link = json_get(attachment, "media");
    char path[TEXT_MAX], text[16];
    struct exchange *exchange;

    if (json_kind(link) != JSON_STRING || json_string(link).size >= sizeof(path)) {
        sim_fail(sim, "an attachment does not tell where its media are");
        return;
    }
    snprintf(path, sizeof(path), "%.*s", SLICE_ARGS(json_string(link)));
    snprintf(text, sizeof(text), "%d", content);
    exchange = world_send(&sim->world, METHOD_GET, path, NULL, 0, "");
    if (exchange->answer.status != 200 || !slice_is(buf_as_slice(&exchange->answer.body), text))
        sim_fail(sim, "media are not what was put: %d", exchange->answer.status);
}

void file_verify(struct sim *sim, int box, int key, int id)
{
    for (int file = 0; file < FILES && !sim->failed; file++) {
        struct errand errand = { .kind = FILE_READ, .box = box, .key = key, .id = id, .file = file };
        struct exchange *exchange = send_errand(sim, &errand);

        compare(sim, &errand, exchange);
        if (exchange->answer.status == 200)
            verify_media(sim, world_body(exchange), sim->model.box[box].item[key][id].file[file]);
        if (sim->failed)
            sim_trace(sim, "looked at file %d of c%d [%s] i%d", file, box, key_texts[key], id);
    }
}

static bool took_place(struct sim *sim, const struct errand *errand)
{
    struct errand look = *errand;
    struct exchange *exchange;

    look.kind = FILE_READ;
    exchange = send_errand(sim, &look);
    if (errand->kind == FILE_DELETE)
        return exchange->answer.status == 404;
    return exchange->answer.status == 200 && holds(exchange, errand->file, errand->content);
}

void file_settle(struct sim *sim, const struct doubt *doubt)
{
    const struct errand *errand = &doubt->errand;
    struct outcome outcome = model_predict_file(&sim->model, errand, doubt->now_ms);

    if (outcome.writes && !took_place(sim, errand)) {
        sim->tally.did_not++;
    } else if (outcome.writes) {
        sim_trace(sim, "it took place");
        sim->tally.took_place++;
        model_apply_file(&sim->model, errand);
        if (doubt->promised_not)
            sim_fail(sim, "an attachment was written that was answered as one that was not");
    }
    file_verify(sim, errand->box, errand->key, errand->id);
}
