/* test/sim/page.c - lists and queries, a page at a time, with writes between the pages. */
#include "sim.h"

static const char *const kind_names[CURSOR_KINDS] = { "list", "filter", "sorted" };

static bool in_scope(const struct cursor *cursor, int key, const struct doc *doc)
{
    return (cursor->key < 0 || cursor->key == key) &&
           (cursor->kind == CURSOR_LIST || doc->n >= cursor->least);
}

static void begin(struct sim *sim, struct cursor *cursor)
{
    const struct box *box;

    *cursor = (struct cursor){ .active = true,
                               .kind = (enum cursor_kind)sim_random(sim, CURSOR_KINDS),
                               .box = (int)sim_random(sim, BOXES),
                               .key = (int)sim_random(sim, KEYS + 1) - 1,
                               .least = (int)sim_random(sim, 6),
                               .began = sim->model.changes,
                               .last_n = INT32_MIN };
    box = &sim->model.box[cursor->box];
    for (int key = 0; key < KEYS; key++)
        for (int id = 0; id < IDS; id++)
            cursor->was[key][id] = model_is_alive(box, &box->item[key][id], sim_now(sim)) &&
                                   in_scope(cursor, key, &box->item[key][id].doc);
}

static struct exchange *ask(struct sim *sim, const struct cursor *cursor, const char *text, const char *items)
{
    const char *session = sim->model.box[cursor->box].session;
    char path[80], key[32], body[200] = "";
    const struct world_header headers[] = {
        { HEADER_PARTITION_KEY, cursor->key < 0 ? NULL : key },
        { HEADER_MAX_ITEM_COUNT, items },
        { HEADER_CONTINUATION, cursor->continuation[0] ? cursor->continuation : NULL },
        { HEADER_SESSION_TOKEN, session[0] ? session : NULL },
        { HEADER_IS_QUERY, text ? "True" : NULL },
        { HEADER_CROSS_PARTITION, text ? "True" : NULL },
        { HEADER_CONTENT_TYPE, text ? "application/query+json" : NULL },
    };

    box_path(path, sizeof(path), cursor->box, "/docs");
    if (cursor->key >= 0)
        snprintf(key, sizeof(key), "[%s]", key_texts[cursor->key]);
    if (text)
        snprintf(body, sizeof(body), "{\"query\":\"%s\"}", text);
    return world_send(&sim->world, text ? METHOD_POST : METHOD_GET, path, headers, 7, body);
}

static struct exchange *ask_page(struct sim *sim, const struct cursor *cursor, unsigned items)
{
    char count[16], text[100];

    snprintf(count, sizeof(count), "%u", items);
    snprintf(text, sizeof(text), "SELECT * FROM c WHERE c.n >= %d%s", cursor->least,
             cursor->kind == CURSOR_SORTED ? " ORDER BY c.n" : "");
    return ask(sim, cursor, cursor->kind == CURSOR_LIST ? NULL : text, count);
}

/* As it is now or, when the request was interrupted, as it was a moment ago. */
static bool is_known(const struct sim *sim, const struct cursor *cursor, const struct told *row,
                     int64_t now_ms)
{
    return row_is_item(&sim->model, cursor->box, row, now_ms) ||
           (sim->interrupted && row_is_item(&sim->before, cursor->box, row, now_ms));
}

static void take_row(struct sim *sim, struct cursor *cursor, const struct told *row, int64_t now_ms)
{
    const struct item *item = &sim->model.box[cursor->box].item[row->key][row->id];

    if (!is_known(sim, cursor, row, now_ms))
        sim_fail(sim, "a page of c%d has [%s] i%d, which is not there or not so", cursor->box,
                 key_texts[row->key], row->id);
    else if (!in_scope(cursor, row->key, &row->doc))
        sim_fail(sim, "[%s] i%d does not belong into the page", key_texts[row->key], row->id);
    else if (cursor->seen[row->key][row->id] && item->touched <= cursor->began)
        sim_fail(sim, "[%s] i%d comes twice, and did not change", key_texts[row->key], row->id);
    else if (cursor->kind == CURSOR_SORTED && row->doc.n < cursor->last_n)
        sim_fail(sim, "n = %d comes after %d", row->doc.n, cursor->last_n);
    cursor->seen[row->key][row->id] = true;
    cursor->last_n = row->doc.n;
}

static void take_rows(struct sim *sim, struct cursor *cursor, struct exchange *exchange, size_t most)
{
    struct json rows = json_get(world_body(exchange), "Documents");
    struct told row;

    if (json_kind(rows) != JSON_ARRAY || json_count(rows) > most)
        sim_fail(sim, "a page without rows, or with more than were asked for");
    for (struct json_iter i = json_iter(rows); json_next(&i) && !sim->failed;) {
        if (!row_read(exchange, i.value, &row))
            sim_fail(sim, "a page has something that is no item");
        else
            take_row(sim, cursor, &row, exchange->op.now_ms);
    }
}

