/* src/main/snapshots.c - making, listing, removing and restoring snapshots of the account. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/encode.h"
#include "base/heap.h"
#include "base/limits.h"
#include "base/log.h"
#include "catalog/carry.h"
#include "main/copy.h"
#include "main/engine_private.h"
#include "store/folder.h"

enum { SNAPSHOT_NAME_MAX = 64, SNAPSHOT_FILE_MAX = 4096, OWN_TIMEOUT_MS = 3600 * 1000 };

/* What is known of one. Texts lie in the op's arena, or in the mark. */
struct snapshot_info {
    struct slice name;
    struct slice database; /* the one that it is of; no data: the account */
    int64_t ts_ms;
};

/* In memory: a mark of the store, or for one database a store of its own that has nothing else. */
struct snapshot_mark {
    struct snapshot_mark *next;
    struct store_mark *mark;
    struct opened copy;
    char *name, *database; /* no database: of the account */
    int64_t ts_ms;
};

static enum status check_name(struct op *op, struct slice name)
{
    bool good = name.size > 0 && name.size <= SNAPSHOT_NAME_MAX && name.data[0] != '.';

    for (size_t i = 0; good && i < name.size; i++)
        good = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", name.data[i]) &&
               name.data[i];
    return good
               ? ST_OK
               : op_fail(op, ST_BAD_REQUEST,
                         "The name of a snapshot has 1 to %d letters, digits, dots, hyphens and underscores, "
                         "and begins with no dot.",
                         SNAPSHOT_NAME_MAX);
}

static enum status missing(struct op *op, struct slice name)
{
    return op_fail(op, ST_NOT_FOUND, "There is no snapshot named '%.*s'.", SLICE_ARGS(name));
}

static enum status exists(struct op *op, struct slice name)
{
    return op_fail(op, ST_EXISTS, "There is a snapshot named '%.*s' already: delete it first.",
                   SLICE_ARGS(name));
}

/*
 * Opening a store takes what memory and time it takes, not those of a request. Its own operation is begun for that, and the
 * request's is told how it ended.
 */
static void begin_own(struct op *own, const struct op *op)
{
    op_init(own, op->env, SIZE_MAX);
    op_begin(own, OWN_TIMEOUT_MS);
    own->may_block = true;
}

static enum status end_own(struct op *own, struct op *op, enum status st)
{
    if (st != ST_OK)
        st = op_fail(op, st, "%s", own->error ? own->error : error_row(st)->code);
    op_free(own);
    return st;
}

static struct opened_with opened_with(struct engine *engine, const char *folder)
{
    return (
        struct opened_with){ .settings = engine->settings, .account = &engine->account, .folder = folder };
}

/* In `to`, whose requests nobody serves meanwhile, the database becomes what it is in `from`. */
static enum status replace_database(struct op *op, struct engine *engine, const struct opened *from,
                                    const struct opened *to, struct slice database)
{
    struct slice path = inside_path(op, slice_of(""), "dbs", database);
    struct service from_service, to_service;
    struct inside source, target;
    struct copied copied;
    enum status st;

    engine_describe(engine, from, &from_service);
    engine_describe(engine, to, &to_service);
    inside_open(&source, &from_service, &engine->account);
    inside_open(&target, &to_service, &engine->account);
    (void)inside_ask(&target,
                     &(struct asked){ .method = METHOD_DELETE, .target = path }); /* or it is not there */
    st = copy_database(op, &source, database, &target, database, &copied);
    inside_close(&source);
    inside_close(&target);
    return st;
}

/* ---- in memory ---- */

static struct snapshot_mark **find_mark(struct engine *engine, struct slice name)
{
    struct snapshot_mark **at = &engine->snapshots.marks;

    while (*at && !slice_equal(slice_of((*at)->name), name))
        at = &(*at)->next;
    return at;
}

/* With the gate closed, so that it is of one moment. */
static enum status copy_out(struct op *op, struct engine *engine, struct slice database, struct opened *copy)
{
    const struct opened_with with = opened_with(engine, NULL);
    enum status st;

