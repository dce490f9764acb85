/* src/base/sketch.c - slots by the hashes of their keys, a heap of them with the lightest on top, and HyperLogLog's registers. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/sketch.h"

enum { REGISTER_BITS = 10, REGISTERS = 1 << REGISTER_BITS, NO_SLOT = UINT16_MAX };

_Static_assert((int)SKETCH_SLOTS_MAX < (int)NO_SLOT, "a slot's number has 16 bits");

struct slot {
    struct hash128 hash;
    uint64_t count, error;
    uint32_t size;  /* of the whole key */
    uint16_t place; /* in the order */
    char key[];
};

struct sketch {
    struct sketch_shape shape;
    struct hash_seed seed;
    uint64_t total;
    size_t used;      /* slots */
    size_t slot_size; /* with its key */
    size_t mask;      /* of the table, which is half empty at least */
    char *slots;
    uint16_t *order, *table;
    uint8_t reg[REGISTERS];
};

/* ------- the block ------- */

static size_t aligned(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

static size_t slot_bytes(struct sketch_shape shape)
{
    return aligned(sizeof(struct slot) + shape.key_bytes);
}

static size_t table_size(struct sketch_shape shape)
{
    size_t size = 4;

    while (size < (size_t)shape.slots * 2)
        size *= 2;
    return size;
}

size_t sketch_size(struct sketch_shape shape)
{
    assert(shape.slots > 0);
    assert(shape.slots <= SKETCH_SLOTS_MAX);
    assert(shape.key_bytes <= SKETCH_KEY_BYTES_MAX);
    return aligned(sizeof(struct sketch)) + shape.slots * slot_bytes(shape) +
           (shape.slots + table_size(shape)) * sizeof(uint16_t);
}

struct sketch *sketch_init(void *memory, struct sketch_shape shape, struct hash_seed seed)
{
    struct sketch *sketch = memory;

    memset(memory, 0, sketch_size(shape));
    sketch->shape = shape;
    sketch->seed = seed;
    sketch->slot_size = slot_bytes(shape);
    sketch->mask = table_size(shape) - 1;
    sketch->slots = (char *)memory + aligned(sizeof(*sketch));
    sketch->order = (uint16_t *)(sketch->slots + shape.slots * sketch->slot_size);
    sketch->table = sketch->order + shape.slots;
    sketch_clear(sketch);
    return sketch;
}

struct sketch *sketch_new(struct sketch_shape shape, struct hash_seed seed)
{
    return sketch_init(heap_allocate(sketch_size(shape)), shape, seed);
}

void sketch_clear(struct sketch *sketch)
{
    sketch->total = 0;
    sketch->used = 0;
    memset(sketch->table, 0xff, (sketch->mask + 1) * sizeof(*sketch->table)); /* NO_SLOT everywhere */
    memset(sketch->reg, 0, sizeof(sketch->reg));
}

static struct slot *slot_at(const struct sketch *sketch, size_t index)
{
    return (struct slot *)(sketch->slots + index * sketch->slot_size);
}

/* ------- the table: where the slot of a hash is ------- */

static bool same_hash(struct hash128 a, struct hash128 b)
{
    return a.h1 == b.h1 && a.h2 == b.h2;
}

/* Where it stands, or where it would stand. There is always an empty place: the table has twice as many as slots. */
static size_t table_find(const struct sketch *sketch, struct hash128 hash)
{
    size_t at = hash.h1 & sketch->mask;

    while (sketch->table[at] != NO_SLOT && !same_hash(slot_at(sketch, sketch->table[at])->hash, hash))
        at = (at + 1) & sketch->mask;
    return at;
}

/* What stood behind it only because it was there moves up, so that everything is found without gaps. */
static void table_remove(struct sketch *sketch, struct hash128 hash)
{
    size_t hole = table_find(sketch, hash), at = hole;

    assert(sketch->table[hole] != NO_SLOT);
    for (;;) {
        size_t home;

        at = (at + 1) & sketch->mask;
        if (sketch->table[at] == NO_SLOT)
            break;
        home = slot_at(sketch, sketch->table[at])->hash.h1 & sketch->mask;
        if (((at - home) & sketch->mask) < ((at - hole) & sketch->mask))
            continue; /* the hole is before its home */
        sketch->table[hole] = sketch->table[at];
        hole = at;
    }
    sketch->table[hole] = NO_SLOT;
}

/* ------- the order: a heap of slots, the lightest on top ------- */

static uint64_t weight_at(const struct sketch *sketch, size_t place)
{
    return slot_at(sketch, sketch->order[place])->count;
}

static void order_set(struct sketch *sketch, size_t place, uint16_t index)
{
    sketch->order[place] = index;
    slot_at(sketch, index)->place = (uint16_t)place;
}

static void order_down(struct sketch *sketch, size_t place)
{
    uint16_t index = sketch->order[place];
    uint64_t weight = slot_at(sketch, index)->count;

    for (;;) {
        size_t child = place * 2 + 1;

        if (child + 1 < sketch->used && weight_at(sketch, child + 1) < weight_at(sketch, child))
            child++;
        if (child >= sketch->used || weight_at(sketch, child) >= weight)
            break;
        order_set(sketch, place, sketch->order[child]);
        place = child;
    }
    order_set(sketch, place, index);
}

static void order_up(struct sketch *sketch, size_t place)
{
    uint16_t index = sketch->order[place];
    uint64_t weight = slot_at(sketch, index)->count;

    for (; place > 0 && weight_at(sketch, (place - 1) / 2) > weight; place = (place - 1) / 2)
        order_set(sketch, place, sketch->order[(place - 1) / 2]);
    order_set(sketch, place, index);
}

/* ------- slots ------- */

struct counted {
    struct hash128 hash;
    struct slice key; /* as much as is there */
    size_t size;
    uint64_t count, error;
};

static void slot_fill(struct sketch *sketch, uint16_t index, const struct counted *counted)
{
    struct slot *slot = slot_at(sketch, index);
    size_t kept = counted->key.size < sketch->shape.key_bytes ? counted->key.size : sketch->shape.key_bytes;

    slot->hash = counted->hash;
    slot->count = counted->count;
    slot->error = counted->error;
    slot->size = (uint32_t)counted->size;
    if (kept)
        memcpy(slot->key, counted->key.data, kept);
    sketch->table[table_find(sketch, counted->hash)] = index;
}

static bool is_full(const struct sketch *sketch)
{
    return sketch->used == sketch->shape.slots;
}

/* It has no slot yet, and there is a free one. */
static void take_free(struct sketch *sketch, const struct counted *counted)
{
    uint16_t index = (uint16_t)sketch->used++;

    slot_fill(sketch, index, counted);
    sketch->order[index] = index;
    order_up(sketch, index);
}

/* It has no slot yet, and takes that of the lightest. */
static void take_lightest(struct sketch *sketch, const struct counted *counted)
{
    uint16_t index = sketch->order[0];

    table_remove(sketch, slot_at(sketch, index)->hash);
    slot_fill(sketch, index, counted);
    order_down(sketch, 0);
}

static struct slot *slot_of(const struct sketch *sketch, struct hash128 hash)
{
    uint16_t index = sketch->table[table_find(sketch, hash)];

    return index == NO_SLOT ? NULL : slot_at(sketch, index);
}

uint64_t sketch_lightest(const struct sketch *sketch)
{
    return is_full(sketch) ? weight_at(sketch, 0) : 0;
}

static void count_key(struct sketch *sketch, struct hash128 hash, struct slice key, uint64_t weight)
{
    struct slot *slot = slot_of(sketch, hash);
    uint64_t before = sketch_lightest(sketch);
    struct counted counted = { hash, key, key.size, before + weight, before };

    if (slot) {
        slot->count += weight;
        order_down(sketch, slot->place);
    } else if (is_full(sketch)) {
        take_lightest(sketch, &counted);
    } else {
        take_free(sketch, &counted);
    }
}

/* The first bits name a register, which keeps the longest run of zeros behind them. */
static void note_different(struct sketch *sketch, uint64_t hash)
{
    size_t reg = hash >> (64 - REGISTER_BITS);
    uint64_t rest = hash << REGISTER_BITS;
    uint8_t rank = rest ? (uint8_t)(__builtin_clzll(rest) + 1) : 64 - REGISTER_BITS + 1;

    if (sketch->reg[reg] < rank)
        sketch->reg[reg] = rank;
}

void sketch_add(struct sketch *sketch, struct slice key, uint64_t weight)
{
    struct hash128 hash = siphash_128(sketch->seed, key.data, key.size);

    sketch->total += weight;
    note_different(sketch, hash.h2);
    count_key(sketch, hash, key, weight);
}

/* ------- joining ------- */

/* What the other has of a key: its slot's count, or at most what its lightest has. */
static void add_others(struct sketch *sketch, const struct sketch *other)
{
    for (size_t i = 0; i < sketch->used; i++) {
        struct slot *slot = slot_at(sketch, i);
        const struct slot *same = slot_of(other, slot->hash);

        slot->count += same ? same->count : sketch_lightest(other);
        slot->error += same ? same->error : sketch_lightest(other);
    }
    for (size_t place = sketch->used / 2; place-- > 0;)
        order_down(sketch, place);
}

/*
 * A key of the other's that has no slot here. One that had a slot, and lost it to a heavier one of the other's, does not come
 * back: it was lighter then than all that are here now, and what it is offered with here is no more than it had.
 */
static void take_others(struct sketch *sketch, const struct slot *theirs, size_t kept_max, uint64_t lightest)
{
    size_t kept = theirs->size < kept_max ? theirs->size : kept_max;
    struct counted counted = { theirs->hash, slice_make(theirs->key, kept), theirs->size,
                               theirs->count + lightest, theirs->error + lightest };

    if (!is_full(sketch))
        take_free(sketch, &counted);
    else if (counted.count > sketch_lightest(sketch))
        take_lightest(sketch, &counted);
}

void sketch_join(struct sketch *sketch, const struct sketch *other)
{
    uint64_t lightest = sketch_lightest(sketch); /* before anything is added */

    assert(sketch->shape.slots == other->shape.slots);
    assert(sketch->shape.key_bytes == other->shape.key_bytes);
    assert(memcmp(&sketch->seed, &other->seed, sizeof(sketch->seed)) == 0);
    add_others(sketch, other);
    for (size_t i = 0; i < other->used; i++)
        if (!slot_of(sketch, slot_at(other, i)->hash))
            take_others(sketch, slot_at(other, i), other->shape.key_bytes, lightest);
    for (size_t i = 0; i < REGISTERS; i++)
        if (sketch->reg[i] < other->reg[i])
            sketch->reg[i] = other->reg[i];
    sketch->total += other->total;
}

/* ------- what it knows ------- */

static struct sketch_row row_of(const struct sketch *sketch, const struct slot *slot)
{
    size_t kept = slot->size < sketch->shape.key_bytes ? slot->size : sketch->shape.key_bytes;

    return (struct sketch_row){ slice_make(slot->key, kept), slot->size, slot->count, slot->error };
}

/* The heaviest first; of two that weigh the same, the lesser key. */
static bool is_before(const struct sketch_row *a, const struct sketch_row *b)
{
    return a->count != b->count ? a->count > b->count : slice_compare(a->key, b->key) < 0;
}

size_t sketch_top(const struct sketch *sketch, struct sketch_row *row, size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < sketch->used; i++) {
        struct sketch_row now = row_of(sketch, slot_at(sketch, i));
        size_t at = count;

        if (count == max && (max == 0 || !is_before(&now, &row[count - 1])))
            continue;
        if (count < max)
            count++;
        else
            at--;
        for (; at > 0 && is_before(&now, &row[at - 1]); at--)
            row[at] = row[at - 1];
        row[at] = now;
    }
    return count;
}

