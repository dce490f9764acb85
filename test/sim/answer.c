/* test/sim/answer.c - from JSON to rows of the model. */
#include <stdlib.h>

#include "sim.h"

const char *const key_texts[KEYS] = { "\"a\"", "\"b\"", "7" };

static bool read_key(struct exchange *exchange, struct json json, int *key)
{
    struct buf text;

    buf_init(&text, &exchange->op.arena);
    if (json_kind(json) == JSON_UNDEFINED)
        return false;
    json_print(&text, json);
    for (*key = 0; *key < KEYS; ++*key)
        if (slice_is(buf_as_slice(&text), key_texts[*key]))
            return true;
    return false;
}

static bool read_text(struct json json, char text[TEXT_MAX])
{
    if (json_kind(json) != JSON_STRING || json_string(json).size >= TEXT_MAX)
        return false;
    snprintf(text, TEXT_MAX, "%.*s", SLICE_ARGS(json_string(json)));
    return true;
}

static bool read_id(struct json json, int *id)
{
    char text[TEXT_MAX];

    if (!read_text(json, text) || text[0] != 'i')
        return false;
    *id = (int)strtol(text + 1, NULL, 10);
    return *id >= 0 && *id < IDS;
}

static bool read_int(struct json json, bool *present, int *number)
{
    *present = json_kind(json) != JSON_UNDEFINED;
    if (*present && (json_kind(json) != JSON_NUMBER || !json_is_int(json)))
        return false;
    *number = *present ? (int)json_int(json) : 0;
    return true;
}

/* Every member is looked at: an answer with one too many is no item of ours. */
bool row_read(struct exchange *exchange, struct json json, struct told *row)
{
    bool has_n, has_ts;
    int ts;

    *row = (struct told){ 0 };
    if (json_kind(json) != JSON_OBJECT || !read_key(exchange, json_get(json, "pk"), &row->key) ||
        !read_id(json_get(json, "id"), &row->id) || !read_int(json_get(json, "n"), &has_n, &row->doc.n) ||
        !read_int(json_get(json, "u"), &row->doc.has_u, &row->doc.u) ||
        !read_int(json_get(json, "ttl"), &row->doc.has_ttl, &row->doc.ttl) ||
        !read_int(json_get(json, "_ts"), &has_ts, &ts) || !read_text(json_get(json, "_etag"), row->etag) ||
        !read_text(json_get(json, "_rid"), row->rid))
        return false;
    row->ts = ts;
    return has_n && has_ts && json_count(json) == 8u + row->doc.has_u + row->doc.has_ttl;
}

bool row_is_item(const struct model *model, int box, const struct told *row, int64_t now_ms)
{
    const struct item *item = &model->box[box].item[row->key][row->id];

    return model_is_alive(&model->box[box], item, now_ms) && doc_equal(&item->doc, &row->doc) &&
           strcmp(item->etag, row->etag) == 0 && strcmp(item->rid, row->rid) == 0 &&
           row->ts == item->ts_ms / 1000;
}

/* An answer's token may be older than one of a request that came between; both must be served. */
void answer_session(struct sim *sim, int box, struct exchange *exchange)
{
    char token[TEXT_MAX];

    if (exchange->answer.status < 300 && sim->model.box[box].exists && !sim->interrupted &&
        world_header_text(exchange, "x-ms-session-token", token, sizeof(token)))
        snprintf(sim->model.box[box].session, TEXT_MAX, "%s", token);
}
