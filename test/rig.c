/* test/rig.c - the parts below resource/, put together for a test. */
#include <stdlib.h>

#include "catalog/definition.h"
#include "keys/keys.h"
#include "packed/packed.h"
#include "partition/recover.h"
#include "rig.h"

static void keep_open(struct backend *backend)
{
    (void)backend;
}

static void must(struct op *op, enum status st)
{
    if (st == ST_OK)
        return;
    fprintf(stderr, "the rig cannot be built: %s: %s\n", error_row(st)->name, op->error);
    abort();
}

static void open_store(struct rig *rig)
{
    struct packed_options small = {
        .delta_bytes = 90000, .filter_bytes = 4096, .page_bytes = 1 << 18, .merge_runs = 3
    };
    struct store_options options = {
        .sync = true, .threads = rig->threads, .entries = rig->entries, .packed = &small
    };

    must(rig->op,
         store_open_over(rig->op, faulty_backend(rig->memory, &rig->controls), &options, &rig->store));
}

static void open_catalog(struct rig *rig)
{
    must(rig->op, catalog_open(rig->op, rig->store, &rig->catalog));
    must(rig->op, recover_index(rig->op, rig->catalog));
    must(rig->op, ledger_open(rig->op, rig->store, &rig->ledger));
}

void rig_open_with(struct rig *rig, bool threads, enum entries_kept entries)
{
    *rig = (struct rig){ .op = test_op(),
                         .threads = threads,
                         .entries = entries,
                         .memory = memory_backend(),
                         .locks = locks_open() };
    rig->kept = *rig->memory->ops;
    rig->close_memory = rig->kept.close;
    rig->kept.close = keep_open;
    rig->memory->ops = &rig->kept;
    open_store(rig);
    open_catalog(rig);
}

void rig_open(struct rig *rig, bool threads)
{
    rig_open_with(rig, threads, ENTRIES_PLAIN);
}

static void close_chores(struct rig *rig)
{
    sweep_close(rig->sweep);
    reindex_close(rig->reindex);
    trim_close(rig->trim);
    rig->sweep = NULL;
    rig->reindex = NULL;
    rig->trim = NULL;
}

static void close_all(struct rig *rig)
{
    while (rig->made_count)
        container_release(rig->made[--rig->made_count]);
    database_release(rig->database);
    rig->database = NULL;
    close_chores(rig);
    ledger_close(rig->ledger);
    rig->ledger = NULL;
    catalog_close(rig->catalog);
    rig->catalog = NULL;
    store_close(rig->store);
}

void rig_close(struct rig *rig)
{
    close_all(rig);
    locks_close(rig->locks);
    rig->close_memory(rig->memory);
}

void rig_reopen_store(struct rig *rig)
{
    close_all(rig);
    open_store(rig);
}

void rig_reopen(struct rig *rig)
{
    rig_reopen_store(rig);
    open_catalog(rig);
}

static enum status fail_to_begin(struct op *op, struct run_space *space, struct run_writer **writer)
{
    (void)space, (void)writer;
    return op_fail(op, ST_UNAVAILABLE, "made to fail: run begin");
}

/* No run can be written any more: what is in memory only stays there when the store is closed. */
void rig_crash(struct rig *rig)
{
    const struct run_space_ops *sound = rig->memory->runs->ops;
    struct run_space_ops broken = *sound;

    broken.begin = fail_to_begin;
    rig->memory->runs->ops = &broken;
    close_all(rig);
    rig->memory->runs->ops = sound;
    open_store(rig);
    open_catalog(rig);
}

static struct container *keep(struct rig *rig, struct container *container)
{
    if (rig->made_count == RIG_CONTAINERS_MAX)
        abort();
    return rig->made[rig->made_count++] = container;
}

struct container *rig_redefine(struct rig *rig, struct container *old, const char *definition)
{
    struct container *container;
    struct json defined;

    must(rig->op, container_define(rig->op, rig_json(rig->op, definition),
                                   (struct define_options){ .is_old = true }, &defined));
    must(rig->op, catalog_replace_container(rig->op, rig->catalog, old, defined, &container));
    return keep(rig, container);
}

