/* test/sim/fault.c - what goes wrong, and what must be true of the bytes nevertheless. */
#include "keys/keys.h"
#include "partition/verify.h"
#include "sim.h"

/* ---- interruptions ---- */

/* Another client's whole request, at a moment when the first one has read and not written. */
static void interrupt(void *context)
{
    struct sim *sim = context;
    uint64_t dice = sim_random(sim, 100);

    sim->world.controls.kinds = 0;
    if (sim->world.holds_catalog || sim->world.undisturbed)
        return;
    sim->before = sim->model;
    sim->interrupted = true;
    sim->tally.interruptions++;
    sim->world.depth = 1;
    sim_trace(sim, "  and before that, meanwhile:");
    if (dice < 70 || sim->world.reindexing)
        item_interrupt(sim);
    else if (sim->sweeping)
        box_ttl(sim);
    else if (dice < 80)
        box_clear(sim);
    else if (dice < 96)
        (void)!world_sweep(&sim->world);
    else
        box_drop(sim);
    sim->world.depth = 0;
}

/* ---- arming ---- */

enum { CUT_PERCENT = 6 };

static void arm_interruption(struct sim *sim)
{
    disk_cut_at(sim->world.disk, 0, false); /* one doubt at a time */
    sim->world.controls.instead = interrupt;
    sim->world.controls.context = sim;
    faulty_fail(&sim->world.controls, FAULTY_SNAPSHOT | FAULTY_GET | FAULTY_SCAN, 1 + sim_random(sim, 5));
}

static void arm_failure(struct sim *sim)
{
    static const unsigned kinds[] = { FAULTY_WRITE, FAULTY_WRITE, FAULTY_REMOVE, FAULTY_GET, FAULTY_ANY };

    sim->world.controls.fail_after = sim_chance(sim, 50);
    sim->world.controls.reopen_failures = sim_chance(sim, 50) ? 1 + (int)sim_random(sim, 2) : 0;
    faulty_fail(&sim->world.controls, kinds[sim_random(sim, 5)], 1 + sim_random(sim, 3));
}

/* What holds the catalog's lock is not interrupted: the other one might want it too, on the same thread. */
void fault_arm(struct sim *sim, unsigned interrupted, unsigned fails)
{
    sim->interrupted = false;
    sim->may_fail = !store_is_writable(sim->world.store);
    if (sim_chance(sim, interrupted) && !sim->may_fail)
        arm_interruption(sim);
    else if (sim_chance(sim, fails))
        arm_failure(sim);
    else if (sim_chance(sim, CUT_PERCENT))
        disk_cut_at(sim->world.disk, 1 + sim_random(sim, 3), sim_chance(sim, 50));
}

/* Reopening may go on failing: that is the store's to live with. */
void fault_disarm(struct sim *sim)
{
    struct faulty_controls *controls = &sim->world.controls;

    controls->kinds = 0;
    controls->instead = NULL;
    controls->failed = false;
}

/* ---- answers that leave open what happened ---- */

bool fault_doubts(struct sim *sim, struct exchange *exchange, struct doubt doubt)
{
    const struct faulty_controls *controls = &sim->world.controls;
    bool cut = disk_is_off(sim->world.disk);
    bool refused =
        exchange->answer.status == 503 && (sim->may_fail || (controls->failed && !controls->instead));
    char after[TEXT_MAX];

    if (!cut && !refused)
        return false;
    doubt.promised_not = !cut && world_header_text(exchange, "x-ms-retry-after-ms", after, sizeof(after));
    sim->doubt = doubt;
    sim->tally.refusals += refused;
    return true;
}

/* ---- bytes at rest ---- */

struct kinds {
    size_t documents, document_bytes, ids, unique, attachments, media, rows;
};

/* Adds up what lies in [from, to). */
static void count_kinds(struct sim *sim, struct slice from, struct slice to, struct kinds *kinds)
{
    enum { KIND_AT = 6 };
    struct op *op = &sim->world.op;
    struct scan_limit limit = { .rows = 100000, .bytes = SIZE_MAX };
    struct snapshot *snapshot = NULL;
    struct rows rows = { 0 };
    struct bucket *any;
    enum status st;

    *kinds = (struct kinds){ 0 };
    TRY(store_bucket(op, sim->world.store, 0, &any));
    TRY(store_snapshot(op, any, &snapshot));
    TRY(store_scan(op, snapshot, (struct range){ from, to, false }, limit, &rows));
    for (size_t i = 0; i < rows.count; i++) {
        char kind = rows.row[i].key.data[KIND_AT];

        kinds->documents += kind == 'D';
        kinds->document_bytes += kind == 'D' ? rows.row[i].value.size : 0;
        kinds->ids += kind == 'I';
        kinds->unique += kind == 'U';
        kinds->attachments += kind == 'A';
        kinds->media += kind == 'M';
    }
    kinds->rows = rows.count;
out:
    store_release(snapshot);
    if (st != ST_OK)
        sim_fail(sim, "the rows cannot be counted: %s", op->error);
}

