/* src/main/check.c - orrery check: reads everything in a data directory, or in a database, and takes nothing for granted. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "catalog/catalog.h"
#include "catalog/parts.h"
#include "ledger/ledger.h"
#include "keys/keys.h"
#include "main/check.h"
#include "main/copy_store.h"
#include "main/place.h"
#include "partition/key.h"
#include "partition/recover.h"
#include "partition/unique.h"
#include "partition/verify.h"
#include "query/computed.h"
#include "store/store.h"

enum { BLOCK_ROWS = 1000 };

/* One container being checked. */
struct inspection {
    const struct container *container;
    struct view view;
    struct snapshot *snapshot; /* the view's */
    struct head head;
    struct trimmed trimmed;
    uint64_t items, item_bytes, ids, uniques, last_changes, problems;
};

__attribute__((format(printf, 2, 3))) static void problem(struct inspection *in, const char *fmt, ...)
{
    va_list args;

    printf("%.*s: ", SLICE_ARGS(in->container->link));
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
    in->problems++;
}

static enum status get(struct op *op, struct inspection *in, struct slice key, struct slice *value)
{
    return store_get_many(op, in->snapshot, &key, 1, value);
}

/* What an entry stands for: the values of a unique key, by its place in the definition, or an id. */
enum { BY_ID = UNIQUE_KEYS_MAX };

/*
 * Two documents may share an entry, when their partition keys or their values differ and have the same hash. With the
 * same of both, one document is too many.
 */
static bool are_twins(const struct container *container, size_t which, struct json a, struct json b)
{
    return partition_key_shared(container, a, b) &&
           (which == BY_ID || unique_equal(&container->unique_key[which], a, b));
}

static enum status check_other(struct op *op, struct inspection *in, size_t which, const struct record *item,
                               uint64_t number)
{
    unsigned long long first = item->number, second = number;
    struct record other;
    struct slice value;
    enum status st;

    TRY(get(op, in, key_document(&op->arena, in->container->bucket_id, number), &value));
    if (!value.data || record_decode(op, value, &other) != ST_OK ||
        !are_twins(in->container, which, item->document, other.document))
        goto out;
    if (which == BY_ID)
        problem(in, "documents %llu and %llu have the same partition key and id", first, second);
    else
        problem(in, "documents %llu and %llu have the same values of unique key %zu", first, second, which);
out:
    return st;
}

/* The entry must lead back to this document, and to no other that has the same. */
static enum status check_entry(struct op *op, struct inspection *in, size_t which, const struct record *item,
                               struct slice key)
{
    struct slice entry;
    bool found = false;
    enum status st;

    TRY(get(op, in, key, &entry));
    if (holders_check(op, entry) != ST_OK)
        entry = (struct slice){ 0 };
    for (size_t i = 0; i < holders_count(entry); i++) {
        if (holders_at(entry, i) == item->number)
            found = true;
        else
            TRY(check_other(op, in, which, item, holders_at(entry, i)));
    }
    if (!found && which == BY_ID)
        problem(in, "document %llu cannot be found by its id", (unsigned long long)item->number);
    else if (!found)
        problem(in, "document %llu cannot be found by its values of unique key %zu",
                (unsigned long long)item->number, which);
out:
    return st;
}

static enum status check_uniques(struct op *op, struct inspection *in, const struct record *item)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < in->container->unique_key_count; i++)
        TRY(check_entry(op, in, i, item,
                        unique_key_of(&op->arena, in->container, item->epk, i, item->document)));
out:
    return st;
}

/* The id's entry must lead back here, the EPK must be the document's own, and the number must begin with its bits. */
static enum status check_item(struct op *op, struct inspection *in, uint64_t number,
                              const struct record *item)
{
    const struct container *container = in->container;
    struct json id;
    struct placed_key key;
    enum status st = ST_OK;

    if (!json_check(json_bytes(item->document))) {
        problem(in, "document %llu is malformed", (unsigned long long)number);
        goto out;
    }
    id = json_get(item->document, "id");
    if (json_kind(id) != JSON_STRING) {
        problem(in, "document %llu is no document with an id", (unsigned long long)number);
        goto out;
    }
    partition_key_extract(container, item->document, &key.values);
    partition_key_place(container, &key);
    if (!slice_equal(epk_slice(&key.epk), item->epk))
        problem(in, "document %llu has the key of another partition", (unsigned long long)number);
    if (epk_number_bits(container->epk_version, container->key_path_count, &key.epk) !=
        number_epk_bits(number))
        problem(in, "document %llu lies among those of another partition", (unsigned long long)number);
    if (item->number != number || item->lsn > in->head.lsn ||
        part_counted(in->container, number_counter(number)) > in->head.counter)
        problem(in, "document %llu has a number or an LSN that was never given", (unsigned long long)number);
    TRY(check_entry(op, in, BY_ID, item,
                    key_id(&op->arena, container->bucket_id, item->epk, json_string(id))));
    TRY(check_uniques(op, in, item));
out:
    return st;
}

