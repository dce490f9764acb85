/* src/advise/tree.c - adds items to a tree of their members. */
#include <assert.h>

#include "advise/tree.h"

/* ---- lengths ---- */

static void lengths_add(struct lengths *lengths, uint64_t length)
{
    unsigned step = length ? 63 - (unsigned)__builtin_clzll(length) : 0;

    if (lengths->count == 0 || length < lengths->least)
        lengths->least = length;
    if (length > lengths->most)
        lengths->most = length;
    lengths->count++;
    lengths->total += length;
    lengths->step[step < LENGTH_STEPS ? step : LENGTH_STEPS - 1]++;
}

uint64_t lengths_at(const struct lengths *lengths, double part)
{
    uint64_t wanted = (uint64_t)(part * (double)lengths->count), so_far = 0, end;

    for (unsigned i = 0; i < LENGTH_STEPS; i++) {
        so_far += lengths->step[i];
        end = (2ull << i) - 1;
        if (so_far >= wanted && so_far > 0)
            return end < lengths->most ? end : lengths->most;
    }
    return lengths->most;
}

/* ---- nodes ---- */

static struct node *make_node(struct tree *tree, struct node *parent, struct slice name)
{
    struct node *node = arena_try_alloc(tree->arena, sizeof(*node));
    char *copy = name.size ? arena_try_alloc(tree->arena, name.size) : NULL;

    if (!node || (name.size && !copy))
        return NULL;
    if (name.size)
        memcpy(copy, name.data, name.size);
    *node = (struct node){ .name = slice_make(copy, name.size), .parent = parent };
    tree->node_count++;
    if (!parent)
        return node;
    if (parent->last_child)
        parent->last_child->next = node;
    else
        parent->child = node;
    parent->last_child = node;
    parent->child_count++;
    return node;
}

static struct node *find_from(struct node *first, const struct node *end, struct slice name, bool of_array)
{
    for (struct node *node = first; node != end; node = node->next)
        if (node->of_array == of_array && slice_equal(node->name, name))
            return node;
    return NULL;
}

struct node *node_child(const struct node *node, struct slice name)
{
    return find_from(node->child, NULL, name, false);
}

/* Items mostly have their members in one order, so the search begins where the last one ended. NULL: there is no room. */
static struct node *child_of(struct tree *tree, struct node *parent, const struct json_iter *member,
                             struct node **after)
{
    struct slice name = member->is_object ? member->name : slice_of("");
    struct node *begin = *after ? (*after)->next : parent->child;
    struct node *node = find_from(begin, NULL, name, !member->is_object);

    if (!node)
        node = find_from(parent->child, begin, name, !member->is_object);
    if (!node && parent->child_count < NODE_CHILDREN_MAX && tree->node_count < TREE_NODES_MAX)
        node = make_node(tree, parent, name);
    if (node) {
        node->of_array = !member->is_object;
        *after = node;
    }
    return node;
}

struct node *node_after(const struct node *node)
{
    if (node->child)
        return node->child;
    while (node && !node->next)
        node = node->parent;
    return node ? node->next : NULL;
}

uint64_t node_values(const struct node *node)
{
    uint64_t values = 0;

    for (size_t i = 0; i <= JSON_OBJECT; i++)
        values += node->kind[i];
    return values;
}

/* Outermost first, which recursion gives: JSON_DEPTH_MAX bounds it. */
void node_print_path(struct buf *out, const struct node *node)
{
    if (!node->parent)
        return;
    node_print_path(out, node->parent);
    buf_byte(out, '/');
    if (node->of_array)
        buf_text(out, "[]");
    else
        buf_slice(out, node->name);
}

/* ---- what is kept of values ---- */

static bool keep_bytes(struct arena *arena, struct slice bytes, struct slice *kept)
{
    char *copy = arena_try_alloc(arena, bytes.size + 1);

    if (!copy)
        return false;
    memcpy(copy, bytes.data, bytes.size);
    *kept = slice_make(copy, bytes.size);
    return true;
}

static struct slice short_id(struct slice id)
{
    return slice_make(id.data, id.size < KEPT_ID_BYTES_MAX ? id.size : KEPT_ID_BYTES_MAX);
}

/*
 * Where a value with that hash goes among the samples, which are ordered by hash: those with the least are kept, so that each
 * different value has the same chance, however often it comes, and the same items give the same report. NODE_SAMPLES: nowhere.
 */
static size_t sample_place(const struct node *node, uint64_t hash)
{
    size_t place = node->sample_count;

    while (place > 0 && node->sample[place - 1].hash > hash)
        place--;
    return place > 0 && node->sample[place - 1].hash == hash ? NODE_SAMPLES : place;
}

static enum status keep_sample(struct op *op, struct tree *tree, struct node *node, struct json value,
                               struct slice id)
{
    uint64_t hash = json_hash_seeded(tree->seed, value).h1;
    struct sample_value kept = { .hash = hash };
    size_t place;
    struct slice bytes;

