/* src/advise/belonging.c - finds the paths at which items have the partition key of their owner. */
#include "advise/belonging.h"
#include "advise/lookup.h"

/* What fewer agree on may be chance. */
enum { PARTS_MIN = 4 };

/* Parts, each of which has at least one owner among these. */
struct family {
    struct lookup parts, owners;
};

/* ---- values ---- */

static struct json value_at(struct json item, const struct node *node)
{
    return node->parent ? json_member(value_at(item, node->parent), node->name) : item;
}

static struct json key_value(struct json owner, const struct key_path *path)
{
    for (size_t i = 0; i < path->count; i++)
        owner = json_member(owner, path->segment[i]);
    return owner;
}

static bool are_same(struct json a, struct json b)
{
    return json_kind(a) != JSON_UNDEFINED && json_kind(b) != JSON_UNDEFINED && json_equal(a, b);
}

/* By the paths that are found so far. */
static bool is_owner(const struct belonging *belonging, struct json owner, struct json part)
{
    const struct container *container = belonging->owners->container;

    if (!are_same(json_get(owner, "id"), value_at(part, belonging->id)))
        return false;
    for (size_t i = 0; i < container->key_path_count; i++)
        if (belonging->key[i] &&
            !are_same(key_value(owner, &container->key_path[i]), value_at(part, belonging->key[i])))
            return false;
    return true;
}

static bool has_owner(const struct belonging *belonging, const struct family *family, struct json part)
{
    for (size_t i = 0; i < family->owners.count; i++)
        if (is_owner(belonging, family->owners.item[i], part))
            return true;
    return false;
}

static bool have_owners(const struct belonging *belonging, const struct family *family)
{
    for (size_t i = 0; i < family->parts.count; i++)
        if (!has_owner(belonging, family, family->parts.item[i]))
            return false;
    return true;
}

/* ---- fetched ---- */

static void add_id(struct lookup_ids *ids, struct json id)
{
    if (json_kind(id) != JSON_STRING || json_string(id).size == 0 || ids->count == LOOKUP_IDS_MAX)
        return;
    for (size_t i = 0; i < ids->count; i++)
        if (slice_equal(ids->id[i], json_string(id)))
            return;
    ids->id[ids->count++] = json_string(id);
}

static void leave_orphans_out(const struct belonging *belonging, struct family *family)
{
    struct lookup *parts = &family->parts;
    size_t kept = 0;

    for (size_t i = 0; i < parts->count; i++)
        if (has_owner(belonging, family, parts->item[i]))
            parts->item[kept++] = parts->item[i];
    parts->count = kept;
}

static enum status fetch(struct op *op, const struct belonging *belonging, struct family *family)
{
    const struct node *id = node_child(belonging->tree->root, slice_of("id"));
    struct lookup_ids part_ids = { .whole = true }, owner_ids = { .whole = true };
    enum status st = ST_OK;

    for (size_t i = 0; id && i < id->sample_count; i++)
        add_id(&part_ids, id->sample[i].value);
    if (part_ids.count)
        TRY(lookup_items(op, belonging->parts->container, &part_ids, &family->parts));
    for (size_t i = 0; i < family->parts.count; i++)
        add_id(&owner_ids, value_at(family->parts.item[i], belonging->id));
    if (owner_ids.count)
        TRY(lookup_items(op, belonging->owners->container, &owner_ids, &family->owners));
    leave_orphans_out(belonging, family);
out:
    return st;
}

/* ---- paths ---- */

static bool is_id(const struct key_path *path)
{
    return path->count == 1 && slice_is(path->segment[0], "id");
}

/* The node that the parts have under the same path. */
static const struct node *namesake(const struct belonging *belonging, const struct key_path *path)
{
    const struct node *node = belonging->tree->root;

    for (size_t i = 0; node && i < path->count; i++)
        node = node_child(node, path->segment[i]);
    return node;
}

/* Whether each part has the value of its owner there; if so, that is the path. */
static bool try_node(struct belonging *belonging, const struct family *family, size_t level,
                     const struct node *node)
{
    if (!node || !node->spread || node->items < belonging->id->items)
        return false;
    belonging->key[level] = node;
    if (!have_owners(belonging, family))
        belonging->key[level] = NULL;
    return belonging->key[level];
}

/* The same path is likelier than another one that agrees. */
static void find_level(struct belonging *belonging, const struct family *family, size_t level)
{
    const struct node *node = belonging->tree->root;

    if (try_node(belonging, family, level,
                 namesake(belonging, &belonging->owners->container->key_path[level])))
        return;
    while (node && !try_node(belonging, family, level, node))
        node = node_after(node);
}

enum status belonging_find(struct op *op, struct belonging *belonging)
{
    const struct container *owners = belonging->owners->container;
    struct op_mark mark = op_mark(op);
    struct family *family = arena_alloc(&op->arena, sizeof(*family));
    size_t by_id = 0;
    enum status st = ST_OK;

    *family = (struct family){ 0 };
    for (size_t i = 0; i < owners->key_path_count; i++) {
        belonging->key[i] = is_id(&owners->key_path[i]) ? belonging->id : NULL;
        by_id += is_id(&owners->key_path[i]);
    }
    if (by_id < owners->key_path_count)
        TRY(fetch(op, belonging, family));
    for (size_t i = 0; i < owners->key_path_count && family->parts.count >= PARTS_MIN; i++)
        if (!belonging->key[i])
            find_level(belonging, family, i);
    op_rewind(op, mark); /* of a failure the reason lies there */
out:
    return st;
}
