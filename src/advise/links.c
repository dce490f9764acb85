/* src/advise/links.c - finds references and copies. */
#include <assert.h>

#include "advise/links.h"
#include "advise/lookup.h"

/* So many different values must have been seen, and so large a part of them found, before they are called references. */
enum { ASKED_MIN = 4, FOUND_PERCENT_MIN = 80, LONG_VALUE_BYTES = 8 };

/* ---- candidates ---- */

static bool ends_with(struct slice name, const char *end)
{
    size_t size = strlen(end);

    return name.size >= size && slice_is_nocase(slice_after(name, name.size - size), end);
}

/* A name such as authorId, author_ids, bookRef; of an array's elements the array's. */
static bool is_named_like_a_reference(const struct node *node)
{
    static const char *const ends[] = { "id", "ids", "ref", "refs" };

    while (node->of_array) {
        node = node->parent;
        assert(node); /* what holds elements is a node, too */
    }
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (ends_with(node->name, ends[i]))
            return true;
    return false;
}

static bool are_long_texts(const struct node *node)
{

    for (size_t i = 0; i < node->sample_count; i++) {
        struct json value = node->sample[i].value;

        if (json_kind(value) != JSON_STRING || json_string(value).size < LONG_VALUE_BYTES)
            return false;
    }
    return node->sample_count > 0 && node->form[FORM_PLAIN] == node->kind[JSON_STRING];
}

/* An item's own id refers to nothing. */
static bool may_refer(const struct node *node)
{
    bool is_own_id = node->parent && !node->parent->parent && slice_is(node->name, "id");

    return node->parent && !is_own_id && node->kind[JSON_STRING] > 0 &&
           (is_named_like_a_reference(node) || are_long_texts(node));
}

static bool has_id(const struct lookup_ids *ids, struct slice id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (slice_equal(ids->id[i], id))
            return true;
    return false;
}

/* A value that is the item's own id refers to nothing. */
static struct lookup_ids sampled_ids(const struct node *node)
{
    struct lookup_ids ids = { 0 };

    static_assert((int)NODE_SAMPLES <= (int)LOOKUP_IDS_MAX);
    for (size_t i = 0; i < node->sample_count; i++) {
        struct json value = node->sample[i].value;

        if (json_kind(value) == JSON_STRING && json_string(value).size > 0 &&
            !has_id(&ids, json_string(value)) && !slice_equal(json_string(value), node->sample[i].id))
            ids.id[ids.count++] = json_string(value);
    }
    return ids;
}

/* ---- references ---- */

static size_t count_found(const struct lookup_ids *ids, const struct lookup *found)
{
    size_t count = 0;

    for (size_t i = 0; i < ids->count; i++) {
        bool several;

        count += json_kind(lookup_one(found, ids->id[i], &several)) != JSON_UNDEFINED || several;
    }
    return count;
}

static void note_missing(struct reference *reference, const struct lookup *found)
{
    const struct node *node = reference->node;

    for (size_t i = 0; i < node->sample_count && reference->examples < LINK_EXAMPLES; i++) {
        struct json value = node->sample[i].value;
        bool several;

        if (json_kind(value) == JSON_STRING && json_string(value).size > 0 &&
            json_kind(lookup_one(found, json_string(value), &several)) == JSON_UNDEFINED && !several)
            reference->from_id[reference->examples++] = node->sample[i].id;
    }
}

/* Whether the node's values are ids of items there. */
static enum status ask(struct op *op, const struct look *to, const struct lookup_ids *ids,
                       struct reference *reference, bool *refers)
{
    struct op_mark mark = op_mark(op);
    struct lookup *found = arena_alloc(&op->arena, sizeof(*found));
    size_t count;
    enum status st;

    TRY(lookup_items(op, to->container, ids, found));
    count = count_found(ids, found);
    *refers = count * 100 >= ids->count * FOUND_PERCENT_MIN;
    reference->to = to;
    reference->asked = ids->count;
    reference->missing = ids->count - count;
    reference->examples = 0;
    if (*refers)
        note_missing(reference, found);
    op_rewind(op, mark); /* of a failure the reason lies there */
out:
    return st;
}

static enum status keep_reference(struct op *op, struct links *links, const struct reference *reference)
{
    if (!arena_list_reserve(&op->arena, &links->reference, &links->reference_capacity,
                            links->reference_count + 1, sizeof(*links->reference)))
        return op_fail_as(op, ST_TOO_LARGE);
    links->reference[links->reference_count++] = *reference;
    return ST_OK;
}

/* The container in which most of the values are found, if they are references at all. */
static enum status find_reference(struct op *op, const struct look *look, size_t look_count,
                                  struct reference *wanted, struct links *links)
{
    struct lookup_ids ids = sampled_ids(wanted->node);
    struct reference best = { .missing = SIZE_MAX };
    enum status st = ST_OK;