    TRY(opened_open(op, &with, copy));
    gate_close(&engine->gate);
    st = replace_database(op, engine, &engine->opened, copy, database);
    gate_open(&engine->gate);
    if (st != ST_OK)
        opened_close(copy);
out:
    return st;
}

static enum status make_mark(struct op *op, struct engine *engine, const struct snapshot_info *info)
{
    struct snapshot_mark made = { .next = engine->snapshots.marks, .ts_ms = info->ts_ms }, *mark;
    enum status st;

    if (*find_mark(engine, info->name))
        TRY(exists(op, info->name));
    TRY(info->database.data ? copy_out(op, engine, info->database, &made.copy)
                            : store_mark(op, engine->opened.store, &made.mark));
    made.name = heap_text(arena_text(&op->arena, info->name));
    made.database = info->database.data ? heap_text(arena_text(&op->arena, info->database)) : NULL;
    mark = heap_allocate(sizeof(*mark));
    *mark = made;
    engine->snapshots.marks = mark;
out:
    return st;
}

static void free_mark(struct engine *engine, struct snapshot_mark **at)
{
    struct snapshot_mark *mark = *at;

    *at = mark->next;
    store_unmark(engine->opened.store, mark->mark);
    opened_close(&mark->copy);
    free(mark->name);
    free(mark->database);
    free(mark);
}

/*
 * With the gate closed. Everything here is in memory, so it fails only if memory does, and then there is nothing left to serve
 * from.
 */
static void rewind_memory(struct op *op, struct engine *engine, const struct store_mark *mark)
{
    const struct opened_with with = opened_with(engine, NULL);
    struct carried carried;
    struct store *store;
    struct opened fresh;
    enum status st;

    carry_take(op, engine->opened.catalog, &carried);
    store = opened_let_go(&engine->opened);
    TRY(store_rewind(op, store, mark));
    TRY(opened_open_over(op, &with, store, &fresh));
    engine_use(engine, &fresh);
    TRY(carry_give(op, fresh.catalog, &carried));
out:
    if (st != ST_OK) {
        log_line(LOG_ERROR, "the store in memory cannot be restored: %s",
                 op->error ? op->error : error_row(st)->code);
        abort();
    }
}

/* With the gate closed. What fails midway is taken back, so this takes place whole or not at all. */
static enum status copy_in(struct op *op, struct engine *engine, const struct snapshot_mark *mark)
{
    struct store_mark *before = NULL;
    enum status st;

    TRY(store_mark(op, engine->opened.store, &before));
    st = replace_database(op, engine, &mark->copy, &engine->opened, slice_of(mark->database));
    if (st != ST_OK)
        rewind_memory(op, engine, before);
    store_unmark(engine->opened.store, before);
out:
    return st;
}

static enum status restore_mark(struct op *op, struct engine *engine, struct slice name)
{
    struct snapshot_mark *mark = *find_mark(engine, name);
    enum status st = ST_OK;
    struct op own;

    if (!mark)
        return missing(op, name);
    begin_own(&own, op);
    gate_close(&engine->gate);
    if (mark->database)
        st = copy_in(&own, engine, mark);
    else
        rewind_memory(&own, engine, mark->mark);
    gate_open(&engine->gate);
    return end_own(&own, op, st);
}

/* ---- on disk ---- */

static const char *snapshots_folder(struct op *op, const struct engine *engine)
{
    return directory_inside(op, engine->directory.path, "snapshots");
}

static const char *snapshot_folder(struct op *op, const struct engine *engine, struct slice name)
{
    return directory_inside(op, snapshots_folder(op, engine), arena_text(&op->arena, name));
}

/* SNAPSHOT goes first: what has none is no snapshot. */
static void remove_folder(struct op *op, const char *folder)
{
    unlink(directory_inside(op, folder, "SNAPSHOT"));
    folder_remove(directory_inside(op, folder, "store"));
    folder_remove(directory_inside(op, folder, "store.tmp"));
    folder_remove(folder);
}

static enum status write_info(struct op *op, const char *folder, const struct snapshot_info *info)
{
    const char *file = directory_inside(op, folder, "SNAPSHOT");
    struct buf text;
    bool written;
    FILE *out;