uint64_t sketch_total(const struct sketch *sketch)
{
    return sketch->total;
}

/* While many registers are empty, how many are tells more than what the others have. */
uint64_t sketch_distinct(const struct sketch *sketch)
{
    const double bias = 0.7213 / (1 + 1.079 / REGISTERS);
    double sum = 0, estimate;
    size_t empty = 0;

    for (size_t i = 0; i < REGISTERS; i++) {
        sum += ldexp(1, -sketch->reg[i]);
        empty += sketch->reg[i] == 0;
    }
    estimate = bias * REGISTERS * REGISTERS / sum;
    if (estimate <= 2.5 * REGISTERS && empty > 0)
        estimate = REGISTERS * log((double)REGISTERS / (double)empty);
    return (uint64_t)llround(estimate);
}

/* ------- as bytes ------- */

struct written_head {
    uint32_t slots, key_bytes, used, registers;
    uint64_t total;
};

struct written_slot {
    struct hash128 hash;
    uint64_t count, error;
    uint32_t size, kept;
};

void sketch_write(const struct sketch *sketch, struct buf *out)
{
    struct written_head head = { sketch->shape.slots, sketch->shape.key_bytes, (uint32_t)sketch->used,
                                 REGISTERS, sketch->total };

    buf_append(out, &head, sizeof(head));
    buf_append(out, sketch->reg, sizeof(sketch->reg));
    for (size_t i = 0; i < sketch->used; i++) {
        const struct slot *slot = slot_at(sketch, i);
        struct slice key = row_of(sketch, slot).key;
        struct written_slot written = { slot->hash, slot->count, slot->error, slot->size,
                                        (uint32_t)key.size };

        buf_append(out, &written, sizeof(written));
        buf_slice(out, key);
    }
}

