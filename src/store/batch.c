/* src/store/batch.c - a transaction's writes, in key order, in the op's arena. */
#include <assert.h>
#include <stdlib.h>

#include "keys/keys.h"
#include "keys/ordered.h"
#include "store/batch_private.h"

/* `entry` is what callers see of it; `node.key` and `entry.key` are one key. */
struct batch_node {
    struct sorted_node node;
    struct batch_entry entry;
    struct sorted_node *links[];
};

struct batch *batch_new(struct op *op, uint64_t bucket)
{
    struct batch *batch = arena_alloc(&op->arena, sizeof(*batch));

    *batch = (struct batch){ .arena = &op->arena, .bucket = bucket, .follows = FOLLOWS_ANY };
    batch->changes_end = &batch->changes;
    batch->expectation = batch->first;
    batch->expectation_capacity = sizeof(batch->first) / sizeof(batch->first[0]);
    return batch;
}

uint64_t batch_bucket(const struct batch *batch)
{
    return batch->bucket;
}

static void grow_expectations(struct batch *batch)
{
    size_t bytes = batch->expectation_count * sizeof(*batch->expectation);
    struct expectation *larger = arena_alloc(batch->arena, 2 * bytes);

    assert(batch->expectation_count > 0); /* the batch itself has room for the first ones */
    memcpy(larger, batch->expectation, bytes);
    batch->expectation = larger;
    batch->expectation_capacity = 2 * batch->expectation_count;
}

void batch_expect(struct batch *batch, uint64_t scope, uint64_t lsn)
{
    if (batch->expectation_count == batch->expectation_capacity)
        grow_expectations(batch);
    batch->expectation[batch->expectation_count++] = (struct expectation){ scope, lsn };
}

static struct batch_node *node_of(struct sorted_node *node)
{
    return (struct batch_node *)node; /* its first member */
}

static const struct batch_entry *entry_of(struct sorted_node *node)
{
    return node ? &node_of(node)->entry : NULL;
}

static struct sorted_node *add_node(struct batch *batch, struct slice key, struct sorted_place *place)
{
    size_t height = sorted_height(key), links_bytes = height * sizeof(struct sorted_node *);
    struct batch_node *added = arena_alloc(batch->arena, sizeof(*added) + links_bytes);

    added->node = (struct sorted_node){ .key = key, .after = added->links };
    sorted_insert_at(&batch->entries, &added->node, height, place);
    return &added->node;
}

static void set(struct batch *batch, struct batch_entry entry)
{
    struct sorted_place place;
    struct sorted_node *node = sorted_look(&batch->entries, entry.key, &place);

    assert(key_is_of_bucket(entry.key, batch->bucket));
    batch->bytes += entry.key.size + entry.value.size;
    if (!node)
        node = add_node(batch, entry.key, &place);
    entry.key = node->key;
    node_of(node)->entry = entry;
}

void batch_put(struct batch *batch, struct slice key, struct slice value)
{
    assert(value.data);
    set(batch, (struct batch_entry){ .key = key, .value = value });
}

void batch_delete(struct batch *batch, struct slice key)
{
    set(batch, (struct batch_entry){ .key = key });
}

void batch_put_stamped(struct batch *batch, struct slice key, uint8_t *value, size_t size)
{
    assert(value);
    set(batch, (struct batch_entry){ .key = key, .value = slice_make(value, size), .stamped = true });
}

/* --- entries of the index: gathered as they come, and put in order when somebody looks --- */

static void move_index(struct batch *batch, struct batch_index_entry *larger, size_t capacity)
{
    assert(capacity > batch->index_count);
    if (batch->index_count)
        memcpy(larger, batch->index, batch->index_count * sizeof(*larger));
    batch->index = larger;
    batch->index_capacity = capacity;
}

static void grow_index(struct batch *batch)
{
    enum { INDEX_FIRST = 64 };
    size_t capacity = batch->index_capacity ? 2 * batch->index_capacity : INDEX_FIRST;

    move_index(batch, arena_alloc(batch->arena, capacity * sizeof(*batch->index)), capacity);
}

/*
 * Grows at least to twice the size. Else each of many documents would leave behind, in the arena, a list as long as
 * all before it.
 */
