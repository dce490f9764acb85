/*
 * src/index/entries.c - a document's entries, and what changes from one version of it to the next.
 *
 * A document and the policy's tree are walked down together; each value that has an entry adds a term. Terms are
 * then sorted, and those that occur twice (a tag given twice) are dropped. What an array or object hashes to comes
 * back up from the walk, so that no value is hashed more than once however deep it lies.
 */
#include "base/hash.h"
#include "index/cells.h"
#include "index/entries.h"
#include "index/policy_body.h"
#include "index/sort.h"
#include "keys/keys.h"

enum { TERM_BYTES_MAX = TERM_PATH_BYTES + INDEX_PARTS_MAX * ORDERED_BYTES_MAX };

/* What composites and tuples are made of. */
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
        terms_begin(walk->terms, path_member(path_root(TERM_RANGE), slice_of("_ts")), TERM_TIME_BYTES);

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
        uint8_t *to = terms_begin(walk->terms, path_spatial(path), CELL_BYTES);

        if (!to)
            return;
        cell_put(to, cell[i]);
        terms_end(walk->terms, CELL_BYTES);
    }
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

    terms_expect(walk->terms, json_count(object));
    for (struct json_iter i = json_iter(object); json_next(&i) && !walk->terms->failed;) {
        struct hash128 name = murmur3_128(i.name.data, i.name.size), hash;
        const struct index_node *member = index_node_member(node, name, i.name);

        if (!member->stored)
            continue;
        hash = visit(walk, member, path_member_hashed(path, name), i.value, hashed);
        if (hashed)
            json_hasher_member(&hasher, name, hash);
    }
    return json_hasher_end(&hasher);
}

/* An array or an object. Its hash is needed for its own entry, for a slot, or by what it lies in. */
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
        if (hashed)
            hash = json_hash(value);
    }
    if (node->slot != NONE)
        walk->slot[node->slot] = (struct slot){ value, hash };
    return hash;
}

/* A stored property of the same name was passed over by visit_object(). */
static enum status visit_computed(struct walk *walk, struct json document)
{
    const struct index_policy *policy = walk->policy;
    enum status st = ST_OK;

    for (size_t i = 0; i < policy->computed_count; i++) {
        const struct index_node *node = policy->computed_node[i];
        struct json value = json_undefined;

        if (!node || node->is_bare)
            continue;
        TRY(policy->compute(walk->op, policy->computed, i, document, &value));
        if (json_kind(value) != JSON_UNDEFINED)
            visit(walk, node, path_member(path_root(TERM_RANGE), node->name), value, false);
    }
out:
    return st;
}

static enum status too_large(struct op *op)
{
    return op_fail(op, ST_TOO_LARGE, "Request size is too large");
}

static enum status make_slots(struct walk *walk)
{
    size_t bytes = walk->policy->slot_count * sizeof(*walk->slot);

    if (bytes == 0)
        return ST_OK;
    walk->slot = arena_try_alloc(&walk->op->arena, bytes);
    if (!walk->slot)
        return too_large(walk->op);
    memset(walk->slot, 0, bytes);
    return ST_OK;
}

/* The terms of an item, sorted, each once. */
static enum status find_terms(struct op *op, const struct index_item *item, struct terms *terms)
{
    struct walk walk = { .op = op, .terms = terms };
    enum status st = ST_OK;

    terms_init(terms, &op->arena);
    if (!item || !item->policy || item->policy->is_empty)
        return ST_OK;
    walk.policy = item->policy;
    walk.ts_ms = item->ts_ms;
    TRY(make_slots(&walk));
    visit_object(&walk, walk.policy->root, path_root(TERM_RANGE), item->document, false);
    TRY(visit_computed(&walk, item->document));
    add_time(&walk);
    for (size_t i = 0; i < walk.policy->composite_count; i++)
        add_joined(&walk, &walk.policy->composite[i], &walk.policy->composite_slots[i]);
    terms_sort(terms);
    if (terms->failed)
        TRY(too_large(op));
out:
    return st;
}

/* ------- changes ------- */

struct change {
    struct batch *batch;
    uint64_t bucket, number;
    struct area keys;
};

static bool put_key(struct change *change, const struct found *found, struct slice *key)
{
    struct slice term = found_term(found);
    uint8_t *to = area_room(&change->keys, KEY_INDEX_BYTES + term.size);

    if (!to)
        return false;
    *key = key_index_put(to, change->bucket, term, change->number);
    area_use(&change->keys, key->size);
    return true;
}

static bool remove_entry(struct change *change, const struct found *found)
{
    struct slice key;

    if (!put_key(change, found, &key))
        return false;
    batch_index_remove(change->batch, key);
    return true;
}

static bool add_entry(struct change *change, const struct found *found)
{
    struct slice key;
    bool descending;
    size_t offset;

    if (!put_key(change, found, &key))
        return false;
    if (found_is_dated(found, &offset, &descending))
        batch_index_add_dated(change->batch, key, KEY_INDEX_TERM + TERM_PATH_BYTES + offset, descending);
    else
        batch_index_add(change->batch, key);
    return true;
}

enum status index_change(struct op *op, struct batch *batch, uint64_t number, const struct index_item *before,
                         const struct index_item *after)
{
    struct change change = { batch, batch_bucket(batch), number, { 0 } };
    struct terms old, new;
    size_t i = 0, j = 0;
    bool fits = true;
    enum status st;

    area_init(&change.keys, &op->arena);
    TRY(find_terms(op, before, &old));
    TRY(find_terms(op, after, &new));
    while (fits && (i < old.count || j < new.count)) {
        int order = i == old.count ? 1 : j == new.count ? -1 : found_compare(&old.found[i], &new.found[j]);

        if (order < 0)
            fits = remove_entry(&change, &old.found[i]);
        else if (order > 0)
            fits = add_entry(&change, &new.found[j]);
        op->work.entries += order != 0;
        i += order <= 0;
        j += order >= 0;
    }
    if (!fits)
        TRY(too_large(op));
out:
    return st;
}

enum status index_terms(struct op *op, const struct index_item *item, struct index_terms *terms)
{
    struct terms found;
    enum status st;

    *terms = (struct index_terms){ 0 };
    TRY(find_terms(op, item, &found));
    terms->term = arena_try_alloc(&op->arena, (found.count + 1) * sizeof(*terms->term));
    if (!terms->term)
        TRY(too_large(op));
    for (size_t i = 0; i < found.count; i++)
        terms->term[i] = found_term(&found.found[i]);
    terms->count = found.count;
out:
    return st;
}
