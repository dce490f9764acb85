/*
 * src/index/entries.c - a document's entries, and what changes from one version of it to the next.
 *
 * A walk goes down the document and the policy's tree together; each value that has an entry adds a term. Then the
 * terms are sorted, and repeated ones (a tag given twice) are dropped. The walk returns the hash of each array and
 * object, so that no value is hashed more than once, however deep it lies.
 */
#include <assert.h>

#include "base/hash.h"
#include "base/limits.h"
#include "geo/cells.h"
#include "index/entries.h"
#include "index/policy_private.h"
#include "index/text_terms.h"
#include "keys/keys.h"

/* A value that composites and tuples are made of. */
struct slot {
    struct json value;
    struct hash128 hash; /* of an array or an object */
};

struct walk {
    struct op *op;
    const struct index_policy *policy;
    int64_t ts_ms;
    struct slot *slot;
    struct terms *terms;
};

/* ------- terms ------- */

static void add_value(struct walk *walk, path_id path, struct json value)
{
    uint8_t *to = terms_begin(walk->terms, path, ORDERED_BYTES_MAX);

    if (to)
        terms_end(walk->terms, term_put_value(to, value, false));
}

static void add_hashed(struct walk *walk, path_id path, enum json_kind kind, struct hash128 hash)
{
    uint8_t *to = terms_begin(walk->terms, path, ORDERED_HASHED_BYTES);

    if (to)
        terms_end(walk->terms, term_put_hashed(to, kind, hash, false));
}

static void add_time(struct walk *walk)
{
    uint8_t *to =
        terms_begin(walk->terms, path_member(walk->policy->seed, path_root(TERM_RANGE), slice_of("_ts")),
                    TERM_TIME_BYTES);

    if (!to)
        return;
    if (walk->ts_ms == TERM_TIME_UNKNOWN)
        terms_date(walk->terms, 0, false);
    terms_end(walk->terms, term_put_time(to, walk->ts_ms, false));
}

static size_t put_slot(uint8_t *to, const struct slot *slot, bool descending)
{
    enum json_kind kind = json_kind(slot->value);

    if (kind >= JSON_ARRAY)
        return term_put_hashed(to, kind, slot->hash, descending);
    return term_put_value(to, slot->value, descending);
}

static void add_joined(struct walk *walk, const struct index_joined *joined, const struct joined_slots *slots)
{
    uint8_t *to = terms_begin(walk->terms, joined->id, joined->part_count * ORDERED_BYTES_MAX);
    size_t size = 0;

    for (size_t i = 0; to && i < joined->part_count; i++) {
        bool descending = joined->descending[i];

        if (slots->slot[i] != NONE) {
            size += put_slot(to + size, &walk->slot[slots->slot[i]], descending);
            continue;
        }
        if (walk->ts_ms == TERM_TIME_UNKNOWN)
            terms_date(walk->terms, size, descending);
        size += term_put_time(to + size, walk->ts_ms, descending);
    }
    if (to)
        terms_end(walk->terms, size);
}

static void add_cells(struct walk *walk, const struct index_node *node, path_id path, struct json geometry)
{
    const double *box = walk->policy->planar ? walk->policy->box[node->spatial] : NULL;
    uint64_t cell[CELLS_MAX];
    size_t count = cells_of(geometry, box, cell);

    for (size_t i = 0; i < count; i++) {
        uint8_t *to = terms_begin(walk->terms, path_spatial(path, box), CELL_BYTES);

        if (!to)
            return;
        cell_put(to, cell[i]);
        terms_end(walk->terms, CELL_BYTES);
    }
}

static void add_words(struct walk *walk, const struct index_node *node, path_id path, struct slice text)
{
    struct index_text where = index_text_at(walk->policy, path, node->text);

    text_terms_add(walk->op, walk->terms, &where, text);
}

/* ------- steps that were taken before ------- */

/*
 * Documents have the same members again and again, and so the same hashes of names and ids of paths: each thread keeps those that it
 * has computed last. Names that are longer are computed anew.
 */
enum { STEP_BITS = 6, STEPS_KEPT = 1 << STEP_BITS, STEP_NAME_MAX = 24 };

struct step {
    struct hash128 hash; /* of the name, as the policy's tree has it */
    path_id path;
};

