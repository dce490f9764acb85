/* test/unit/main/copy_store_test.c - all of a store into another: whichever way each keeps its entries, and however often it is begun. */
#include "keys/keys.h"
#include "main/copy_store.h"
#include "store/entries.h"
#include "store/transfer.h"
#include "test.h"

enum { FIRST = 7 << BUCKET_BITS, SECOND = 9 << BUCKET_BITS, NUMBERS = 3000 };

static struct store *open(enum entries_kept entries)
{
    struct store *store = NULL;

    test_op()->may_block = true;
    CHECK(store_open(test_op(), &(struct store_options){ .kind = STORE_MEMORY, .entries = entries },
                     &store) == ST_OK);
    return store;
}

static struct slice term_of(uint64_t number)
{
    uint8_t *bytes = arena_alloc(&test_op()->arena, 16);

    put_be(bytes, 0x1122334455667700 + number / 7 % 3, 8);
    put_be(bytes + 8, number / 7, 8);
    return slice_make(bytes, 16);
}

/* Documents from `from` on, with an entry each. */
static void put_items(struct store *store, uint64_t id, uint64_t from, uint64_t to)
{
    struct batch *batch = batch_new(test_op(), id);
    struct commit_stamp stamp;
    struct bucket *bucket;

    REQUIRE(store_bucket(test_op(), store, id, &bucket) == ST_OK);
    for (uint64_t number = from; number < to; number++) {
        batch_put(batch, key_document(&test_op()->arena, id, number), slice_of("a document"));
        batch_index_add(batch, key_index(&test_op()->arena, id, term_of(number), number));
    }
    batch_counts(batch, (int64_t)(to - from), (int64_t)(to - from) * 10);
    CHECK(store_commit(test_op(), bucket, batch, &stamp) == ST_OK);
}

/* A container with three buckets and one with one, and something of the catalog. */
static struct store *filled(enum entries_kept entries)
{
    struct store *store = open(entries);

    for (uint64_t bucket = 0; bucket < 3; bucket++)
        put_items(store, FIRST + bucket, 1, NUMBERS + bucket);
    put_items(store, SECOND, 1, 5);
    return store;
}

static void told(const struct copy_progress *progress)
{
    CHECK(progress->buckets_done <= progress->buckets);
}

static enum status copy(struct store *from, struct store *to)
{
    struct copy_progress progress;
    struct copy_source source;
    bool rows = store_entries_are_rows(to);
    enum status st;

    TRY(copy_open(test_op(), from, &source));
    TRY(copy_rows(test_op(), &source, to, rows, told, &progress));
    CHECK(progress.buckets == progress.buckets_done);
    if (!rows)
        TRY(copy_entries(test_op(), &source, to, told, &progress));
    TRY(copy_end(test_op(), to));
out:
    copy_close(&source);
    return st;
}

/* Everything but its end. */
static void copy_in_part(struct store *from, struct store *to, struct copy_progress *progress)
{
    struct copy_source source;

    CHECK(copy_open(test_op(), from, &source) == ST_OK);
    CHECK(copy_rows(test_op(), &source, to, true, told, progress) == ST_OK);
    copy_close(&source);
}

struct sums {
    uint64_t items, entries, numbers, lsn, documents;
};

static struct sums sums_of(struct store *store, uint64_t id)
{
    uint8_t behind[16];
    struct entries_walk walk = { .from = slice_of(""),
                                 .to = slice_make(behind, sizeof(behind)),
                                 .last = UINT64_MAX };
    struct entries_cursor *cursor = NULL;
    struct snapshot *snapshot = NULL;
    struct entries_block block = { 0 };
    struct bucket *bucket;
    struct sums sums = { 0 };
    struct head head;
    struct rows rows;