static bool expect_index(struct batch *batch, size_t more)
{
    size_t wanted = batch->index_count + more, capacity = 2 * batch->index_capacity;
    struct batch_index_entry *larger;

    if (wanted <= batch->index_capacity)
        return true;
    if (capacity < wanted)
        capacity = wanted;
    larger = arena_try_alloc(batch->arena, capacity * sizeof(*larger));
    if (!larger && capacity > wanted) {
        capacity = wanted;
        larger = arena_try_alloc(batch->arena, capacity * sizeof(*larger));
    }
    if (larger)
        move_index(batch, larger, capacity);
    return larger != NULL;
}

struct batch_index_entry *batch_index_room(struct batch *batch, size_t count, size_t key_bytes)
{
    struct batch_index_entry *room;

    assert(count > 0);
    if (!expect_index(batch, count))
        return NULL;
    room = batch->index + batch->index_count;
    batch->index_count += count;
    batch->bytes += key_bytes;
    return room;
}

static void add_index_entry(struct batch *batch, struct batch_index_entry entry)
{
    assert(key_is_of_bucket(entry.key, batch->bucket));
    if (batch->index_count == batch->index_capacity)
        grow_index(batch);
    batch->index[batch->index_count++] = entry;
    batch->bytes += entry.key.size;
}

void batch_index_add(struct batch *batch, struct slice key)
{
    add_index_entry(batch, (struct batch_index_entry){ .key = key, .present = true });
}

void batch_index_remove(struct batch *batch, struct slice key)
{
    add_index_entry(batch, (struct batch_index_entry){ .key = key });
}

void batch_index_add_dated(struct batch *batch, struct slice key, size_t offset, bool descending)
{
    add_index_entry(batch, (struct batch_index_entry){ .key = key,
                                                       .present = true,
                                                       .dated = true,
                                                       .descending = descending,
                                                       .offset = (uint32_t)offset });
}

static int by_key(const void *a, const void *b)
{
    return slice_compare(((const struct batch_index_entry *)a)->key,
                         ((const struct batch_index_entry *)b)->key);
}

/*
 * From two ordered parts of the list one, in place: a script that writes and queries in turns comes here each time.
 */
static void merge_index(struct batch *batch)
{
    size_t left = batch->index_sorted, right = batch->index_count - left, at = batch->index_count;
    struct arena_mark mark = arena_mark(batch->arena);
    struct batch_index_entry *added = arena_alloc(batch->arena, right * sizeof(*added));

    assert(left > 0);
    assert(right > 0);
    memcpy(added, batch->index + left, right * sizeof(*added));
    while (right > 0) {
        bool moves = left > 0 && by_key(&batch->index[left - 1], &added[right - 1]) > 0;

        batch->index[--at] = moves ? batch->index[--left] : added[--right];
    }
    arena_rewind(batch->arena, mark);
}

/*
 * What the changes of one key come to: as many adds as removes cancel, and a difference of more than one is a
 * mistake.
 */
static const struct batch_index_entry *sum_of_run(const struct batch_index_entry *same, size_t count)
{
    const struct batch_index_entry *add = NULL, *remove = NULL;
    int64_t balance = 0;

    for (size_t i = 0; i < count; i++) {
        balance += same[i].present ? 1 : -1;
        *(same[i].present ? &add : &remove) = &same[i];
    }
    assert(balance >= -1 && balance <= 1);
    if (balance == 0)
        return NULL;
    return balance > 0 ? add : remove;
}

static void cancel_index(struct batch *batch)
{
    size_t kept = 0, next;

    for (size_t i = 0; i < batch->index_count; i = next) {
        const struct batch_index_entry *sum;

        for (next = i + 1; next < batch->index_count && by_key(&batch->index[i], &batch->index[next]) == 0;)
            next++;
        sum = sum_of_run(&batch->index[i], next - i);
        if (sum)
            batch->index[kept++] = *sum;
    }
    batch->index_count = kept;
}

/* One document's entries come in order, and stay so when times are filled in. */
static bool is_in_order(const struct batch *batch)
{
    for (size_t i = 1; i < batch->index_count; i++)
        if (by_key(&batch->index[i - 1], &batch->index[i]) >= 0)
            return false;
    return true;
}

const struct batch_index_entry *batch_index_entries(struct batch *batch, size_t *count)
{
    size_t added = batch->index_count - batch->index_sorted;

    assert(batch->index_sorted <= batch->index_count);
    if (added && batch->index_sorted == 0 && is_in_order(batch)) {
        batch->index_sorted = batch->index_count;
    } else if (added) {
        qsort(batch->index + batch->index_sorted, added, sizeof(*batch->index), by_key);
        if (batch->index_sorted)
            merge_index(batch);
        cancel_index(batch);
        batch->index_sorted = batch->index_count;
    }
    *count = batch->index_count;
    return batch->index;
}