    buf_init(&text, &op->arena);
    buf_printf(&text, "{\"format\":%d,\"time\":%lld", DIRECTORY_FORMAT, (long long)info->ts_ms);
    if (info->database.data) {
        buf_text(&text, ",\"database\":");
        json_print_string(&text, info->database);
    }
    buf_text(&text, "}\n");
    out = fopen(directory_inside(op, folder, "SNAPSHOT.new"), "w");
    written = out && fwrite(text.data, 1, text.size, out) == text.size && fflush(out) == 0 &&
              fsync(fileno(out)) == 0;
    if (out)
        written &= fclose(out) == 0;
    if (written && rename(directory_inside(op, folder, "SNAPSHOT.new"), file) == 0 &&
        directory_sync(folder) && directory_sync_parent(folder))
        return ST_OK;
    return op_fail(op, ST_UNAVAILABLE, "cannot write %s: %s", file, strerror(errno));
}

/* ST_NOT_FOUND: there is no such snapshot. */
static enum status read_info(struct op *op, const struct engine *engine, struct slice name,
                             struct snapshot_info *info)
{
    const char *file = directory_inside(op, snapshot_folder(op, engine, name), "SNAPSHOT");
    FILE *in = fopen(file, "r");
    char text[SNAPSHOT_FILE_MAX];
    struct json parsed;
    size_t size;

    if (!in)
        return missing(op, name);
    size = fread(text, 1, sizeof(text), in);
    fclose(in);
    if (json_parse(op, slice_make(arena_text(&op->arena, slice_make(text, size)), size), &parsed) != ST_OK ||
        json_kind(json_get(parsed, "format")) != JSON_NUMBER ||
        json_kind(json_get(parsed, "time")) != JSON_NUMBER)
        return op_fail(op, ST_CORRUPT, "%s is damaged", file);
    info->ts_ms = (int64_t)json_double(json_get(parsed, "time"));
    if (json_double(json_get(parsed, "format")) != DIRECTORY_FORMAT)
        return op_fail(op, ST_BAD_REQUEST,
                       "The snapshot '%.*s' is of format %d, and this server has format %d: make it anew.",
                       SLICE_ARGS(name), (int)json_double(json_get(parsed, "format")), DIRECTORY_FORMAT);
    info->name = name;
    info->database = (struct slice){ 0 };
    if (json_kind(json_get(parsed, "database")) == JSON_STRING)
        info->database = json_string(json_get(parsed, "database"));
    return ST_OK;
}

/* Opened once and closed, the copy has its log in its files: the work is done here, and not at each restore. */
static enum status settle_copy(struct op *op, struct engine *engine, const char *store)
{
    const struct opened_with with = opened_with(engine, store);
    struct opened opened;
    enum status st;

    TRY(opened_open(op, &with, &opened));
    opened_close(&opened);
out:
    return st;
}

static enum status make_folder(struct op *op, struct engine *engine, const struct snapshot_info *info)
{
    const char *above = snapshots_folder(op, engine), *folder = snapshot_folder(op, engine, info->name);
    const char *store = directory_inside(op, folder, "store");
    struct snapshot_info there;
    enum status st;

    if (read_info(op, engine, info->name, &there) != ST_NOT_FOUND)
        return exists(op, info->name);
    if ((mkdir(above, 0700) != 0 && errno != EEXIST) || mkdir(folder, 0700) != 0)
        return op_fail(op, ST_UNAVAILABLE, "cannot make %s: %s", folder, strerror(errno));
    TRY(store_backup(op, engine->opened.store, store));
    TRY(settle_copy(op, engine, store));
    TRY(write_info(op, folder, info));
out:
    if (st != ST_OK)
        remove_folder(op, folder);
    return st;
}

/* A name for the next store. The folder of one that was removed may come again. */
static const char *next_store(struct op *op, const struct engine *engine)
{
    char name[32];

    for (unsigned number = 1;; number++) {
        const char *path;

        snprintf(name, sizeof(name), "store.%u", number);
        path = directory_inside(op, engine->directory.path, name);
        if (access(path, F_OK) != 0 && errno == ENOENT)
            return path;
    }
}