    memset(behind, 0xff, sizeof(behind));
    CHECK(store_bucket(test_op(), store, id, &bucket) == ST_OK);
    CHECK(store_snapshot(test_op(), bucket, &snapshot) == ST_OK);
    CHECK(store_scan(test_op(), snapshot,
                     (struct range){ key_kind_first(&test_op()->arena, id, KEY_DOCUMENT),
                                     key_kind_end(&test_op()->arena, id, KEY_DOCUMENT), false },
                     (struct scan_limit){ 100000, 100000000 }, &rows) == ST_OK);
    sums.items = rows.count;
    CHECK(store_snapshot_head(test_op(), snapshot, &head) == ST_OK);
    sums.lsn = head.lsn;
    sums.documents = head.documents;
    CHECK(store_entries_open(test_op(), snapshot, &walk, &cursor) == ST_OK);
    do {
        CHECK(store_entries_next(test_op(), cursor, &block) == ST_OK);
        sums.entries += block.count;
        for (size_t i = 0; i < block.count; i++)
            sums.numbers += block.number[i] * (1 + get_be(block.term.data + 8, 8));
    } while (block.count);
    store_entries_end(cursor);
    store_release(snapshot);
    return sums;
}

static bool same(struct store *a, struct store *b, uint64_t id)
{
    struct sums first = sums_of(a, id), second = sums_of(b, id);

    return memcmp(&first, &second, sizeof(first)) == 0;
}

static void copies_from_to(enum entries_kept from, enum entries_kept to)
{
    struct store *source = filled(from), *target = open(to);

    CHECK(copy(source, target) == ST_OK);
    for (uint64_t bucket = 0; bucket < 3; bucket++)
        CHECK(same(source, target, FIRST + bucket));
    CHECK(same(source, target, SECOND));
    CHECK(sums_of(target, FIRST + 2).entries == NUMBERS + 1 &&
          sums_of(target, FIRST + 2).documents == NUMBERS + 1);
    CHECK(copy_is_whole(test_op(), target) == ST_OK);
    store_close(source);
    store_close(target);
}

TEST(every_bucket_of_a_container_is_copied_with_its_entries_whichever_way_they_are_kept)
{
    copies_from_to(ENTRIES_PLAIN, ENTRIES_PLAIN);
    copies_from_to(ENTRIES_PLAIN, ENTRIES_PACKED);
    copies_from_to(ENTRIES_PACKED, ENTRIES_PLAIN);
    copies_from_to(ENTRIES_PACKED, ENTRIES_PACKED);
}

TEST(what_has_data_and_is_no_copy_is_not_written_to)
{
    struct store *source = filled(ENTRIES_PLAIN), *target = open(ENTRIES_PLAIN);

    put_items(target, FIRST, 1, 2);
    CHECK(copy(source, target) == ST_EXISTS);
    CHECK(sums_of(target, FIRST).items == 1 && sums_of(target, SECOND).items == 0);
    store_close(source);
    store_close(target);
}

/* A half copy is made by hand: the row that says so, and a bucket that is behind, gone, or half there. */
TEST(a_bucket_that_has_changed_since_is_copied_anew_and_one_that_is_gone_goes)
{
    struct store *source = filled(ENTRIES_PLAIN), *target = open(ENTRIES_PLAIN);
    struct copy_progress progress;

    copy_in_part(source, target, &progress);
    CHECK(copy_is_whole(test_op(), target) == ST_UNAVAILABLE);
    put_items(source, SECOND, 5, 8);
    CHECK(store_drop(test_op(), source, FIRST + 1) == ST_OK);
    copy_in_part(source, target, &progress);
    CHECK(progress.buckets == 3 && progress.rows == 14); /* of the one that changed: items and entries */
    CHECK(copy_end(test_op(), target) == ST_OK && copy_is_whole(test_op(), target) == ST_OK);
    CHECK(sums_of(target, SECOND).items == 7 && sums_of(target, FIRST + 1).items == 0);
    store_close(source);
    store_close(target);
}