static bool take(struct slice *bytes, void *to, size_t size)
{
    if (bytes->size < size)
        return false;
    memcpy(to, bytes->data, size);
    *bytes = slice_after(*bytes, size);
    return true;
}

static bool read_slot(struct sketch *sketch, struct slice *bytes)
{
    struct written_slot written;
    struct counted counted;

    if (!take(bytes, &written, sizeof(written)) || written.kept > bytes->size ||
        written.kept != (written.size < sketch->shape.key_bytes ? written.size : sketch->shape.key_bytes) ||
        slot_of(sketch, written.hash))
        return false;
    counted = (struct counted){ written.hash, slice_make(bytes->data, written.kept), written.size,
                                written.count, written.error };
    take_free(sketch, &counted);
    *bytes = slice_after(*bytes, written.kept);
    return true;
}

static bool read_all(struct sketch *sketch, struct slice bytes)
{
    struct written_head head;

    if (!take(&bytes, &head, sizeof(head)) || head.slots != sketch->shape.slots ||
        head.key_bytes != sketch->shape.key_bytes || head.registers != REGISTERS || head.used > head.slots ||
        !take(&bytes, sketch->reg, sizeof(sketch->reg)))
        return false;
    for (size_t i = 0; i < REGISTERS; i++)
        if (sketch->reg[i] > 64 - REGISTER_BITS + 1)
            return false;
    for (size_t i = 0; i < head.used; i++)
        if (!read_slot(sketch, &bytes))
            return false;
    sketch->total = head.total;
    return bytes.size == 0;
}

bool sketch_read(struct sketch *sketch, struct slice bytes)
{
    bool is_read;

    sketch_clear(sketch);
    is_read = read_all(sketch, bytes);
    if (!is_read)
        sketch_clear(sketch);
    return is_read;
}