enum status rig_sweep(struct rig *rig, uint64_t *removed)
{
    if (!rig->sweep)
        rig->sweep = sweep_open(rig->catalog);
    return sweep_expired(rig->op, rig->sweep, removed);
}

enum status rig_reindex(struct rig *rig)
{
    if (!rig->reindex)
        rig->reindex = reindex_open(rig->catalog);
    return reindex_items(rig->op, rig->reindex);
}

enum status rig_trim(struct rig *rig, int64_t retention_ms)
{
    if (!rig->trim)
        rig->trim = trim_open(rig->catalog);
    return trim_logs(rig->op, rig->trim, retention_ms);
}

void rig_advance_ms(struct rig *rig, int64_t ms)
{
    env_advance_ms(rig->op->env, ms);
    rig->op->now_ms = env_now_ms(rig->op->env);
}

struct container *rig_container(struct rig *rig, const char *definition)
{
    struct json defined;
    struct container *container;

    if (!rig->database)
        rig->database = catalog_find_database(rig->catalog, slice_of("db"));
    if (!rig->database)
        must(rig->op, catalog_create_database(rig->op, rig->catalog, slice_of("db"), &rig->database));
    must(rig->op, container_define(rig->op, rig_json(rig->op, definition),
                                   (struct define_options){ .is_old = true }, &defined));
    must(rig->op, catalog_create_container(rig->op, rig->catalog, rig->database, defined, 1, &container));
    return keep(rig, container);
}

struct slice rig_quoted(struct op *op, const char *text)
{
    char *copy = arena_text(&op->arena, slice_of(text));

    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return slice_of(copy);
}

struct json rig_json(struct op *op, const char *text)
{
    struct json value;

    must(op, json_parse(op, rig_quoted(op, text), &value));
    return value;
}

size_t rig_rows(struct rig *rig, uint64_t bucket)
{
    struct range range = { key_bucket_first(&rig->op->arena, bucket), key_bucket_end(&rig->op->arena, bucket),
                           false };
    struct scan_limit limit = { .rows = 1000000, .bytes = SIZE_MAX };
    struct snapshot *snapshot = NULL;
    struct bucket *any;
    struct rows rows;

    must(rig->op, store_bucket(rig->op, rig->store, 0, &any));
    must(rig->op, store_snapshot(rig->op, any, &snapshot));
    must(rig->op, store_scan(rig->op, snapshot, range, limit, &rows));
    store_release(snapshot);
    return rows.count;
}

struct slice rig_header(struct op *op, const struct answer *answer, const char *name)
{
    char *head = arena_text(&op->arena, buf_as_slice(&answer->head)), *line, *end;
    size_t size = strlen(name);

    for (line = head; *line && (end = strstr(line, "\r\n")); line = end + 2)
        if (strncmp(line, name, size) == 0 && line[size] == ':')
            return slice_make(line + size + 2, (size_t)(end - line) - size - 2);
    return (struct slice){ 0 };
}

/* Takes the first line off; its name, and data NULL when it is no line. */
static struct slice next_name(struct slice *head)
{
    const char *end = memmem(head->data, head->size, "\r\n", 2);
    const char *colon = end ? memchr(head->data, ':', (size_t)(end - head->data)) : NULL;
    struct slice name = { 0 };

    if (colon)
        name = slice_make(head->data, (size_t)(colon - head->data));
    *head = slice_after(*head, end ? (size_t)(end - head->data) + 2 : head->size);
    return name;
}

void rig_check_head(const struct answer *answer)
{
    struct slice head = buf_as_slice(&answer->head);

    if (answer->head.failed) /* http/ sends another */
        return;
    while (head.size) {
        struct slice name = next_name(&head);

        if (!name.data)
            test_failed(__FILE__, __LINE__, "a head of whole lines");
        for (struct slice left = head; left.size;)
            if (slice_equal(next_name(&left), name))
                test_failed(__FILE__, __LINE__, "a head without two headers of one name");
    }
}

struct json rig_body(struct op *op, const struct answer *answer)
{
    struct json body = json_undefined;

    if (json_parse(op, buf_as_slice(&answer->body), &body) != ST_OK)
        test_failed(__FILE__, __LINE__, "the body is no JSON");
    return body;
}