static enum status visit_document(struct op *op, struct inspection *in, const struct key_parts *key,
                                  struct slice value)
{
    struct record item;
    uint64_t number;

    in->items++;
    in->item_bytes += value.size;
    if (!key_parse_document(key, &number) || record_decode(op, value, &item) != ST_OK) {
        problem(in, "a document is damaged: %s", op->error ? op->error : "its key is malformed");
        return ST_OK;
    }
    return check_item(op, in, number, &item);
}

/* Counts every document of every entry: one that should not be there and leads to a document shows in the sum. */
static enum status visit_holders(struct op *op, struct inspection *in, const char *what, struct slice value,
                                 uint64_t *count)
{
    struct slice document;
    enum status st = ST_OK;

    if (holders_check(op, value) != ST_OK) {
        problem(in, "the entry of %s is damaged", what);
        goto out;
    }
    for (size_t i = 0; i < holders_count(value); i++) {
        ++*count;
        TRY(get(op, in, key_document(&op->arena, in->container->bucket_id, holders_at(value, i)), &document));
        if (!document.data)
            problem(in, "the entry of %s leads to no document", what);
    }
out:
    return st;
}

static enum status visit_id(struct op *op, struct inspection *in, const struct key_parts *key,
                            struct slice value)
{
    (void)key;
    return visit_holders(op, in, "an id", value, &in->ids);
}

static enum status visit_unique(struct op *op, struct inspection *in, const struct key_parts *key,
                                struct slice value)
{
    (void)key;
    return visit_holders(op, in, "a unique key", value, &in->uniques);
}

/*
 * The item must exist, and its record must say that it has attachments. Otherwise they would stay when it is removed.
 */
static enum status visit_attachment(struct op *op, struct inspection *in, const struct key_parts *key,
                                    struct slice value)
{
    struct record attachment, item;
    struct slice document;
    uint64_t number;
    uint32_t own;
    enum status st = ST_OK;

    if (!key_parse_attachment(key, &number, &own) || record_decode(op, value, &attachment) != ST_OK ||
        attachment.number != own || !json_check(json_bytes(attachment.document)) ||
        json_kind(json_get(attachment.document, "id")) != JSON_STRING) {
        problem(in, "an attachment is damaged");
        goto out;
    }
    TRY(get(op, in, key_document(&op->arena, in->container->bucket_id, number), &document));
    if (!document.data || record_decode(op, document, &item) != ST_OK)
        problem(in, "an attachment has no document");
    else if (!(item.flags & RECORD_HAS_ATTACHMENTS))
        problem(in, "document %llu does not know of its attachments", (unsigned long long)number);
out:
    return st;
}

static enum status visit_media(struct op *op, struct inspection *in, const struct key_parts *key,
                               struct slice value)
{
    struct slice bytes, attachment;
    uint64_t number;
    uint32_t own;
    enum status st = ST_OK;

    if (!key_parse_attachment(key, &number, &own) || media_decode(op, value, &bytes) != ST_OK) {
        problem(in, "the media of an attachment are damaged");
        goto out;
    }
    TRY(get(op, in, key_attachment(&op->arena, in->container->bucket_id, number, own), &attachment));
    if (!attachment.data)
        problem(in, "media belong to no attachment");
out:
    return st;
}

/* The trimmed part of the log has no old records and no deletes. */
static bool is_trimmed(const struct inspection *in, struct log_place place)
{
    return place.lsn < in->trimmed.lsn ||
           (place.lsn == in->trimmed.lsn && place.position <= in->trimmed.position);
}

static void check_change(struct inspection *in, const struct change *change, struct log_place place)
{
    bool whole = change->kind == CHANGE_CREATE || change->old_record.size > 0;

    if (change->lsn != place.lsn || place.lsn > in->head.lsn)
        problem(in, "change %llu has an LSN that was never given", (unsigned long long)place.lsn);
    else if (is_trimmed(in, place) && (change->kind == CHANGE_DELETE || change->kind == CHANGE_REINDEX))
        problem(in, "change %llu was to be trimmed", (unsigned long long)place.lsn);
    else if (!is_trimmed(in, place) && !whole)
        problem(in, "change %llu has lost the version before it", (unsigned long long)place.lsn);
}

/* The log has each item's last change once, so the changes counted here must be as many as the items. */
static enum status count_last_change(struct op *op, struct inspection *in, const struct change *change)
{
    struct record item;
    struct slice value;
    enum status st = ST_OK;

