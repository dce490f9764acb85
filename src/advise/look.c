/* src/advise/look.c - reads a container's items once to find out how they are told apart, and once to look at them. */
#include <assert.h>

#include "advise/look.h"
#include "partition/scan.h"

enum { DISCRIMINATOR_ITEMS = 2000, GROUP_KEYS_MAX = 512 };

/* ---- how items are told apart ---- */

static const char *const discriminators[] = { "type",          "kind",          "entityType", "docType",
                                              "documentType",  "_type",         "$type",      "entity",
                                              "discriminator", "Discriminator", "objectType" };
enum { DISCRIMINATORS = sizeof(discriminators) / sizeof(discriminators[0]) };

struct candidates {
    uint64_t items, has[DISCRIMINATORS];
    struct spread spread[DISCRIMINATORS];
};

static void note_candidates(struct candidates *candidates, struct hash_seed seed, struct json document)
{
    candidates->items++;
    for (size_t i = 0; i < DISCRIMINATORS; i++) {
        struct json value = json_get(document, discriminators[i]);

        if (json_kind(value) != JSON_STRING)
            continue;
        candidates->has[i]++;
        spread_add(&candidates->spread[i], json_hash_seeded(seed, value).h1);
    }
}

/* Nearly every item has one, and there are few of them. */
static struct slice choose_discriminator(const struct candidates *candidates)
{
    for (size_t i = 0; i < DISCRIMINATORS; i++)
        if (candidates->has[i] * 20 >= candidates->items * 19 && candidates->items >= 2 &&
            spread_distinct(&candidates->spread[i]) <= LOOK_TYPES_MAX)
            return slice_of(discriminators[i]);
    return (struct slice){ 0 };
}

static enum status find_discriminator(struct op *op, struct look *look)
{
    const struct partition_scope everything = { 0 };
    struct candidates *candidates = arena_alloc(&op->arena, sizeof(*candidates));
    struct partition_scan scan = { 0 };
    struct record item;
    bool found = true;
    enum status st;

    *candidates = (struct candidates){ 0 };
    TRY(partition_scan_open(op, look->container, &everything, &scan));
    while (found && candidates->items < DISCRIMINATOR_ITEMS) {
        TRY(partition_scan_next(op, &scan, &item, &found));
        if (found)
            note_candidates(candidates, op->seed, item.document);
    }
    if (candidates->items)
        look->discriminator = choose_discriminator(candidates);
out:
    partition_scan_close(&scan);
    return st;
}

/* ---- keys ---- */

/*
 * Items come by number, and a number begins with bits of the key. So all items of a key are among those that begin with the
 * same bits, and a few keys are counted at a time, exactly.
 */
struct group {
    uint32_t bits;
    size_t count;
    struct {
        struct key_share share;
    } key[GROUP_KEYS_MAX];
};

static enum status keep_id(struct op *op, struct arena *arena, struct slice id, struct slice *kept)
{
    size_t size = id.size < KEPT_ID_BYTES_MAX ? id.size : KEPT_ID_BYTES_MAX;
    char *copy = arena_try_alloc(arena, size + 1);

    if (!copy)
        return op_fail_as(op, ST_TOO_LARGE);
    memcpy(copy, id.data, size);
    *kept = slice_make(copy, size);
    return ST_OK;
}

static enum status note_largest_key(struct op *op, struct look *look, struct arena *arena,
                                    const struct key_share *share)
{
    size_t place = LOOK_KEYS;
    struct key_share kept = *share;
    enum status st;

    while (place > 0 && look->largest_key[place - 1].items < share->items)
        place--;
    if (place == LOOK_KEYS)
        return ST_OK;
    TRY(keep_id(op, arena, share->id, &kept.id));
    memmove(&look->largest_key[place + 1], &look->largest_key[place],
            (LOOK_KEYS - 1 - place) * sizeof(look->largest_key[0]));
    look->largest_key[place] = kept;
out:
    return st;
}

static enum status end_group(struct op *op, struct look *look, struct arena *arena, struct group *group)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < group->count; i++) {
        const struct key_share *share = &group->key[i].share;

        look->keys++;
        if (share->bytes > look->largest_key_bytes)
            look->largest_key_bytes = share->bytes;
        TRY(note_largest_key(op, look, arena, share));
    }
    group->count = 0;
out:
    return st;
}

/* The id of the first item of a key lives in the group's own memory, which ends with the group. */
static enum status note_key(struct op *op, struct look *look, struct group *group, struct arena *memory,
                            const struct record *item, struct slice id)
{
    struct hash128 epk = siphash_128(look->seed, item->epk.data, item->epk.size);
    size_t i = 0;
    enum status st = ST_OK;

    while (i < group->count && (group->key[i].share.epk.h1 != epk.h1 || group->key[i].share.epk.h2 != epk.h2))
        i++;
    if (i == GROUP_KEYS_MAX) {
        look->keys_counted = false; /* more keys with the same bits than are told apart here */
        return ST_OK;
    }
    if (i == group->count) {
        group->key[i].share = (struct key_share){ .epk = epk };
        TRY(keep_id(op, memory, id, &group->key[i].share.id));
        group->count++;
    }
    group->key[i].share.items++;
    group->key[i].share.bytes += item->stored.size;
out:
    return st;
}