/* With the gate closed: the moment of the restore is in directory_switch(). */
static enum status take_up(struct op *op, struct engine *engine, struct opened *fresh, const char *store)
{
    struct carried carried;
    enum status st;

    carry_take(op, engine->opened.catalog, &carried);
    TRY(carry_give(op, fresh->catalog, &carried));
    TRY(directory_switch(op, &engine->directory, store));
    engine_use(engine, fresh);
out:
    return st;
}

/* What a restore makes beside the store in use. Texts are the heap's. */
struct beside {
    char *folder;
    struct opened opened;
};

static void remove_beside(struct beside *beside)
{
    opened_abandon(&beside->opened);
    if (beside->folder)
        folder_remove(beside->folder);
    free(beside->folder);
}

static enum status open_beside(struct op *op, struct engine *engine, struct beside *beside)
{
    const struct opened_with with = opened_with(engine, beside->folder);

    return opened_open(op, &with, &beside->opened);
}

/* The snapshot's store as it was, in a folder of its own: opening one writes to it. */
static enum status open_linked(struct op *op, struct engine *engine, struct slice name, struct beside *beside)
{
    const char *from = directory_inside(op, snapshot_folder(op, engine, name), "store");

    beside->folder = heap_text(next_store(op, engine));
    if (!folder_link(from, beside->folder, ".sst"))
        return op_fail(op, ST_UNAVAILABLE, "cannot make %s: %s", beside->folder, strerror(errno));
    return open_beside(op, engine, beside);
}

/* With the gate closed: what is in use and what was made change places. The caller removes what `beside` has then. */
static enum status change_places(struct op *op, struct engine *engine, struct beside *beside)
{
    struct beside old = { engine->snapshots.folder, engine->opened };
    enum status st;

    if (!old.folder)
        old.folder = heap_text(engine->directory.store);
    st = take_up(op, engine, &beside->opened, beside->folder);
    if (st == ST_OK) {
        engine->snapshots.folder = beside->folder;
        *beside = old;
    } else if (old.folder != engine->snapshots.folder) {
        free(old.folder);
    }
    return st;
}

static enum status restore_account(struct op *op, struct engine *engine, struct slice name)
{
    struct beside beside = { 0 };
    enum status st;

    TRY(open_linked(op, engine, name, &beside));
    gate_close(&engine->gate);
    st = change_places(op, engine, &beside);
    gate_open(&engine->gate);
out:
    remove_beside(&beside);
    return st;
}

/* ---- of one database ---- */

static enum status copy_and_replace(struct op *op, struct engine *engine, const struct beside *snapshot,
                                    struct beside *copy, struct slice database)
{
    enum status st;

    copy->folder = heap_text(next_store(op, engine));
    TRY(store_backup(op, engine->opened.store, copy->folder));
    TRY(open_beside(op, engine, copy));
    TRY(replace_database(op, engine, &snapshot->opened, &copy->opened, database));
    TRY(change_places(op, engine, copy));
out:
    return st;
}

/* Nobody writes from the copy of the store to its being taken up, so the gate is closed for all of it. */
static enum status restore_database(struct op *op, struct engine *engine, const struct snapshot_info *info)
{
    struct beside snapshot = { 0 }, copy = { 0 };
    enum status st;

    TRY(open_linked(op, engine, info->name, &snapshot));
    gate_close(&engine->gate);
    st = copy_and_replace(op, engine, &snapshot, &copy, info->database);
    gate_open(&engine->gate);
out:
    remove_beside(&copy);
    remove_beside(&snapshot);
    return st;
}

static enum status restore_folder(struct op *op, struct engine *engine, struct slice name)
{
    struct snapshot_info info;
    struct op own;
    enum status st;

    TRY(read_info(op, engine, name, &info));
    begin_own(&own, op);
    st = info.database.data ? restore_database(&own, engine, &info) : restore_account(&own, engine, name);
    st = end_own(&own, op, st);
out:
    return st;
}

/* ---- what the router calls ---- */

static void lock(struct engine *engine)
{
    pthread_mutex_lock(&engine->changing);
}

static void unlock(struct engine *engine)
{
    pthread_mutex_unlock(&engine->changing);
}