/* The target as it was when a copy was cut off behind `last`, and the source's head was that of now, or of an earlier LSN. */
static void cut_behind(struct store *source, struct store *target, uint64_t id, struct slice last,
                       bool same_head)
{
    uint8_t value[10 + HEAD_BYTES + 64] = { 1 };
    struct snapshot *snapshot = NULL;
    struct bucket *bucket;
    struct head head;
    struct rows rows;
    size_t size;

    CHECK(store_bucket(test_op(), source, id, &bucket) == ST_OK);
    CHECK(store_snapshot(test_op(), bucket, &snapshot) == ST_OK);
    CHECK(store_snapshot_head(test_op(), snapshot, &head) == ST_OK);
    store_release(snapshot);
    head.lsn -= !same_head;
    put_be(value + 1, id, 8);
    size = head_encode(&head, value + 10);
    value[9] = (uint8_t)size;
    memcpy(value + 10 + size, last.data, last.size);
    CHECK(store_bucket(test_op(), target, 0, &bucket) == ST_OK);
    CHECK(store_snapshot(test_op(), bucket, &snapshot) == ST_OK);
    CHECK(store_scan(test_op(), snapshot,
                     (struct range){ last, key_bucket_end(&test_op()->arena, id), false },
                     (struct scan_limit){ 100000, 100000000 }, &rows) == ST_OK);
    store_release(snapshot);
    rows.row[0] = (struct row){ key_copying(&test_op()->arena), slice_make(value, 10 + size + last.size) };
    for (size_t i = 1; i < rows.count; i++)
        rows.row[i].value = (struct slice){ 0 };
    CHECK(store_load(test_op(), target, rows.row, rows.count) == ST_OK);
    rows.row[0] = (struct row){ .key = key_head(&test_op()->arena, id) };
    CHECK(store_load(test_op(), target, rows.row, 1) == ST_OK);
}

/* A document that is before the cut is another in the target: it stays, unless all of the bucket is copied anew. */
static void goes_on_behind(struct slice last, enum entries_kept entries, bool same_head)
{
    struct store *source = filled(entries), *target = open(ENTRIES_PLAIN);
    struct row other = { key_document(&test_op()->arena, FIRST + 1, 1), slice_of("another one") };
    struct copy_progress progress;
    struct bucket *bucket;
    struct slice value;

    copy_in_part(source, target, &progress);
    CHECK(store_load(test_op(), target, &other, 1) == ST_OK);
    cut_behind(source, target, FIRST + 1, last, same_head);
    CHECK(copy(source, target) == ST_OK);
    CHECK(same(source, target, FIRST + 1) && same(source, target, FIRST));
    CHECK(store_bucket(test_op(), target, FIRST + 1, &bucket) == ST_OK);
    CHECK(store_get_latest(test_op(), bucket, other.key, &value) == ST_OK);
    CHECK(slice_is(value, same_head ? "another one" : "a document"));
    store_close(source);
    store_close(target);
}

TEST(a_copy_that_was_cut_off_goes_on_behind_its_last_key_if_the_bucket_is_what_it_was)
{
    static const enum entries_kept kept[] = { ENTRIES_PLAIN, ENTRIES_PACKED };

    for (size_t i = 0; i < 2; i++) {
        struct arena *arena = &test_op()->arena;

        goes_on_behind(key_document(arena, FIRST + 1, 1700), kept[i], true);
        goes_on_behind(key_index(arena, FIRST + 1, term_of(1002), 1002), kept[i], true);
        goes_on_behind(key_document(arena, FIRST + 1, 1700), kept[i], false);
        goes_on_behind(key_index(arena, FIRST + 1, term_of(1002), 1002), kept[i], false);
    }
}

TEST(half_a_copy_is_no_source)
{
    struct store *source = filled(ENTRIES_PLAIN), *target = open(ENTRIES_PLAIN), *other = open(ENTRIES_PLAIN);
    struct copy_progress progress;

    copy_in_part(source, target, &progress);
    CHECK(copy(target, other) == ST_UNAVAILABLE);
    CHECK(copy_is_whole(test_op(), other) == ST_OK);
    store_close(source);
    store_close(target);
    store_close(other);
}

TEST(a_bucket_whose_documents_were_never_counted_is_counted)
{
    struct store *source = filled(ENTRIES_PLAIN), *target = open(ENTRIES_PLAIN), *old = open(ENTRIES_PLAIN);
    uint8_t bytes[HEAD_BYTES];
    struct row head = { key_head(&test_op()->arena, SECOND), { 0 } };

    CHECK(copy(source, old) == ST_OK);
    head.value = slice_make(bytes, head_encode(&(struct head){ .lsn = 1, .counter = 4 }, bytes));
    CHECK(store_load(test_op(), old, &head, 1) == ST_OK);
    CHECK(copy(old, target) == ST_OK);
    CHECK(sums_of(target, SECOND).documents == 4 && sums_of(target, SECOND).lsn == 1);
    store_close(source);
    store_close(target);
    store_close(old);
}