    if (ids.count < ASKED_MIN)
        return ST_OK;
    for (size_t i = 0; i < look_count; i++) {
        struct reference here = *wanted;
        bool refers;

        TRY(ask(op, &look[i], &ids, &here, &refers));
        if (refers && here.missing < best.missing)
            best = here;
    }
    if (best.to)
        TRY(keep_reference(op, links, &best));
out:
    return st;
}

/* ---- copies ---- */

static void note_member(struct copied *copy, struct slice name)
{
    for (size_t i = 0; i < copy->member_count; i++)
        if (slice_equal(copy->member[i], name))
            return;
    if (copy->member_count < COPY_MEMBERS)
        copy->member[copy->member_count++] = name;
}

static bool is_scalar(struct json value)
{
    return json_kind(value) > JSON_NULL && json_kind(value) < JSON_ARRAY;
}

/* Members that both have. `shared` tells whether there is any but the id; the result, whether one differs. */
static bool has_drifted(struct copied *copy, struct json object, struct json item, bool *shared)
{
    bool drifted = false;

    *shared = false;
    for (struct json_iter i = json_iter(object); json_next(&i);) {
        struct json theirs = json_member(item, i.name);

        if (slice_is(i.name, "id") || !is_scalar(i.value) || !is_scalar(theirs))
            continue;
        *shared = true;
        if (!json_equal(i.value, theirs)) {
            note_member(copy, i.name);
            drifted = true;
        }
    }
    return drifted;
}

static struct lookup_ids object_ids(const struct node *node)
{
    struct lookup_ids ids = { .whole = true };

    for (size_t i = 0; i < node->sample_count; i++) {
        struct json id = json_get(node->sample[i].value, "id");

        if (json_kind(id) == JSON_STRING && json_string(id).size > 0 && !has_id(&ids, json_string(id)))
            ids.id[ids.count++] = json_string(id);
    }
    return ids;
}

static void compare_objects(struct copied *copy, const struct lookup *found)
{
    const struct node *node = copy->node;

    for (size_t i = 0; i < node->sample_count; i++) {
        struct json object = node->sample[i].value, id = json_get(object, "id"), item;
        bool several, shared, drifted;

        if (json_kind(id) != JSON_STRING)
            continue;
        item = lookup_one(found, json_string(id), &several);
        if (json_kind(item) == JSON_UNDEFINED)
            continue;
        drifted = has_drifted(copy, object, item, &shared);
        copy->compared += shared;
        copy->drifted += drifted;
        if (drifted && copy->examples < LINK_EXAMPLES)
            copy->from_id[copy->examples++] = node->sample[i].id;
    }
}

static enum status keep_copy(struct op *op, struct links *links, const struct copied *copy)
{
    if (!arena_list_reserve(&op->arena, &links->copy, &links->copy_capacity, links->copy_count + 1,
                            sizeof(*links->copy)))
        return op_fail_as(op, ST_TOO_LARGE);
    links->copy[links->copy_count++] = *copy;
    return ST_OK;
}

/* The reference is the id of objects: are they copies of what it refers to? */
static enum status find_copy(struct op *op, const struct reference *reference, struct links *links)
{
    struct copied copy = {
        .from = reference->from, .to = reference->to, .tree = reference->tree, .node = reference->node->parent
    };
    struct lookup_ids ids = object_ids(copy.node);
    struct op_mark mark = op_mark(op);
    struct lookup *found = arena_alloc(&op->arena, sizeof(*found));
    enum status st = ST_OK;

    if (ids.count)
        TRY(lookup_items(op, reference->to->container, &ids, found));
    if (ids.count)
        compare_objects(&copy, found);
    op_rewind(op, mark);
    if (copy.compared)
        TRY(keep_copy(op, links, &copy));
out:
    return st;
}

static bool is_id_of_object(const struct node *node)
{
    return slice_is(node->name, "id") && node->parent->parent && !node->of_array;
}

/* ---- all of them ---- */

static enum status find_in_tree(struct op *op, const struct look *look, size_t look_count,
                                struct reference *from, struct links *links)
{
    enum status st = ST_OK;

    for (const struct node *node = from->tree->root; node; node = node_after(node)) {
        if (!may_refer(node))
            continue;
        TRY(op_check(op));
        from->node = node;
        TRY(find_reference(op, look, look_count, from, links));
    }
out:
    return st;
}

enum status links_find(struct op *op, const struct look *look, size_t look_count, struct links *links)
{
    size_t count;
    enum status st = ST_OK;

    *links = (struct links){ 0 };
    for (size_t i = 0; i < look_count; i++)
        for (size_t k = 0; k < look[i].type_count; k++)
            TRY(find_in_tree(op, look, look_count,
                             &(struct reference){ .from = &look[i], .tree = &look[i].type[k] }, links));
    count = links->reference_count;
    for (size_t i = 0; i < count; i++)
        if (is_id_of_object(links->reference[i].node))
            TRY(find_copy(op, &links->reference[i], links));
out:
    return st;
}