    if (json_size(value) > KEPT_VALUE_BYTES_MAX)
        return ST_OK;
    if (!node->sample)
        node->sample = arena_try_alloc(tree->arena, NODE_SAMPLES * sizeof(*node->sample));
    if (!node->sample)
        return op_fail_as(op, ST_TOO_LARGE);
    place = sample_place(node, hash);
    if (place == NODE_SAMPLES)
        return ST_OK;
    if (!keep_bytes(tree->arena, json_bytes(value), &bytes) ||
        !keep_bytes(tree->arena, short_id(id), &kept.id))
        return op_fail_as(op, ST_TOO_LARGE);
    kept.value = json_from_bytes(bytes);
    if (node->sample_count < NODE_SAMPLES)
        node->sample_count++;
    memmove(&node->sample[place + 1], &node->sample[place],
            (node->sample_count - 1 - place) * sizeof(*node->sample));
    node->sample[place] = kept;
    return ST_OK;
}

static enum status note_array(struct op *op, struct tree *tree, struct node *node, struct json array,
                              const struct seen_item *item)
{
    struct long_array here = { json_count(array), json_size(array), item->bytes, item->id };
    size_t place = NODE_LONGEST;

    lengths_add(&node->lengths, here.length);
    while (place > 0 && node->longest[place - 1].length < here.length)
        place--;
    if (place == NODE_LONGEST || here.length == 0)
        return ST_OK;
    if (!keep_bytes(tree->arena, short_id(item->id), &here.id))
        return op_fail_as(op, ST_TOO_LARGE);
    memmove(&node->longest[place + 1], &node->longest[place],
            (NODE_LONGEST - 1 - place) * sizeof(node->longest[0]));
    node->longest[place] = here;
    return ST_OK;
}

static bool lies_in_array(const struct node *node)
{
    for (; node; node = node->parent)
        if (node->of_array)
            return true;
    return false;
}

static enum status note_scalar(struct op *op, struct tree *tree, struct node *node, struct json value)
{
    if (!node->spread && !lies_in_array(node)) {
        node->spread = arena_try_alloc(tree->arena, sizeof(*node->spread));
        if (!node->spread)
            return op_fail_as(op, ST_TOO_LARGE);
        *node->spread = (struct spread){ 0 };
    }
    if (node->spread)
        spread_add(node->spread, json_hash_seeded(tree->seed, value).h1);
    return ST_OK;
}

static bool is_empty(struct json value)
{
    switch (json_kind(value)) {
    case JSON_NULL:
        return true;
    case JSON_STRING:
        return json_string(value).size == 0;
    case JSON_ARRAY:
    case JSON_OBJECT:
        return json_count(value) == 0;
    default:
        return false;
    }
}

static enum status note_string(struct op *op, struct tree *tree, struct node *node, struct json value,
                               const struct seen_item *item)
{
    enum status st;

    node->form[text_form(json_string(value))]++;
    TRY(note_scalar(op, tree, node, value));
    TRY(keep_sample(op, tree, node, value, item->id));
out:
    return st;
}

/* The value itself, without what lies below it. */
static enum status note_value(struct op *op, struct tree *tree, struct node *node, struct json value,
                              const struct seen_item *item)
{
    enum json_kind kind = json_kind(value);

    node->kind[kind == JSON_FALSE ? JSON_TRUE : kind]++;
    node->empty += is_empty(value);
    node->bytes += json_size(value);
    if (node->last_item != tree->items) { /* which counts from 1 */
        node->last_item = tree->items;
        node->items++;
    }
    switch (kind) {
    case JSON_STRING:
        return note_string(op, tree, node, value, item);
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NUMBER:
        return note_scalar(op, tree, node, value);
    case JSON_ARRAY:
        return note_array(op, tree, node, value, item);
    case JSON_OBJECT:
        if (node->parent && json_kind(json_get(value, "id")) == JSON_STRING)
            return keep_sample(op, tree, node, value, item->id);
        return ST_OK;
    default:
        return ST_OK;
    }
}

static enum status add_value(struct op *op, struct tree *tree, struct node *node, struct json value,
                             const struct seen_item *item)
{
    struct node *after = NULL;
    enum status st;

    TRY(note_value(op, tree, node, value, item));
    for (struct json_iter i = json_iter(value); json_next(&i);) {
        struct node *child = child_of(tree, node, &i, &after);

        if (!child) {
            node->unnamed++;
            continue;
        }
        TRY(add_value(op, tree, child, i.value, item)); /* JSON_DEPTH_MAX bounds it */
    }
out:
    return st;
}

enum status tree_init(struct op *op, struct tree *tree, struct arena *arena, struct hash_seed seed)
{
    *tree = (struct tree){ .arena = arena, .seed = seed };
    tree->root = make_node(tree, NULL, slice_of(""));
    return tree->root ? ST_OK : op_fail_as(op, ST_TOO_LARGE);
}

enum status tree_add(struct op *op, struct tree *tree, const struct seen_item *item)
{
    assert(json_kind(item->document) == JSON_OBJECT);
    tree->items++;
    tree->bytes += item->bytes;
    return add_value(op, tree, tree->root, item->document, item);
}
