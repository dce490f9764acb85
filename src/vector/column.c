/* src/vector/column.c - a column's vectors: added, removed, and what changed of late. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/thread.h"
#include "vector/column_private.h"

enum {
    ODD_MAX = 1024,        /* more are not worth being read by each query */
    CHANGES_KEPT = 16384,  /* then the older half is forgotten */
    COMPACTED_FROM = 4096, /* fewer places are not worth it */
    PLACES_FIRST = 256,
    BYTES_OF_CODE_ALIGNED = 64,
};

struct vector_column *vector_column_new(const struct vector_key *key, struct account *account)
{
    struct vector_column *made = heap_allocate(sizeof(*made));

    made->key = *key;
    made->key.path.data = memcpy(heap_allocate(key->path.size + 1), key->path.data, key->path.size);
    made->code_bytes = vector_code_bytes(key->dimensions);
    made->form = vector_form_best();
    made->claim = (struct claim){ .account = account, .holder = HOLDER_VECTORS };
    atomic_init(&made->recall, 100);
    atomic_init(&made->list_percent, 100);
    thread_rwlock_init(&made->lock);
    return made;
}

static void free_chunk(struct vector_chunk *chunk)
{
    free(chunk->code);
    free(chunk->edge);
    free(chunk);
}

static void empty(struct vector_column *column)
{
    for (size_t i = 0; i * CHUNK_VECTORS < column->count; i++)
        free_chunk(column->chunk[i]);
    free(column->chunk);
    free(column->places.slot);
    claim_less(&column->claim, column->claim.bytes);
}

void vector_column_free(struct vector_column *column)
{
    if (!column)
        return;
    empty(column);
    free(column->odd);
    free(column->change);
    free((char *)column->key.path.data);
    pthread_rwlock_destroy(&column->lock);
    free(column);
}

void vector_column_lock(struct vector_column *column)
{
    pthread_rwlock_rdlock(&column->lock);
}

void vector_column_lock_to_write(struct vector_column *column)
{
    pthread_rwlock_wrlock(&column->lock);
}

bool vector_column_try_to_write(struct vector_column *column)
{
    return pthread_rwlock_trywrlock(&column->lock) == 0;
}

void vector_column_unlock(struct vector_column *column)
{
    pthread_rwlock_unlock(&column->lock);
}

/* ---- places ---- */

static size_t slot_of(const struct vector_places *places, uint64_t number)
{
    size_t slot = (size_t)((number * 0x9e3779b97f4a7c15u) >> 32) & (places->capacity - 1);

    while (places->slot[slot].number && places->slot[slot].number != number)
        slot = (slot + 1) & (places->capacity - 1);
    return slot;
}

static void put_place(struct vector_places *places, uint64_t number, size_t at)
{
    size_t slot = slot_of(places, number);

    places->count += places->slot[slot].number == 0;
    places->slot[slot].number = number;
    places->slot[slot].at = (uint32_t)at;
}

static void grow_places(struct vector_column *column)
{
    struct vector_places *places = &column->places, old = *places;

    places->capacity = old.capacity ? 2 * old.capacity : PLACES_FIRST;
    places->count = 0;
    places->slot = heap_allocate(places->capacity * sizeof(*places->slot));
    claim_anyway(&column->claim, (places->capacity - old.capacity) * sizeof(*places->slot));
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slot[i].number)
            put_place(places, old.slot[i].number, old.slot[i].at);
    free(old.slot);
}