void batch_index_date(struct batch *batch, int64_t ts_ms)
{
    bool dated = false;
    size_t count;

    batch_index_entries(batch, &count); /* first without a date: the batch may remove what it added */
    for (size_t i = 0; i < count; i++) {
        struct batch_index_entry *entry = &batch->index[i];

        if (!entry->dated)
            continue;
        assert(entry->present); /* a key that is removed has had its time since it was written */
        ordered_put_time((uint8_t *)entry->key.data + entry->offset, ts_ms, entry->descending);
        entry->dated = false;
        dated = true;
    }
    if (dated)
        batch->index_sorted = 0;
}

void batch_advance_head(const struct batch *batch, struct head *head, int64_t now_ms)
{
    head->lsn = (head->lsn > batch->above_lsn ? head->lsn : batch->above_lsn) + 1;
    if (head->ts_ms < now_ms)
        head->ts_ms = now_ms;
    if (head->counter < batch->counter)
        head->counter = batch->counter;
    head->documents += (uint64_t)batch->documents;
    head->document_bytes += (uint64_t)batch->document_bytes;
}

void batch_log(struct batch *batch, uint8_t *value, size_t size)
{
    struct batch_change *change = arena_alloc(batch->arena, sizeof(*change));

    assert(value);
    assert(!*batch->changes_end); /* it points behind the last change */
    *change = (struct batch_change){ .value = value, .size = size };
    *batch->changes_end = change;
    batch->changes_end = &change->next;
    batch->bytes += size;
}

void batch_uses_counter(struct batch *batch, uint64_t counter)
{
    assert(counter > 0); /* 0 says that the batch uses none */
    if (batch->counter < counter)
        batch->counter = counter;
}

void batch_holds_stamps(struct batch *batch, uint8_t *room)
{
    batch->stamps = room;
}

void batch_expect_last(struct batch *batch, uint64_t lsn)
{
    batch->expects_last = true;
    batch->last_lsn = lsn;
}

bool batch_follows_last(const struct batch *batch, uint64_t lsn)
{
    return !batch->expects_last || batch->last_lsn == lsn;
}

void batch_begins_above(struct batch *batch, uint64_t lsn)
{
    batch->above_lsn = lsn;
}

void batch_follows(struct batch *batch, uint64_t lsn)
{
    batch->follows = lsn;
}

/* In the order of their ids, in which a store locks them; each once. */
void batch_redefines(struct batch *batch, uint64_t bucket, bool dropped)
{
    struct redefined **at = &batch->redefined, *made;

    assert(bucket > batch->bucket); /* the batch's own is locked first */
    while (*at && (*at)->bucket < bucket)
        at = &(*at)->next;
    if (*at && (*at)->bucket == bucket) {
        (*at)->dropped |= dropped;
        return;
    }
    made = arena_alloc(batch->arena, sizeof(*made));
    *made = (struct redefined){ *at, bucket, dropped };
    *at = made;
}

void batch_counts(struct batch *batch, int64_t documents, int64_t bytes)
{
    batch->documents += documents;
    batch->document_bytes += bytes;
}

int64_t batch_documents(const struct batch *batch)
{
    return batch->documents;
}

bool batch_is_empty(const struct batch *batch)
{
    return !batch->entries.first[0] && !batch->changes && !batch->index_count;
}

const struct batch_entry *batch_find(const struct batch *batch, struct slice key)
{
    return entry_of(sorted_find(&batch->entries, key));
}

const struct batch_entry *batch_at_or_after(const struct batch *batch, struct slice key)
{
    return entry_of(sorted_at_or_after(&batch->entries, key));
}

const struct batch_entry *batch_before(const struct batch *batch, struct slice key)
{
    return entry_of(sorted_before(&batch->entries, key));
}

static struct sorted_node *node_with(const struct batch_entry *entry)
{
    const char *start = (const char *)entry - offsetof(struct batch_node, entry);

    return &((struct batch_node *)start)->node;
}

const struct batch_entry *batch_first(const struct batch *batch)
{
    return entry_of(batch->entries.first[0]);
}

const struct batch_entry *batch_next(const struct batch_entry *entry)
{
    return entry_of(node_with(entry)->after[0]);
}

const struct batch_entry *batch_previous(const struct batch_entry *entry)
{
    return entry_of(node_with(entry)->before);
}