static size_t count_alive(const struct box *box, int64_t now_ms)
{
    size_t count = 0;

    for (int key = 0; key < KEYS; key++)
        for (int id = 0; id < IDS; id++)
            count += model_is_alive(box, &box->item[key][id], now_ms);
    return count;
}

static void check_kinds(struct sim *sim, int which, const struct kinds *kinds)
{
    const struct box *box = &sim->model.box[which];

    if (kinds->documents < count_alive(box, sim_now(sim)) || kinds->ids != kinds->documents ||
        kinds->unique != (box->unique ? kinds->documents : 0))
        sim_fail(sim, "c%d has %zu documents, %zu ids and %zu entries of unique keys", which,
                 kinds->documents, kinds->ids, kinds->unique);
}

static size_t count_files(const struct item *item)
{
    size_t count = 0;

    for (int file = 0; file < FILES; file++)
        count += item->file[file] != 0;
    return count;
}

/* An item that has expired may have been removed, and with it what it had. */
static void check_files(struct sim *sim, int which, const struct kinds *kinds)
{
    const struct box *box = &sim->model.box[which];
    size_t least = 0, most = 0;

    for (int key = 0; key < KEYS; key++)
        for (int id = 0; id < IDS; id++) {
            const struct item *item = &box->item[key][id];

            least += model_is_alive(box, item, sim_now(sim)) ? count_files(item) : 0;
            most += item->exists ? count_files(item) : 0;
        }
    if (kinds->attachments < least || kinds->attachments > most || kinds->media != kinds->attachments)
        sim_fail(sim, "c%d has %zu attachments and %zu media, and should have %zu to %zu", which,
                 kinds->attachments, kinds->media, least, most);
}

static void check_usage(struct sim *sim, int which, const struct bucket *bucket, const struct kinds *kinds)
{
    struct bucket_usage usage;

    if (!bucket_usage(bucket, &usage) || usage.documents != kinds->documents ||
        usage.bytes != kinds->document_bytes)
        sim_fail(sim, "c%d has %zu documents of %zu bytes, and its head counts %llu of %llu", which,
                 kinds->documents, kinds->document_bytes, (unsigned long long)usage.documents,
                 (unsigned long long)usage.bytes);
}

/* Every entry of every document, made again and compared with the index both ways. */
static void check_index(struct sim *sim, int which, const struct container *container)
{
    struct op *op = &sim->world.op;
    struct verify_result result = { 0 };
    struct view view = { 0 };
    enum status st;

    TRY(view_open(op, container->bucket, NULL, &view));
    TRY(verify_index(op, container, &view, &result));
    if (result.missing || result.extra || result.expected != result.found)
        sim_fail(sim, "the index of c%d lacks %d entries and has %d too many", which, (int)result.missing,
                 (int)result.extra);
    sim->tally.entries += result.found;
out:
    view_close(&view);
    if (st != ST_OK)
        sim_fail(sim, "the index of c%d cannot be read: %s", which, op->error);
}

/* How many rows it has; 0 when there is no such container. */
static size_t check_box(struct sim *sim, const struct database *database, int which)
{
    struct arena *arena = &sim->world.op.arena;
    struct kinds kinds = { 0 };
    struct container *container;
    char id[8];

    snprintf(id, sizeof(id), "c%d", which);
    container = catalog_find_container(sim->world.catalog, database, slice_of(id));
    if (container) {
        uint64_t bucket = bucket_id(container->bucket);

        count_kinds(sim, key_bucket_first(arena, bucket), key_bucket_end(arena, bucket), &kinds);
        check_kinds(sim, which, &kinds);
        check_files(sim, which, &kinds);
        check_usage(sim, which, container->bucket, &kinds);
        check_index(sim, which, container);
    }
    container_release(container);
    return kinds.rows;
}

/*
 * Every document has its id's entry and, where values are unique, their entry; and there are no others. Of a
 * dropped container nothing is left: what could not be removed before a restart is removed when it starts.
 */
void fault_check_rows(struct sim *sim)
{
    struct database *database;
    struct kinds all;
    size_t rows = 0;

    if (sim->failed)
        return;
    op_begin(&sim->world.op, INT64_MAX / 2);
    database = catalog_find_database(sim->world.catalog, slice_of("db"));
    for (int box = 0; box < BOXES; box++)
        rows += check_box(sim, database, box);
    database_release(database);
    count_kinds(sim, key_bucket_first(&sim->world.op.arena, 1), slice_of("\xff\xff\xff\xff\xff\xff\xff"),
                &all);
    if (rows != all.rows)
        sim_fail(sim, "%zu rows belong to no container", all.rows - rows);
}