static _Thread_local struct kept_step {
    struct hash_seed seed;
    path_id parent;
    struct step step;
    uint32_t size; /* of the name: 0 where nothing is kept, and then the name is not looked at */
    char name[STEP_NAME_MAX];
} kept_steps[STEPS_KEPT];

static struct kept_step *place_of_step(path_id parent, struct slice name)
{
    uint64_t last = 0;
    size_t size = name.size < sizeof(last) ? name.size : sizeof(last);

    memcpy(&last, name.data + name.size - size, size);
    return &kept_steps[((parent ^ last) * 0x9e3779b97f4a7c15u) >> (64 - STEP_BITS)];
}

static bool is_kept(const struct kept_step *kept, struct hash_seed seed, path_id parent, struct slice name)
{
    return kept->size == name.size && kept->parent == parent &&
           memcmp(&kept->seed, &seed, sizeof(seed)) == 0 && memcmp(kept->name, name.data, name.size) == 0;
}

static struct step step_to(struct hash_seed seed, path_id parent, struct slice name)
{
    struct step step;
    struct kept_step *kept = NULL;

    if (name.size > 0 && name.size <= STEP_NAME_MAX) {
        kept = place_of_step(parent, name);
        if (is_kept(kept, seed, parent, name))
            return kept->step;
    }
    step = (struct step){ murmur3_128(name.data, name.size), path_member(seed, parent, name) };
    if (kept) {
        *kept = (struct kept_step){ seed, parent, step, (uint32_t)name.size, "" };
        memcpy(kept->name, name.data, name.size);
    }
    return step;
}

/* ------- the walk ------- */

static struct hash128 visit(struct walk *walk, const struct index_node *node, path_id path, struct json value,
                            bool hashed);

static void clear_slots(struct walk *walk, int tuple)
{
    for (; tuple != NONE; tuple = walk->policy->tuple_slots[tuple].next)
        for (size_t i = 0; i < walk->policy->tuple[tuple].part_count; i++)
            walk->slot[walk->policy->tuple_slots[tuple].slot[i]] = (struct slot){ 0 };
}

static void add_tuples(struct walk *walk, int tuple)
{
    for (; tuple != NONE; tuple = walk->policy->tuple_slots[tuple].next)
        add_joined(walk, &walk->policy->tuple[tuple], &walk->policy->tuple_slots[tuple]);
}

static struct hash128 visit_array(struct walk *walk, const struct index_node *node, path_id path,
                                  struct json array, bool hashed)
{
    const struct index_node *element = index_node_element(node);
    struct json_hasher hasher = json_hasher(array);
    path_id below = path_element(path);

    if (element->value)
        terms_expect(walk->terms, json_count(array));
    for (struct json_iter i = json_iter(array); json_next(&i) && !walk->terms->failed;) {
        struct hash128 hash;

        clear_slots(walk, element->tuple);
        hash = visit(walk, element, below, i.value, hashed);
        if (hashed)
            json_hasher_element(&hasher, hash);
        add_tuples(walk, element->tuple);
    }
    return json_hasher_end(&hasher);
}

static struct hash128 visit_object(struct walk *walk, const struct index_node *node, path_id path,
                                   struct json object, bool hashed)
{
    struct json_hasher hasher = json_hasher(object);

    if (node->rest->value)
        terms_expect(walk->terms, json_count(object));
    for (struct json_iter i = json_iter(object); json_next(&i) && !walk->terms->failed;) {
        struct step step = step_to(walk->policy->seed, path, i.name);
        const struct index_node *member = index_node_member(node, step.hash, i.name);
        struct hash128 hash;

        if (!member->stored)
            continue;
        hash = visit(walk, member, step.path, i.value, hashed);
        if (hashed)
            json_hasher_member(&hasher, step.hash, hash);
    }
    return json_hasher_end(&hasher);
}

/* Visits an array or an object. Its hash is needed for its own entry, for a slot, or for the hash of its parent. */
static struct hash128 visit_container(struct walk *walk, const struct index_node *node, path_id path,
                                      struct json value, bool hashed)
{
    enum json_kind kind = json_kind(value);
    bool needed = hashed || node->value || node->slot != NONE;
    struct hash128 hash = { 0 };

