/* src/store/cache.c - sets of a few entries each; a key's hash chooses its set, the newest entry comes first. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/thread.h"
#include "store/cache.h"

/* As many entries as fill a set with documents of half a KB. */
enum { ENTRIES = 32, WANTED = 16, SET_BYTES = 16 * 1024, TICKET_VOID = 0 };

/* Keys that are looked for together. */
enum { FOUND_AT_ONCE = 32 };

struct entry {
    uint32_t key_size, value_size;
    char bytes[]; /* key, then value */
};

struct set {
    pthread_mutex_t mutex;
    uint64_t version;  /* rises with each change of any of its keys */
    uint32_t changing; /* changes under way */
    atomic_uint bytes; /* this and the next are changed under the mutex, and looked at without */
    atomic_ullong hits, misses;
    uint32_t tag[ENTRIES];        /* of the keys of entries: one with another tag need not be looked at */
    struct entry *entry[ENTRIES]; /* newest first; NULL behind the last */
    uint32_t wanted[WANTED];      /* tags of keys that were asked for lately and not found, in a ring */
    uint32_t next_wanted;
};

struct cache {
    atomic_bool paused; /* looked at under a set's lock */
    size_t count;       /* a power of two */
    struct set *sets;
};

/* Sets that nobody has used take no memory: to C libraries on Linux a mutex of zeros is one that was initialised. */
static bool is_ready(const struct set *set)
{
    pthread_mutex_t made;

    memset(&made, 0, sizeof(made));
    pthread_mutex_init(&made, NULL);
    return slice_equal(slice_make(&made, sizeof(made)), slice_make(&set->mutex, sizeof(set->mutex)));
}

struct cache *cache_open(size_t limit_bytes)
{
    struct cache *cache = heap_allocate(sizeof(*cache));

    for (cache->count = 1; 2 * cache->count * SET_BYTES <= limit_bytes; cache->count *= 2)
        ;
    cache->sets = heap_allocate(cache->count * sizeof(*cache->sets));
    assert(is_ready(&cache->sets[0]));
    return cache;
}

static size_t entry_bytes(const struct entry *entry)
{
    return sizeof(*entry) + entry->key_size + entry->value_size;
}

/* By who has the mutex. */
static void add(atomic_uint *sum, unsigned more)
{
    atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + more, memory_order_relaxed);
}

static void count_one(atomic_ullong *count)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* Takes the entry out; those behind it move up. */
static void remove_at(struct set *set, size_t at)
{
    struct entry *entry = set->entry[at];

    assert(entry);
    assert(set->bytes >= entry_bytes(entry));
    add(&set->bytes, -(unsigned)entry_bytes(entry));
    memmove(set->entry + at, set->entry + at + 1, (ENTRIES - 1 - at) * sizeof(set->entry[0]));
    memmove(set->tag + at, set->tag + at + 1, (ENTRIES - 1 - at) * sizeof(set->tag[0]));
    set->entry[ENTRIES - 1] = NULL;
    free(entry);
}

void cache_close(struct cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < cache->count; i++) {
        assert(!cache->sets[i].changing); /* the committer has ended before its cache */
        while (cache->sets[i].entry[0])
            remove_at(&cache->sets[i], 0);
        pthread_mutex_destroy(&cache->sets[i].mutex);
    }
    free(cache->sets);
    free(cache);
}

/* A key, which set it belongs to, and which tag it has there. */
struct hashed {
    struct slice key;
    size_t set;
    uint32_t tag;
};

static struct hashed hash_of(const struct cache *cache, struct slice key)
{
    uint64_t hash = murmur3_128(key.data, key.size).h1;

    return (struct hashed){ key, hash & (cache->count - 1), (uint32_t)(hash >> 32) };
}

static struct set *lock_set(struct cache *cache, const struct hashed *hashed)
{
    struct set *set = &cache->sets[hashed->set];

    pthread_mutex_lock(&set->mutex);
    return set;
}