    if (change->kind == CHANGE_DELETE || change->kind == CHANGE_REINDEX)
        goto out;
    TRY(get(op, in, key_document(&op->arena, in->container->bucket_id, change->number), &value));
    if (value.data && record_decode(op, value, &item) == ST_OK)
        in->last_changes += item.lsn == change->lsn;
out:
    return st;
}

static enum status visit_change(struct op *op, struct inspection *in, const struct key_parts *key,
                                struct slice value)
{
    struct log_place place;
    struct change change;

    if (!key_parse_log(key, &place.lsn, &place.position) || change_decode(op, value, &change) != ST_OK) {
        problem(in, "a change is damaged: %s", op->error ? op->error : "its key is malformed");
        return ST_OK;
    }
    check_change(in, &change, place);
    return count_last_change(op, in, &change);
}

/* A version that was replaced or deleted must lead to the change that ended it. */
static enum status visit_next(struct op *op, struct inspection *in, const struct key_parts *key,
                              struct slice value)
{
    struct change change = { 0 };
    struct log_place place;
    uint64_t lsn, number;
    struct slice found;
    enum status st = ST_OK;

    if (!key_parse_next(key, &lsn, &number) || next_decode(op, value, &place) != ST_OK) {
        problem(in, "what leads from a version to the next is damaged");
        goto out;
    }
    TRY(get(op, in, key_log(&op->arena, in->container->bucket_id, place.lsn, place.position), &found));
    if (!found.data || change_decode(op, found, &change) != ST_OK || change.number != number ||
        change.previous_lsn != lsn)
        problem(in, "version %llu of document %llu leads to no change that ended it", (unsigned long long)lsn,
                (unsigned long long)number);
out:
    return st;
}

static const struct {
    enum key_kind kind;
    enum status (*visit)(struct op *op, struct inspection *in, const struct key_parts *key,
                         struct slice value);
} kinds[] = {
    { KEY_DOCUMENT, visit_document }, { KEY_ID, visit_id },
    { KEY_UNIQUE, visit_unique },     { KEY_ATTACHMENT, visit_attachment },
    { KEY_MEDIA, visit_media },       { KEY_LOG, visit_change },
    { KEY_NEXT, visit_next },
};

/* Visits the rows of the next block, and moves `from` behind them. */
static enum status visit_block(struct op *op, struct inspection *in, size_t which, struct buf *from,
                               bool *more)
{
    uint64_t bucket = in->container->bucket_id;
    struct range range = { buf_as_slice(from), key_kind_end(&op->arena, bucket, kinds[which].kind), false };
    struct scan_limit limit = { BLOCK_ROWS, PAGE_BYTES_MAX };
    struct key_parts parts;
    struct rows rows;
    enum status st;

    TRY(store_scan(op, in->snapshot, range, limit, &rows));
    for (size_t i = 0; i < rows.count; i++) {
        struct arena_mark mark = arena_mark(&op->arena); /* the items that its rows lead to are not kept */

        if (!key_parse(rows.row[i].key, &parts))
            problem(in, "a key is malformed");
        else
            TRY(kinds[which].visit(op, in, &parts, rows.row[i].value));
        arena_rewind(&op->arena, mark);
        op->error = NULL;
    }
    assert(rows.count > 0 || !rows.more); /* each block goes on behind the one before it */
    if (rows.count)
        key_step_behind(from, rows.row[rows.count - 1].key);
    *more = rows.more;
out:
    return st;
}

/* Each block has an operation of its own: a directory may be larger than memory. */
static enum status visit_kind(struct op *op, struct inspection *in, size_t which)
{
    struct op block;
    struct buf from;
    bool more = true;
    enum status st = ST_OK;

    op_init(&block, op->env, SIZE_MAX);
    buf_init(&from, &op->arena);
    buf_slice(&from, key_kind_first(&op->arena, in->container->bucket_id, kinds[which].kind));
    while (more) {
        op_begin(&block, INT64_MAX / 2);
        TRY(visit_block(&block, in, which, &from, &more));
    }
out:
    if (st != ST_OK)
        st = op_fail(op, st, "%s", block.error ? block.error : error_row(st)->code);
    op_free(&block);
    return st;
}

static void check_counts(struct inspection *in)
{
    const struct container *container = in->container;

    if (in->ids != in->items)
        problem(in, "%llu documents, but %llu ids", (unsigned long long)in->items,
                (unsigned long long)in->ids);
    if (in->last_changes != in->items)
        problem(in, "%llu documents, but the log has the last changes of %llu", (unsigned long long)in->items,
                (unsigned long long)in->last_changes);
    if (in->uniques != in->items * container->unique_key_count)
        problem(in, "%llu documents with %zu unique keys, but %llu entries", (unsigned long long)in->items,
                container->unique_key_count, (unsigned long long)in->uniques);
    if (in->head.counts && (in->head.documents != in->items || in->head.document_bytes != in->item_bytes))
        problem(in, "%llu documents of %llu bytes, but the head counts %llu of %llu",
                (unsigned long long)in->items, (unsigned long long)in->item_bytes,
                (unsigned long long)in->head.documents, (unsigned long long)in->head.document_bytes);
}