    if (node->is_bare)
        return hashed ? json_hash(value) : hash;
    if (kind == JSON_ARRAY)
        hash = visit_array(walk, node, path, value, needed);
    else
        hash = visit_object(walk, node, path, value, needed);
    if (node->value)
        add_hashed(walk, path, kind, hash);
    if (node->spatial != NONE && kind == JSON_OBJECT)
        add_cells(walk, node, path, value);
    return hash;
}

static struct hash128 visit(struct walk *walk, const struct index_node *node, path_id path, struct json value,
                            bool hashed)
{
    struct hash128 hash = { 0 };

    if (json_kind(value) >= JSON_ARRAY) {
        hash = visit_container(walk, node, path, value, hashed);
    } else {
        if (node->value)
            add_value(walk, path, value);
        if (node->text != NONE && json_kind(value) == JSON_STRING)
            add_words(walk, node, path, json_string(value));
        if (hashed)
            hash = json_hash(value);
    }
    if (node->slot != NONE) {
        assert(walk->slot); /* a policy with slots has room for them */
        walk->slot[node->slot] = (struct slot){ value, hash };
    }
    return hash;
}

/* visit_object() has passed over a stored property of the same name. */
static enum status visit_computed(struct walk *walk, struct json document)
{
    const struct index_policy *policy = walk->policy;
    enum status st = ST_OK;

    for (size_t i = 0; i < policy->computed_count; i++) {
        const struct index_node *node = policy->computed_node[i];
        struct index_computed computed;

        if (!node || node->is_bare)
            continue;
        TRY(op_may_take_long(walk->op)); /* a regular expression of the container's may take a second */
        TRY(policy->compute(walk->op, policy->computed, i, document, &computed));
        if (computed.unknown)
            add_value(walk, policy->computed_path[i], json_undefined);
        else if (json_kind(computed.value) != JSON_UNDEFINED)
            visit(walk, node, policy->computed_path[i], computed.value, false);
    }
out:
    return st;
}

static enum status make_slots(struct walk *walk)
{
    size_t bytes = walk->policy->slot_count * sizeof(*walk->slot);

    if (bytes == 0)
        return ST_OK;
    walk->slot = arena_try_alloc(&walk->op->arena, bytes);
    if (!walk->slot)
        return op_fail_as(walk->op, ST_TOO_LARGE);
    memset(walk->slot, 0, bytes);
    return ST_OK;
}

static enum status visit_item(struct walk *walk, const struct index_item *item)
{
    const struct index_policy *policy = item->policy;
    enum status st;

    TRY(make_slots(walk));
    visit_object(walk, policy->root, path_root(TERM_RANGE), item->document, false);
    TRY(visit_computed(walk, item->document));
    add_time(walk);
    for (size_t i = 0; i < policy->composite_count; i++)
        add_joined(walk, &policy->composite[i], &policy->composite_slots[i]);
out:
    return st;
}

static size_t bytes_max(const struct index_item *item)
{
    return item && item->bytes_max ? item->bytes_max : SIZE_MAX / 2;
}

/* Finds the terms of an item, in order, each once. `terms` were initialized, and say whether memory ran out. */
static enum status find_terms(struct op *op, const struct index_item *item, struct terms *terms)
{
    struct walk walk = { .op = op, .terms = terms };
    enum status st;

    if (!item || !item->policy || item->policy->is_empty)
        return ST_OK;
    walk.policy = item->policy;
    walk.ts_ms = item->ts_ms;
    TRY(visit_item(&walk, item));
    terms_sort(terms);
    if (terms->failed && op->claim.refused) /* not the item is too large: the memory of all is short */
        TRY(op_fail_as(op, ST_TOO_LARGE));
out:
    return st;
}

/* ------- changes ------- */

/* Two sorted lists that are being compared. */
struct pair {
    const struct found *old, *new;
    size_t old_left, new_left;
};

static struct pair pair_of(const struct terms *old, const struct terms *new)
{
    return (struct pair){ old->found, new->found, old->count, new->count };
}

/* A term that only the old list has, or only the new one: `removed` or added. NULL when there is no more. */
static const struct found *next_change(struct pair *pair, bool *removed)
{
    while (pair->old_left || pair->new_left) {
        int order = pair->old_left == 0 ? 1 : pair->new_left == 0 ? -1 : found_compare(pair->old, pair->new);

        *removed = order < 0;
        pair->old_left -= order <= 0;
        pair->new_left -= order >= 0;
        pair->old += order <= 0;
        pair->new += order >= 0;
        if (order != 0)
            return *removed ? pair->old - 1 : pair->new - 1;
    }
    return NULL;
}