/* The key's place in the set; ENTRIES when it has none. */
static size_t place_of(const struct set *set, const struct hashed *hashed)
{
    for (size_t at = 0; at < ENTRIES; at++) {
        const struct entry *entry = set->entry[at];

        if (set->tag[at] == hashed->tag && entry &&
            slice_equal(slice_make(entry->bytes, entry->key_size), hashed->key))
            return at;
    }
    return ENTRIES;
}

static bool copy_out(const struct entry *entry, struct op *op, struct slice *value)
{
    char *copy = arena_try_alloc(&op->arena, entry->value_size + 1); /* never NULL for an empty value */

    if (!copy)
        return false;
    memcpy(copy, entry->bytes + entry->key_size, entry->value_size);
    *value = slice_make(copy, entry->value_size);
    return true;
}

static bool find(struct cache *cache, struct op *op, const struct hashed *hashed, struct slice *value)
{
    struct set *set = lock_set(cache, hashed);
    size_t at = place_of(set, hashed);
    bool found = at < ENTRIES && copy_out(set->entry[at], op, value);

    count_one(found ? &set->hits : &set->misses);
    pthread_mutex_unlock(&set->mutex);
    return found;
}

bool cache_find(struct cache *cache, struct op *op, struct slice key, struct slice *value)
{
    struct hashed hashed = hash_of(cache, key);

    return find(cache, op, &hashed, value);
}

/* What of a set is looked at comes nearer while others are. */
static void announce(const struct cache *cache, const struct hashed *hashed)
{
    const struct set *set = &cache->sets[hashed->set];

    __builtin_prefetch(set, 1);
    __builtin_prefetch(&set->tag[0]);
    __builtin_prefetch(&set->tag[ENTRIES - 1]);
    __builtin_prefetch(&set->entry[0]);
}

void cache_find_many(struct cache *cache, struct op *op, const struct slice *keys, size_t count,
                     struct slice *values)
{
    struct hashed hashed[FOUND_AT_ONCE];

    for (size_t begin = 0; begin < count; begin += FOUND_AT_ONCE) {
        size_t end = count - begin < FOUND_AT_ONCE ? count : begin + FOUND_AT_ONCE;

        for (size_t i = begin; i < end; i++) {
            hashed[i - begin] = hash_of(cache, keys[i]);
            announce(cache, &hashed[i - begin]);
        }
        for (size_t i = begin; i < end; i++)
            if (!find(cache, op, &hashed[i - begin], &values[i]))
                values[i] = (struct slice){ 0 };
    }
}

/* A set that nobody has used is not written to: it would take memory. */
void cache_stats(struct cache *cache, struct cache_stats *stats)
{
    *stats = (struct cache_stats){ 0 };
    for (size_t i = 0; i < cache->count; i++) {
        struct set *set = &cache->sets[i];

        stats->hits += atomic_load_explicit(&set->hits, memory_order_relaxed);
        stats->misses += atomic_load_explicit(&set->misses, memory_order_relaxed);
        stats->bytes += atomic_load_explicit(&set->bytes, memory_order_relaxed);
    }
}

static uint64_t ticket_of(const struct cache *cache, const struct set *set)
{
    return set->changing || atomic_load(&cache->paused) ? TICKET_VOID : set->version + 1;
}

uint64_t cache_ticket(struct cache *cache, struct slice key)
{
    struct hashed hashed = hash_of(cache, key);
    struct set *set = lock_set(cache, &hashed);
    uint64_t ticket = ticket_of(cache, set);

    pthread_mutex_unlock(&set->mutex);
    return ticket;
}

/* Whether it is one of those asked for lately; from now on it is. */
static bool was_wanted(struct set *set, uint32_t tag)
{
    for (size_t i = 0; i < WANTED; i++)
        if (set->wanted[i] == tag)
            return true;
    set->wanted[set->next_wanted] = tag;
    set->next_wanted = (set->next_wanted + 1) % WANTED;
    return false;
}