/* ---- items ---- */

static struct slice id_of(struct json document)
{
    struct json id = json_get(document, "id");

    return json_kind(id) == JSON_STRING ? json_string(id) : slice_of("");
}

static enum status note_large(struct op *op, struct look *look, struct arena *arena, uint64_t bytes,
                              struct slice id)
{
    size_t place = LOOK_LARGE;
    struct large_item kept = { .bytes = bytes };
    enum status st;

    while (place > 0 && look->large[place - 1].bytes < bytes)
        place--;
    if (place == LOOK_LARGE)
        return ST_OK;
    TRY(keep_id(op, arena, id, &kept.id));
    memmove(&look->large[place + 1], &look->large[place], (LOOK_LARGE - 1 - place) * sizeof(look->large[0]));
    look->large[place] = kept;
out:
    return st;
}

/* NULL, with ST_OK, when there are too many types. */
static enum status tree_of(struct op *op, struct look *look, struct arena *arena, struct json document,
                           struct tree **tree)
{
    struct json value =
        look->discriminator.size ? json_member(document, look->discriminator) : json_undefined;
    struct slice type = json_kind(value) == JSON_STRING ? json_string(value) : (struct slice){ 0 };
    enum status st = ST_OK;

    *tree = NULL;
    for (size_t i = 0; i < look->type_count && !*tree; i++)
        if (slice_equal(look->type[i].type, type) && !look->type[i].type.data == !type.data)
            *tree = &look->type[i];
    if (*tree || look->type_count == LOOK_TYPES_MAX)
        return ST_OK;
    TRY(tree_init(op, &look->type[look->type_count], arena, op->seed));
    if (type.data)
        TRY(keep_id(op, arena, type, &look->type[look->type_count].type));
    *tree = &look->type[look->type_count++];
out:
    return st;
}

static enum status look_at_item(struct op *op, struct look *look, struct arena *arena,
                                const struct record *item, struct slice id)
{
    struct seen_item seen = { item->document, id, json_size(item->document) };
    struct tree *tree;
    enum status st;

    TRY(tree_of(op, look, arena, item->document, &tree));
    if (!tree) {
        look->untyped++;
        goto out;
    }
    look->looked++;
    TRY(tree_add(op, tree, &seen));
out:
    return st;
}

/* Each item with the same chance, and the same ones each time. */
static bool is_chosen(const struct look *look, uint64_t number)
{
    uint64_t stride = look->expected / LOOK_ITEMS_MAX + 1;

    return stride == 1 || murmur3_128(&number, sizeof(number)).h1 % stride == 0;
}

static enum status note_item(struct op *op, struct look *look, struct arena *arena, const struct record *item,
                             struct slice id)
{
    enum status st;

    look->items++;
    look->bytes += item->stored.size;
    TRY(note_large(op, look, arena, item->stored.size, id));
    if (is_chosen(look, item->number))
        TRY(look_at_item(op, look, arena, item, id));
out:
    return st;
}

/* One item, and the group of keys that it belongs to. */
static enum status read_item(struct op *op, struct look *look, struct arena *arena, const struct record *item,
                             struct group *group, struct arena *group_memory)
{
    struct slice id = id_of(item->document);
    enum status st = ST_OK;

    if (group->count && group->bits != number_epk_bits(item->number)) {
        TRY(end_group(op, look, arena, group));
        arena_reset(group_memory);
    }
    group->bits = number_epk_bits(item->number);
    TRY(note_key(op, look, group, group_memory, item, id));
    TRY(note_item(op, look, arena, item, id));
out:
    return st;
}

static enum status read_items(struct op *op, struct arena *arena, int64_t until_ms, struct look *look)
{
    const struct partition_scope everything = { 0 };
    struct group *group = arena_alloc(&op->arena, sizeof(*group));
    struct arena group_memory;
    struct partition_scan scan = { 0 };
    struct record item;
    bool found = true, counted;
    enum status st;

    group->count = 0;
    op_arena(op, &group_memory, OP_MEMORY_BYTES_MAX);
    TRY(partition_scan_open(op, look->container, &everything, &scan));
    TRY(partition_scan_count(op, &scan, &look->expected, &counted));
    while (found && look->whole) {
        TRY(partition_scan_next(op, &scan, &item, &found));
        if (found)
            TRY(read_item(op, look, arena, &item, group, &group_memory));
        if (look->items % 1024 == 0 && env_monotonic_ms(op->env) > until_ms)
            look->whole = false;
    }
    TRY(end_group(op, look, arena, group));
out:
    partition_scan_close(&scan);
    arena_free(&group_memory);
    return st;
}

enum status look_at(struct op *op, struct arena *arena, struct container *container, int64_t until_ms,
                    struct look *look)
{
    enum status st;

    *look = (struct look){ .container = container, .whole = true, .keys_counted = true, .seed = op->seed };
    TRY(find_discriminator(op, look));
    TRY(read_items(op, arena, until_ms, look));
    assert(look->looked + look->untyped <= look->items);
out:
    return st;
}