static struct batch_index_entry entry_of(const struct found *found, struct slice key, bool removed)
{
    struct batch_index_entry entry = { .key = key, .present = !removed };
    size_t offset;

    if (!removed && found_is_dated(found, &offset, &entry.descending)) {
        entry.dated = true;
        entry.offset = (uint32_t)(KEY_INDEX_TERM + offset);
    }
    return entry;
}

/*
 * Entries do not count towards the memory limit of a request, up to a limit of their own. So an item that could be
 * created can also be replaced and removed.
 */
static bool allow(struct op *op, size_t bytes)
{
    if (op->memory_limit_bytes >= SIZE_MAX / 2) /* recovery: there is no limit */
        return true;
    if (bytes > INDEX_CHANGES_BYTES_MAX || op->index_bytes > INDEX_CHANGES_BYTES_MAX - bytes)
        return false;
    op->index_bytes += bytes;
    op->arena.limit_bytes += bytes;
    return true;
}

/* Makes room for all changes, and for their keys. */
static bool make_room(struct op *op, struct batch *batch, struct pair pair, uint8_t **keys,
                      struct batch_index_entry **entries)
{
    const struct found *found;
    size_t count = 0, bytes = 0;
    bool removed;

    while ((found = next_change(&pair, &removed))) {
        count++;
        bytes += KEY_INDEX_BYTES + found->bytes->size;
    }
    if (!allow(op, bytes + count * sizeof(struct batch_index_entry)))
        return false;
    op->work.entries_written += count;
    *keys = arena_try_alloc(&op->arena, bytes);
    *entries = *keys && count ? batch_index_room(batch, count, bytes) : NULL;
    return *keys && (*entries || count == 0);
}

static enum status put_changes(struct op *op, struct batch *batch, uint64_t number, struct pair pair)
{
    uint64_t bucket = batch_bucket(batch);
    struct batch_index_entry *entry;
    const struct found *found;
    uint8_t *to;
    bool removed;

    if (!make_room(op, batch, pair, &to, &entry))
        return op_fail_as(op, ST_TOO_LARGE);
    while ((found = next_change(&pair, &removed))) {
        struct slice key = key_index_put(to, bucket, found_term(found), number);

        assert(entry); /* as many changes come as were counted */
        *entry++ = entry_of(found, key, removed);
        to += key.size;
    }
    return ST_OK;
}

enum status index_change(struct op *op, struct batch *batch, uint64_t number, const struct index_item *before,
                         struct index_item *after)
{
    struct terms old, new;
    enum status st;

    terms_init(op, &old, bytes_max(before));
    terms_init(op, &new, bytes_max(after));
    TRY(find_terms(op, before, &old));
    TRY(find_terms(op, after, &new));
    assert(after || !new.failed); /* what is gone has no terms that could be too many */
    if (new.failed) {
        after->left_out = true;
        new.count = 0;
    }
    TRY(put_changes(op, batch, number, pair_of(&old, &new)));
out:
    terms_free(&old);
    terms_free(&new);
    return st;
}

static bool copy_terms(struct op *op, const struct terms *from, struct index_terms *to)
{
    size_t bytes = 0;
    uint8_t *next;

    for (size_t i = 0; i < from->count; i++)
        bytes += from->found[i].bytes->size;
    next = arena_try_alloc(&op->arena, bytes);
    to->term = arena_try_alloc(&op->arena, (from->count + 1) * sizeof(*to->term));
    if (!next || !to->term)
        return false;
    for (to->count = 0; to->count < from->count; to->count++) {
        struct slice term = found_term(&from->found[to->count]);

        to->term[to->count] = slice_make(memcpy(next, term.data, term.size), term.size);
        next += term.size;
    }
    return true;
}

enum status index_terms(struct op *op, const struct index_item *item, struct index_terms *terms)
{
    struct terms found;
    enum status st;

    *terms = (struct index_terms){ 0 };
    terms_init(op, &found, bytes_max(item));
    TRY(find_terms(op, item, &found));
    if (found.failed || !copy_terms(op, &found, terms))
        TRY(op_fail_as(op, ST_TOO_LARGE));
out:
    terms_free(&found);
    return st;
}