static struct entry *make_entry(struct slice key, struct slice value)
{
    struct entry *entry = malloc(sizeof(*entry) + key.size + value.size);

    assert(value.data); /* what is absent is not remembered */
    if (!entry)
        return NULL;
    entry->key_size = (uint32_t)key.size;
    entry->value_size = (uint32_t)value.size;
    memcpy(entry->bytes, key.data, key.size);
    memcpy(entry->bytes + key.size, value.data, value.size);
    return entry;
}

/* The oldest go until there is room for one more of this size. */
static void make_room(struct set *set, size_t bytes)
{
    size_t last = ENTRIES;

    assert(bytes <= SET_BYTES);
    while (set->entry[0] && (set->entry[ENTRIES - 1] || set->bytes + bytes > SET_BYTES)) {
        for (last = ENTRIES - 1; !set->entry[last]; last--)
            ;
        remove_at(set, last);
    }
}

static void add_first(struct set *set, struct entry *entry, uint32_t tag)
{
    thread_assert_locked(&set->mutex);
    make_room(set, entry_bytes(entry));
    assert(!set->entry[ENTRIES - 1]);
    memmove(set->entry + 1, set->entry, (ENTRIES - 1) * sizeof(set->entry[0]));
    memmove(set->tag + 1, set->tag, (ENTRIES - 1) * sizeof(set->tag[0]));
    set->entry[0] = entry;
    set->tag[0] = tag;
    add(&set->bytes, (unsigned)entry_bytes(entry));
}

void cache_fill(struct cache *cache, struct slice key, struct slice value, uint64_t ticket)
{
    struct hashed hashed;
    struct entry *entry;
    struct set *set;

    if (ticket == TICKET_VOID || sizeof(*entry) + key.size + value.size > SET_BYTES / 2)
        return;
    entry = make_entry(key, value);
    if (!entry)
        return;
    hashed = hash_of(cache, key);
    set = lock_set(cache, &hashed);
    if (set->version + 1 == ticket && !set->changing && place_of(set, &hashed) == ENTRIES) {
        add_first(set, entry, hashed.tag);
        entry = NULL;
    }
    pthread_mutex_unlock(&set->mutex);
    free(entry);
}

void cache_fill_if_wanted(struct cache *cache, struct slice key, struct slice value, uint64_t ticket)
{
    struct hashed hashed = hash_of(cache, key);
    struct set *set = lock_set(cache, &hashed);
    bool wanted = was_wanted(set, hashed.tag);

    pthread_mutex_unlock(&set->mutex);
    if (wanted)
        cache_fill(cache, key, value, ticket);
}

void cache_begin_change(struct cache *cache, struct slice key)
{
    struct hashed hashed = hash_of(cache, key);
    struct set *set = lock_set(cache, &hashed);
    size_t at = place_of(set, &hashed);

    set->changing++;
    set->version++;
    if (at < ENTRIES)
        remove_at(set, at);
    pthread_mutex_unlock(&set->mutex);
}

void cache_end_change(struct cache *cache, struct slice key)
{
    struct hashed hashed = hash_of(cache, key);
    struct set *set = lock_set(cache, &hashed);

    assert(set->changing > 0);
    set->changing--;
    set->version++;
    pthread_mutex_unlock(&set->mutex);
}

/* With all versions new and all tickets void from here on, nothing comes in before it is resumed. */
void cache_pause(struct cache *cache)
{
    atomic_store(&cache->paused, true);
    for (size_t i = 0; i < cache->count; i++) {
        struct set *set = &cache->sets[i];

        pthread_mutex_lock(&set->mutex);
        set->version++;
        while (set->entry[0])
            remove_at(set, 0);
        pthread_mutex_unlock(&set->mutex);
    }
}

void cache_resume(struct cache *cache)
{
    atomic_store(&cache->paused, false);
}