size_t column_lower(const struct vector_column *column, uint64_t number)
{
    size_t low = 0, high = column->sorted_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (number_at(column, middle) < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t column_find(const struct vector_column *column, uint64_t number)
{
    size_t at = column_lower(column, number);

    if (column->places.count) {
        size_t slot = slot_of(&column->places, number);

        if (column->places.slot[slot].number)
            return column->places.slot[slot].at;
    }
    return at < column->sorted_count && number_at(column, at) == number ? at : SIZE_MAX;
}

/* ---- writing ---- */

static const size_t edges_bytes = EDGES_MAX * sizeof(uint32_t) * CHUNK_VECTORS;

static size_t chunk_bytes(const struct vector_column *column)
{
    return sizeof(struct vector_chunk) + CHUNK_VECTORS * column->code_bytes +
           (column->key.graph_from ? edges_bytes : 0);
}

static bool add_chunk(struct vector_column *column)
{
    struct vector_chunk *chunk;

    if (!claim_more(&column->claim, chunk_bytes(column)))
        return false;
    chunk = heap_allocate(sizeof(*chunk));
    chunk->code = aligned_alloc(BYTES_OF_CODE_ALIGNED, CHUNK_VECTORS * column->code_bytes);
    if (!chunk->code) {
        free(chunk);
        claim_less(&column->claim, chunk_bytes(column));
        return false;
    }
    if (column->key.graph_from)
        chunk->edge = memset(heap_allocate_unset(edges_bytes), 0xff, edges_bytes); /* NOWHERE */
    heap_list_reserve(&column->chunk, &column->chunk_capacity, column->count / CHUNK_VECTORS + 1,
                      sizeof(*column->chunk));
    column->chunk[column->count / CHUNK_VECTORS] = chunk;
    return true;
}

static size_t find_odd(const struct vector_column *column, uint64_t number)
{
    size_t low = 0, high = column->odd_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (column->odd[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_odd(struct vector_column *column, uint64_t number)
{
    size_t at = find_odd(column, number);

    if (column->odd_count >= ODD_MAX) {
        column->too_odd = true;
        return;
    }
    heap_list_reserve(&column->odd, &column->odd_capacity, column->odd_count + 1, sizeof(*column->odd));
    memmove(column->odd + at + 1, column->odd + at, (column->odd_count - at) * sizeof(*column->odd));
    column->odd[at] = number;
    column->odd_count++;
}

static void remove_odd(struct vector_column *column, uint64_t number)
{
    size_t at = find_odd(column, number);

    if (at == column->odd_count || column->odd[at] != number)
        return;
    column->odd_count--;
    memmove(column->odd + at, column->odd + at + 1, (column->odd_count - at) * sizeof(*column->odd));
}

/* For those who ask without a lock. */
static void tell(struct vector_column *column)
{
    atomic_store_explicit(&column->placed, column->count, memory_order_relaxed);
    atomic_store_explicit(&column->live, column->count - column->gone_count, memory_order_relaxed);
    atomic_store_explicit(&column->bytes, column->claim.bytes, memory_order_relaxed);
}

void vector_column_spoil(struct vector_column *column)
{
    column->too_odd = true;
}

void vector_column_remove(struct vector_column *column, uint64_t number)
{
    size_t at = column_find(column, number);

    remove_odd(column, number);
    if (at == SIZE_MAX || is_gone(column, at))
        return;
    chunk_of(column, at)->gone[at % CHUNK_VECTORS] = true;
    column->gone_count++;
    tell(column);
}

/* Remembers where a new one lies: by its order, as long as numbers rise. */
static void keep_place(struct vector_column *column, uint64_t number, size_t at)
{
    if (column->sorted_count == at && (at == 0 || number_at(column, at - 1) < number)) {
        column->sorted_count++;
        return;
    }
    if (2 * (column->places.count + 1) > column->places.capacity)
        grow_places(column);
    put_place(&column->places, number, at);
}

bool vector_column_add(struct vector_column *column, uint64_t number, const double *x)
{
    size_t at = column->count;
    struct vector_chunk *chunk;

    assert(number);
    vector_column_remove(column, number);
    if (at == UINT32_MAX || (at % CHUNK_VECTORS == 0 && !add_chunk(column)))
        return false;
    chunk = chunk_of(column, at);
    if (!vector_encode(x, column->key.dimensions, chunk->code + at % CHUNK_VECTORS * column->code_bytes,
                       &chunk->measure[at % CHUNK_VECTORS])) {
        if (at % CHUNK_VECTORS == 0) { /* nobody else would find the chunk again */
            free_chunk(chunk);
            claim_less(&column->claim, chunk_bytes(column));
        }
        add_odd(column, number);
        return true;
    }
    keep_place(column, number, at);
    chunk->number[at % CHUNK_VECTORS] = number;
    column->count++;
    tell(column);
    return true;
}

void vector_column_note(struct vector_column *column, uint64_t lsn, uint64_t number)
{
    struct vector_change *change;

    assert(column->change_count == 0 || column->change[column->change_count - 1].lsn <= lsn);
    if (column->change_count == CHANGES_KEPT) {
        size_t half = CHANGES_KEPT / 2;

        column->known_from = column->change[half - 1].lsn;
        memmove(column->change, column->change + half, half * sizeof(*column->change));
        column->change_count = half;
    }
    heap_list_reserve(&column->change, &column->change_capacity, column->change_count + 1,
                      sizeof(*column->change));
    change = &column->change[column->change_count++];
    *change = (struct vector_change){ lsn, number };
}

void vector_column_reach(struct vector_column *column, uint64_t lsn)
{
    assert(lsn >= column->lsn);
    if (column->change_count == 0)
        column->known_from = lsn;
    column->lsn = lsn;
}

bool vector_column_wants_compacting(const struct vector_column *column)
{
    return column->count >= COMPACTED_FROM && 4 * column->gone_count > column->count;
}

static int by_number(const void *a, const void *b)
{
    const struct vector_candidate *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static struct vector_candidate *list_live(const struct vector_column *column, size_t *count)
{
    struct vector_candidate *list = heap_allocate((column->count + 1) * sizeof(*list));

    *count = 0;
    for (size_t i = 0; i < column->count; i++)
        if (!is_gone(column, i))
            list[(*count)++] = (struct vector_candidate){ .at = (uint32_t)i, .number = number_at(column, i) };
    qsort(list, *count, sizeof(*list), by_number);
    return list;
}

/* Codes are copied, and not made again: the items need not be read. */
void vector_column_compact(struct vector_column *column)
{
    struct vector_column old = { .code_bytes =
                                     column->code_bytes, /* the rest is under another lock, or stays */
                                 .claim = column->claim,
                                 .chunk = column->chunk,
                                 .chunk_capacity = column->chunk_capacity,
                                 .count = column->count,
                                 .sorted_count = column->sorted_count,
                                 .gone_count = column->gone_count,
                                 .places = column->places };
    size_t count;
    struct vector_candidate *list = list_live(&old, &count);

    column->chunk = NULL;
    column->chunk_capacity = column->count = column->sorted_count = column->gone_count = 0;
    column->places = (struct vector_places){ 0 };
    column->claim.bytes = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = column->count, offset = at % CHUNK_VECTORS;
        struct vector_chunk *chunk;

        if (offset == 0 && !add_chunk(column)) { /* no room for both: the next query makes it anew */
            column->too_odd = true;
            break;
        }
        chunk = chunk_of(column, at);
        memcpy(chunk->code + offset * column->code_bytes, code_at(&old, list[i].at), column->code_bytes);
        chunk->measure[offset] = *measure_at(&old, list[i].at);
        chunk->number[offset] = list[i].number;
        column->count++;
        column->sorted_count++;
    }
    free(list);
    empty(&old);
    atomic_store(&column->built, 0);
    atomic_store(&column->measured, 0);
    tell(column);
}

/* ---- reading ---- */

uint64_t vector_column_lsn(const struct vector_column *column)
{
    return column->lsn;
}

size_t vector_column_count(const struct vector_column *column)
{
    return column->count - column->gone_count;
}

bool vector_column_odd(const struct vector_column *column, const uint64_t **number, size_t *count)
{
    *number = column->odd;
    *count = column->odd_count;
    return !column->too_odd;
}

bool vector_column_since(const struct vector_column *column, uint64_t lsn,
                         const struct vector_change **change, size_t *count)
{
    size_t first = column->change_count;

    while (first > 0 && column->change[first - 1].lsn > lsn)
        first--;
    *change = column->change + first;
    *count = column->change_count - first;
    return lsn >= column->known_from;
}

void vector_column_stats(const struct vector_column *column, struct vector_column_stats *stats)
{
    *stats = (struct vector_column_stats){ .vectors = atomic_load(&column->live),
                                           .bytes = atomic_load(&column->bytes),
                                           .graph = atomic_load(&column->built),
                                           .is_walked = atomic_load(&column->measured),
                                           .recall_percent = atomic_load(&column->recall) };
}
