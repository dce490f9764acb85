/* test/unit/store/batch_test.c - what a batch remembers. */
#include "keys/keys.h"
#include "store/batch_private.h"
#include "test.h"

enum { BUCKET = 3 << BUCKET_BITS };

static struct slice key(uint64_t number)
{
    return key_document(&test_op()->arena, BUCKET, number);
}

TEST(entries_come_in_key_order_whatever_order_they_were_put_in)
{
    struct batch *batch = batch_new(test_op(), BUCKET);
    const struct batch_entry *entry;
    uint64_t expected = 0;

    for (uint64_t i = 0; i < 100; i++)
        batch_put(batch, key(i * 37 % 100), slice_of("x"));
    for (entry = batch_first(batch); entry; entry = batch_next(entry))
        CHECK(slice_equal(entry->key, key(expected++)));
    CHECK(expected == 100);
    for (entry = batch_before(batch, key(1000)); entry; entry = batch_previous(entry))
        CHECK(slice_equal(entry->key, key(--expected)));
    CHECK(expected == 0);
}

TEST(a_later_write_of_a_key_replaces_the_earlier_one)
{
    struct batch *batch = batch_new(test_op(), BUCKET);
    uint8_t stamped[32] = { 0 };

    batch_put(batch, key(1), slice_of("first"));
    batch_put(batch, key(1), slice_of("second"));
    CHECK(slice_is(batch_find(batch, key(1))->value, "second"));
    batch_delete(batch, key(1));
    CHECK(batch_find(batch, key(1)) && !batch_find(batch, key(1))->value.data);
    batch_put_stamped(batch, key(1), stamped, sizeof(stamped));
    CHECK(batch_find(batch, key(1))->stamped && batch_find(batch, key(1))->value.size == sizeof(stamped));
    batch_put(batch, key(1), slice_of("third"));
    CHECK(!batch_find(batch, key(1))->stamped);
    CHECK(!batch_next(batch_first(batch)));
}

TEST(a_key_the_batch_does_not_touch_is_not_found)
{
    struct batch *batch = batch_new(test_op(), BUCKET);

    CHECK(!batch_find(batch, key(1)) && !batch_first(batch));
    batch_delete(batch, key(1));
    CHECK(!batch_find(batch, key(0)) && !batch_find(batch, key(2)));
    CHECK(slice_equal(batch_at_or_after(batch, key(0))->key, key(1)));
    CHECK(slice_equal(batch_at_or_after(batch, key(1))->key, key(1)));
    CHECK(!batch_at_or_after(batch, key(2)) && !batch_before(batch, key(1)));
    CHECK(slice_equal(batch_before(batch, key(2))->key, key(1)));
}

TEST(a_batch_is_empty_until_it_writes_or_logs)
{
    struct batch *writes = batch_new(test_op(), BUCKET), *logs = batch_new(test_op(), BUCKET);
    uint8_t change[32] = { 0 };

    batch_expect(writes, 1, 1);
    batch_uses_counter(writes, 5);
    CHECK(batch_is_empty(writes) && batch_is_empty(logs));
    batch_delete(writes, key(1));
    batch_log(logs, change, sizeof(change));
    CHECK(!batch_is_empty(writes) && !batch_is_empty(logs));
}

TEST(a_batch_keeps_every_expectation)
{
    struct batch *batch = batch_new(test_op(), BUCKET);

    for (uint64_t i = 0; i < 200; i++)
        batch_expect(batch, i, 2 * i);
    CHECK(batch->expectation_count == 200);
    for (uint64_t i = 0; i < 200; i++)
        CHECK(batch->expectation[i].scope == i && batch->expectation[i].lsn == 2 * i);
}

TEST(changes_keep_the_order_of_their_calls)
{
    struct batch *batch = batch_new(test_op(), BUCKET);
    uint8_t change[3][32] = { 0 };

    for (size_t i = 0; i < 3; i++)
        batch_log(batch, change[i], sizeof(change[i]));
    for (size_t i = 0; i < 3; i++) {
        CHECK(batch->changes->value == change[i]);
        batch->changes = batch->changes->next;
    }
    CHECK(!batch->changes);
}

TEST(the_largest_counter_is_the_one_remembered)
{
    struct batch *batch = batch_new(test_op(), BUCKET);

    batch_uses_counter(batch, 5);
    batch_uses_counter(batch, 9);
    batch_uses_counter(batch, 7);
    CHECK(batch->counter == 9);
}

TEST(lists_of_entries_for_many_documents_take_memory_in_proportion)
{
    enum { DOCUMENTS = 100, ENTRIES = 2000 };
    struct op *op = test_op();
    struct batch *batch = batch_new(op, BUCKET);
    struct slice key = key_index(&op->arena, BUCKET, slice_of("\1\2\3\4\5\6\7\10\11"), 1);
    size_t list_bytes = DOCUMENTS * ENTRIES * sizeof(struct batch_index_entry), before = op->arena.used_bytes;

    for (int i = 0; i < DOCUMENTS; i++) {
        struct batch_index_entry *entry = batch_index_room(batch, ENTRIES, ENTRIES * key.size);

        REQUIRE(entry);
        for (int k = 0; k < ENTRIES; k++)
            entry[k] = (struct batch_index_entry){ .key = key }; /* nobody looks at them */
    }
    CHECK(op->arena.used_bytes - before <= 4 * list_bytes);
}