static void print_info(struct op *op, const struct snapshot_info *info, struct buf *out)
{
    (void)op;
    buf_text(out, "{\"name\":");
    json_print_string(out, info->name);
    if (info->database.data) {
        buf_text(out, ",\"database\":");
        json_print_string(out, info->database);
    }
    buf_printf(out, ",\"_ts\":%lld}", (long long)(info->ts_ms / 1000));
}

/* Of a database that is there. */
static enum status check_database(struct op *op, struct engine *engine, struct slice id)
{
    struct database *database;

    if (!id.data)
        return ST_OK;
    database = catalog_find_database(engine->opened.catalog, id);
    if (!database || !slice_equal(database->id, id)) {
        database_release(database);
        return op_fail(op, ST_NOT_FOUND, "There is no database '%.*s'.", id.size > 255 ? 255 : (int)id.size,
                       id.data);
    }
    database_release(database);
    return ST_OK;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static size_t count_snapshots(struct op *op, const struct engine *engine)
{
    DIR *folder = engine->has_directory ? opendir(snapshots_folder(op, engine)) : NULL;
    size_t count = 0;

    for (const struct snapshot_mark *mark = engine->snapshots.marks; mark; mark = mark->next)
        count++;
    for (struct dirent *entry = NULL; folder && (entry = readdir(folder));)
        count += is_visible(entry) != 0;
    if (folder)
        closedir(folder);
    return count;
}

static enum status make_either(struct op *op, struct engine *engine, const struct snapshot_info *info)
{
    enum status st;

    if (settings_in_postgres(engine->settings))
        TRY(op_fail(op, ST_NOT_BUILT, "There are no snapshots of data in PostgreSQL."));
    if (count_snapshots(op, engine) >= SNAPSHOTS_MAX)
        TRY(op_fail(op, ST_FORBIDDEN, "There may be %d snapshots: delete one first.", SNAPSHOTS_MAX));
    TRY(check_database(op, engine, info->database));
    TRY(engine->has_directory ? make_folder(op, engine, info) : make_mark(op, engine, info));
out:
    return st;
}

static enum status create(void *context, struct op *op, struct slice name, struct slice database,
                          struct buf *out)
{
    struct engine *engine = context;
    struct snapshot_info info = { .name = name, .database = database, .ts_ms = op->now_ms };
    struct op own;
    enum status st;

    TRY(check_name(op, name));
    begin_own(&own, op);
    lock(engine);
    st = make_either(&own, engine, &info);
    unlock(engine);
    TRY(end_own(&own, op, st));
    print_info(op, &info, out);
out:
    return st;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void print_folders(struct op *op, struct engine *engine, struct buf *out)
{
    struct dirent **list;
    int count = scandir(snapshots_folder(op, engine), &list, is_visible, by_name), shown = 0;

    for (int i = 0; i < count; i++) {
        struct snapshot_info info;

        if (read_info(op, engine, slice_of(list[i]->d_name), &info) == ST_OK) {
            buf_text(out, shown++ ? "," : "");
            print_info(op, &info, out);
        }
        free(list[i]);
    }
    if (count >= 0)
        free(list);
    op->error = NULL; /* what cannot be read is not there */
    buf_printf(out, "],\"_count\":%d}", shown);
}

static void print_marks(struct op *op, struct engine *engine, struct buf *out)
{
    int shown = 0;

    for (const struct snapshot_mark *mark = engine->snapshots.marks; mark; mark = mark->next) {
        buf_text(out, shown++ ? "," : "");
        print_info(op,
                   &(struct snapshot_info){ .name = slice_of(mark->name),
                                            .database = mark->database ? slice_of(mark->database)
                                                                       : (struct slice){ 0 },
                                            .ts_ms = mark->ts_ms },
                   out);
    }
    buf_printf(out, "],\"_count\":%d}", shown);
}

static enum status list(void *context, struct op *op, struct buf *out)
{
    struct engine *engine = context;