/* Every entry that the documents should have, and no other. */
static enum status check_index(struct op *op, struct inspection *in)
{
    struct verify_result result;
    enum status st;

    TRY(verify_index(op, in->container, &in->view, &result));
    if (result.missing || result.extra)
        problem(in, "the index lacks %llu entries and has %llu too many, among them of document %llu",
                (unsigned long long)result.missing, (unsigned long long)result.extra,
                (unsigned long long)result.document);
    else if (result.expected != result.found)
        problem(in, "the index counts %llu entries, but documents have %llu",
                (unsigned long long)result.found, (unsigned long long)result.expected);
out:
    return st;
}

static enum status read_trimmed(struct op *op, struct inspection *in)
{
    struct slice value;
    enum status st;

    TRY(get(op, in, key_trimmed(&op->arena, in->container->bucket_id), &value));
    TRY(trimmed_decode(op, value, &in->trimmed));
out:
    return st;
}

/* Or of one that lies in several buckets, a part. */
static enum status check_container(struct op *op, const struct container *container, uint64_t *items,
                                   uint64_t *problems)
{
    struct inspection in = { .container = container };
    enum status st;

    TRY(view_open(op, container->bucket, NULL, &in.view));
    in.snapshot = in.view.snapshot;
    TRY(store_snapshot_head(op, in.snapshot, &in.head));
    TRY(read_trimmed(op, &in));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        TRY(visit_kind(op, &in, i));
    check_counts(&in);
    TRY(check_index(op, &in));
    *items += in.items;
    *problems += in.problems;
out:
    view_close(&in.view);
    return st;
}

static enum status check_database(struct op *op, struct catalog *catalog, const struct database *database,
                                  uint64_t *items, uint64_t *problems)
{
    struct rid after = { 0 };
    struct container *container = NULL;
    enum status st = ST_OK;

    while (catalog_list_containers(catalog, database, rid_slice(&after), &container, 1)) {
        after = container->rid;
        for (uint32_t i = 0; st == ST_OK && i < container->part_count; i++)
            st = check_container(op, container->part[i], items, problems);
        container_release(container);
        if (st != ST_OK)
            break;
    }
    return st;
}

static enum status check_all(struct op *op, struct catalog *catalog, uint64_t *items, uint64_t *problems)
{
    struct rid after = { 0 };
    struct database *database = NULL;
    enum status st = ST_OK;

    while (st == ST_OK && catalog_list_databases(catalog, rid_slice(&after), &database, 1)) {
        after = database->rid;
        st = check_database(op, catalog, database, items, problems);
        database_release(database);
    }
    return st;
}

/* A record that cannot be read would make a client's repeated request fail, or be done twice. */
static enum status check_ledger(struct op *op, struct store *store, uint64_t *problems)
{
    struct ledger *ledger;
    uint64_t records;
    enum status st;

    TRY(ledger_open(op, store, &ledger));
    st = ledger_verify(op, ledger, &records);
    ledger_close(ledger);
    if (st != ST_CORRUPT)
        goto out;
    printf("transactions: %s\n", op->error);
    ++*problems;
    st = ST_OK;
out:
    return st;
}

enum status check_store(struct op *op, struct store *store, uint64_t *items, uint64_t *problems)
{
    struct catalog *catalog = NULL;
    enum status st;

    assert(store_is_read_only(store));
    *items = *problems = 0;
    TRY(catalog_open_with(op, store, computed_value, &catalog));
    TRY(recover_index(op, catalog)); /* in memory: nothing on disk is changed */
    TRY(check_all(op, catalog, items, problems));
    TRY(check_ledger(op, store, problems));
out:
    catalog_close(catalog);
    return st;
}

static enum status check_place(struct op *op, const char *where, uint64_t *items, uint64_t *problems)
{
    struct place place;
    enum status st;

    TRY(place_open(op, where, PLACE_READ, &place));
    TRY(copy_is_whole(op, place.store));
    TRY(check_store(op, place.store, items, problems));
out:
    place_close(&place);
    return st;
}

int check(const char *where)
{
    uint64_t items = 0, problems = 0;
    struct op op;
    enum status st;

    op_init(&op, env_system(), SIZE_MAX);
    st = check_place(&op, where, &items, &problems);
    if (st != ST_OK) {
        fprintf(stderr, "orrery: %s\n", op.error ? op.error : error_row(st)->code);
        problems++;
    } else {
        printf("%llu items checked, %llu problems\n", (unsigned long long)items,
               (unsigned long long)problems);
    }
    op_free(&op);
    return problems != 0;
}