static void check_complete(struct sim *sim, const struct cursor *cursor)
{
    const struct box *box = &sim->model.box[cursor->box];

    for (int key = 0; key < KEYS; key++)
        for (int id = 0; id < IDS && !sim->failed; id++) {
            const struct item *item = &box->item[key][id];

            if (cursor->was[key][id] && !cursor->seen[key][id] && item->touched <= cursor->began &&
                model_is_alive(box, item, sim_now(sim)))
                sim_fail(sim, "no page of c%d had [%s] i%d, which was there all the time", cursor->box,
                         key_texts[key], id);
        }
}

static void take_page(struct sim *sim, struct cursor *cursor, struct exchange *exchange, size_t most)
{
    take_rows(sim, cursor, exchange, most);
    if (sim->failed)
        return;
    cursor->active =
        world_header_text(exchange, "x-ms-continuation", cursor->continuation, sizeof(cursor->continuation));
    if (!cursor->active)
        check_complete(sim, cursor);
}

/* A container that was dropped takes its cursors with it. */
static bool is_orphan(const struct sim *sim, const struct cursor *cursor)
{
    return sim->model.box[cursor->box].made > cursor->began;
}

void page_act(struct sim *sim)
{
    struct cursor *cursor = &sim->cursor[sim_random(sim, CURSORS)];
    unsigned items = 1 + (unsigned)sim_random(sim, 5);
    struct exchange *exchange;

    if (!cursor->active || is_orphan(sim, cursor))
        begin(sim, cursor);
    exchange = ask_page(sim, cursor, items);
    sim_trace(sim, "%s c%d key %d n >= %d, %u items%s -> %d", kind_names[cursor->kind], cursor->box,
              cursor->key, cursor->least, items, cursor->continuation[0] ? ", goes on" : "",
              exchange->answer.status);
    if (fault_doubts(sim, exchange, (struct doubt){ 0 }))
        return;
    if (!sim->model.box[cursor->box].exists || is_orphan(sim, cursor)) {
        if (exchange->answer.status != 404 && !sim->interrupted)
            sim_fail(sim, "the container does not exist");
        cursor->active = false;
    } else if (exchange->answer.status != 200) {
        sim_fail(sim, "a page was refused");
    } else {
        take_page(sim, cursor, exchange, items);
        answer_session(sim, cursor->box, exchange);
    }
}

static int count_alive(const struct model *model, const struct cursor *scope, int64_t now_ms)
{
    const struct box *box = &model->box[scope->box];
    int count = 0;

    for (int key = 0; key < KEYS; key++)
        for (int id = 0; id < IDS; id++)
            count += model_is_alive(box, &box->item[key][id], now_ms) &&
                     in_scope(scope, key, &box->item[key][id].doc);
    return count;
}

void page_count(struct sim *sim)
{
    struct cursor scope = { .kind = CURSOR_FILTER };
    struct exchange *exchange;
    struct json row;
    char text[100];
    int count;

    begin(sim, &scope);
    scope.kind = CURSOR_FILTER;
    snprintf(text, sizeof(text), "SELECT VALUE COUNT(1) FROM c WHERE c.n >= %d", scope.least);
    exchange = ask(sim, &scope, text, NULL);
    sim_trace(sim, "count c%d key %d n >= %d -> %d", scope.box, scope.key, scope.least,
              exchange->answer.status);
    if (fault_doubts(sim, exchange, (struct doubt){ 0 }) || is_orphan(sim, &scope))
        return;
    row = json_element(json_get(world_body(exchange), "Documents"), 0);
    if (exchange->answer.status != (sim->model.box[scope.box].exists ? 200 : 404))
        sim_fail(sim, "a count was refused, or was not");
    else if (exchange->answer.status == 200) {
        count = json_kind(row) == JSON_NUMBER ? (int)json_int(row) : -1;
        if (count != count_alive(&sim->model, &scope, exchange->op.now_ms) &&
            !(sim->interrupted && count == count_alive(&sim->before, &scope, exchange->op.now_ms)))
            sim_fail(sim, "it counts %d, the model %d", count,
                     count_alive(&sim->model, &scope, exchange->op.now_ms));
    }
}

void page_verify(struct sim *sim, int box)
{
    struct cursor all = {
        .active = true, .kind = CURSOR_LIST, .box = box, .key = -1, .began = sim->model.changes
    };

    if (!sim->model.box[box].exists || sim->failed)
        return;
    for (int key = 0; key < KEYS; key++)
        for (int id = 0; id < IDS; id++)
            all.was[key][id] = true;
    while (all.active && !sim->failed)
        take_page(sim, &all, ask_page(sim, &all, 100), 100);
}