    buf_text(out, "{\"snapshots\":[");
    lock(engine);
    if (engine->has_directory)
        print_folders(op, engine, out);
    else
        print_marks(op, engine, out);
    unlock(engine);
    return ST_OK;
}

static enum status drop(void *context, struct op *op, struct slice name)
{
    struct engine *engine = context;
    struct snapshot_info info;
    enum status st = check_name(op, name);

    if (st != ST_OK)
        return st;
    lock(engine);
    if (engine->has_directory)
        st = read_info(op, engine, name, &info) == ST_NOT_FOUND ? missing(op, name) : ST_OK;
    else
        st = *find_mark(engine, name) ? ST_OK : missing(op, name);
    if (st == ST_OK && engine->has_directory)
        remove_folder(op, snapshot_folder(op, engine, name));
    else if (st == ST_OK)
        free_mark(engine, find_mark(engine, name));
    unlock(engine);
    return st;
}

static enum status restore(void *context, struct op *op, struct slice name)
{
    struct engine *engine = context;
    enum status st;

    TRY(check_name(op, name));
    lock(engine);
    st = engine->has_directory ? restore_folder(op, engine, name) : restore_mark(op, engine, name);
    unlock(engine);
out:
    return st;
}

/* ---- copies ---- */

/* dbs/D to D */
static enum status database_id(struct op *op, struct slice link, struct slice *id)
{
    *id = slice_starts_with(link, "dbs/") ? slice_after(link, 4) : (struct slice){ 0 };
    if (id->size && !memchr(id->data, '/', id->size))
        return ST_OK;
    return op_fail(op, ST_BAD_REQUEST, "A database is named like dbs/D.");
}

static void print_copied(struct buf *out, const struct copied *copied)
{
    buf_printf(out, "{\"containers\":%zu,\"items\":%zu}", copied->containers, copied->items);
}

/* The store stays what it is meanwhile, because a restore waits for the lock. */
static enum status copy(void *context, struct op *op, struct slice from, struct slice to, struct buf *out)
{
    struct engine *engine = context;
    struct slice from_id, to_id;
    struct copied copied;
    struct inside inside;
    struct op own;
    enum status st;

    TRY(database_id(op, from, &from_id));
    TRY(database_id(op, to, &to_id));
    begin_own(&own, op);
    lock(engine);
    inside_open(&inside, &engine->service, &engine->account);
    st = copy_database(&own, &inside, from_id, &inside, to_id, &copied);
    inside_close(&inside);
    unlock(engine);
    TRY(end_own(&own, op, st));
    print_copied(out, &copied);
out:
    return st;
}

static enum status restore_at(void *context, struct op *op, struct slice from, struct slice moment,
                              struct slice to, struct buf *out)
{
    struct engine *engine = context;
    struct copied copied;
    struct inside inside;
    struct op own;
    enum status st;

    begin_own(&own, op);
    lock(engine);
    inside_open(&inside, &engine->service, &engine->account);
    st = copy_container_at(&own, &inside, from, moment, to, &copied);
    inside_close(&inside);
    unlock(engine);
    TRY(end_own(&own, op, st));
    print_copied(out, &copied);
out:
    return st;
}

const struct route_snapshots engine_snapshots = { create, list, drop, restore, copy, restore_at };

/* ---- with the engine ---- */

void snapshots_clear(struct op *op, struct engine *engine)
{
    const char *above = snapshots_folder(op, engine);
    DIR *folder = opendir(above);
    struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        const char *one = directory_inside(op, above, entry->d_name);

        if (entry->d_name[0] != '.' && access(directory_inside(op, one, "SNAPSHOT"), F_OK) != 0 &&
            errno == ENOENT)
            remove_folder(op, one);
    }
    if (folder)
        closedir(folder);
}

void snapshots_settle(struct engine *engine)
{
    struct op op;

    if (!engine->snapshots.folder)
        return;
    op_init(&op, env_system(), SIZE_MAX);
    if (directory_settle(&op, &engine->directory) != ST_OK)
        log_line(LOG_WARN, "the next start will have to rename the store: %s", op.error);
    op_free(&op);
    free(engine->snapshots.folder);
}

void snapshots_close(struct engine *engine)
{
    while (engine->snapshots.marks)
        free_mark(engine, &engine->snapshots.marks);
}
