/* src/index/policy.c - an indexing policy read into a tree of steps. */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "index/path.h"
#include "index/policy_private.h"
#include "text/words.h"

/* What a policy says of a path itself. Where it says nothing, the verdict of the path above holds. */
enum verdict { SILENT, EXCLUDED, INCLUDED };

struct draft {
    struct index_node node; /* the finished node, in place */
    struct draft *first, *next;
    struct draft *array_element;
    enum verdict value, below;
    int spatial_below;
    size_t kid_count;
};

struct reading {
    struct arena *arena;
    struct index_policy *policy;
    struct draft *root;
};

/* The id of the path's steps from `first` on, below a path that has the id `id`. */
static path_id id_below(struct hash_seed seed, path_id id, const struct index_path *path, size_t first)
{
    for (size_t i = first; i < path->count; i++)
        id = path->step[i].element ? path_element(id) : path_member(seed, id, path->step[i].name);
    return id;
}

path_id index_path_id(const struct index_policy *policy, const struct index_path *path)
{
    return id_below(policy->seed, path_root(TERM_RANGE), path, 0);
}

bool index_path_equal(const struct index_path *a, const struct index_path *b)
{
    bool same = a->count == b->count;

    for (size_t i = 0; same && i < a->count; i++)
        same = a->step[i].element == b->step[i].element && slice_equal(a->step[i].name, b->step[i].name);
    return same;
}

bool index_policy_shares_ids(const struct index_policy *a, const struct index_policy *b)
{
    return a->seed.k0 == b->seed.k0 && a->seed.k1 == b->seed.k1;
}

/* ------- the tree ------- */

static struct draft *new_draft(struct arena *arena, struct slice name)
{
    struct draft *draft = arena_alloc(arena, sizeof(*draft));

    *draft = (struct draft){ .spatial_below = NONE };
    draft->node = (struct index_node){ .hash = murmur3_128(name.data, name.size).h1,
                                       .name = name,
                                       .stored = true,
                                       .slot = NONE,
                                       .spatial = NONE,
                                       .text = NONE,
                                       .tuple = NONE };
    return draft;
}

static struct draft *member_draft(struct reading *reading, struct draft *parent, struct slice name)
{
    struct draft *kid = parent->first;

    while (kid && !slice_equal(kid->node.name, name))
        kid = kid->next;
    if (kid)
        return kid;
    kid = new_draft(reading->arena, name);
    kid->next = parent->first;
    parent->first = kid;
    parent->kid_count++;
    return kid;
}

static struct draft *step_draft(struct reading *reading, struct draft *parent, const struct index_step *step)
{
    if (!step->element)
        return member_draft(reading, parent, step->name);
    if (!parent->array_element)
        parent->array_element = new_draft(reading->arena, (struct slice){ 0 });
    return parent->array_element;
}

static struct draft *path_draft(struct reading *reading, struct draft *from, const struct index_path *path)
{
    for (size_t i = 0; i < path->count; i++)
        from = step_draft(reading, from, &path->step[i]);
    return from;
}

static int by_hash(const void *a, const void *b)
{
    uint64_t one = (*(struct index_node *const *)a)->hash, other = (*(struct index_node *const *)b)->hash;

    return one < other ? -1 : one > other;
}

/* What a node hands down to the nodes below it. */
struct inherited {
    enum verdict below;
    int spatial;
};

static struct index_node *rest_node(struct arena *arena, struct inherited from)
{
    struct index_node *rest = &new_draft(arena, (struct slice){ 0 })->node;

    rest->value = from.below == INCLUDED;
    rest->spatial = from.spatial;
    rest->is_bare = !rest->value && rest->spatial == NONE;
    rest->rest = rest;
    return rest;
}

static void finish(struct arena *arena, struct draft *draft, struct inherited from);

static void finish_kids(struct arena *arena, struct draft *draft, struct inherited from)
{
    struct index_node *node = &draft->node;

    node->child = arena_alloc(arena, (draft->kid_count + 1) * sizeof(struct index_node *));
    for (struct draft *kid = draft->first; kid; kid = kid->next) {
        finish(arena, kid, from);
        node->is_bare &= kid->node.is_bare;
        node->child[node->child_count++] = &kid->node;
    }
    assert(node->child_count == draft->kid_count); /* for which there is room */
    qsort(node->child, node->child_count, sizeof(struct index_node *), by_hash);
    if (!draft->array_element)
        return;
    finish(arena, draft->array_element, from);
    node->element = &draft->array_element->node;
    node->is_bare &= node->element->is_bare;
}

static void finish(struct arena *arena, struct draft *draft, struct inherited from)
{
    struct index_node *node = &draft->node;

    if (!node->stored)
        from = (struct inherited){ EXCLUDED, NONE }; /* it has entries only where a path names it */
    if (draft->below != SILENT)
        from.below = draft->below;
    if (draft->spatial_below != NONE)
        from.spatial = draft->spatial_below;
    node->value = (draft->value == SILENT ? from.below : draft->value) == INCLUDED;
    if (node->spatial == NONE)
        node->spatial = from.spatial;
    node->rest = rest_node(arena, from);
    node->is_bare = !node->value && node->spatial == NONE && node->slot == NONE && node->tuple == NONE &&
                    node->text == NONE && node->rest->is_bare;
    finish_kids(arena, draft, from);
}

/* ------- what the policy says ------- */

static void read_range_path(struct reading *reading, const struct policy_path *path, enum verdict verdict)
{
    struct draft *draft = path_draft(reading, reading->root, &path->path);

    if (path->below)
        draft->below = verdict;
    else
        draft->value = verdict;
}

static int slot_of(struct reading *reading, struct draft *draft)
{
    if (draft->node.slot == NONE)
        draft->node.slot = (int)reading->policy->slot_count++;
    return draft->node.slot;
}

static void read_tuple(struct reading *reading, const struct policy_path *path)
{
    struct index_policy *policy = reading->policy;
    struct draft *element = path_draft(reading, reading->root, &path->path);
    struct joined_slots *slots = &policy->tuple_slots[policy->tuple_count];
    struct index_joined *tuple = &policy->tuple[policy->tuple_count];

    *tuple = (struct index_joined){ .prefix = path->path, .part_count = path->part_count };
    tuple->id = path_join(path_root(TERM_TUPLE), index_path_id(policy, &path->path), false);
    for (size_t i = 0; i < path->part_count; i++) {
        tuple->part[i] = path->part[i];
        tuple->id = path_join(tuple->id, index_path_id(policy, &path->part[i]), false);
        slots->slot[i] = slot_of(reading, path_draft(reading, element, &path->part[i]));
    }
    slots->next = element->node.tuple;
    element->node.tuple = (int)policy->tuple_count++;
}

/* Which computed property has this name; or NONE. */
static int find_computed(const struct index_policy *policy, struct slice name)
{
    int which = 0;

    for (struct json_iter i = json_iter(policy->computed); json_next(&i); which++)
        if (json_kind(json_get(i.value, "name")) == JSON_STRING &&
            slice_equal(json_string(json_get(i.value, "name")), name))
            return which;
    return NONE;
}

/* Which computed property the path leads into; or NONE. */
static int computed_of(const struct index_policy *policy, const struct index_path *path)
{
    return path->count && !path->step[0].element ? find_computed(policy, path->step[0].name) : NONE;
}

static void read_paths(struct reading *reading, struct json list, enum verdict verdict)
{
    for (struct json_iter i = json_iter(list); json_next(&i);) {
        struct json text = json_get(i.value, "path");
        struct policy_path path;

        if (json_kind(text) != JSON_STRING ||
            policy_path_parse(reading->arena, json_string(text), &path) != 0 || path.unusable)
            continue;
        if (path.part_count == 0)
            read_range_path(reading, &path, verdict);
        else if (verdict == INCLUDED && computed_of(reading->policy, &path.path) == NONE)
            read_tuple(reading, &path);
    }
}

static bool is_time(const struct index_path *path)
{
    return path->count == 1 && !path->step[0].element && slice_is(path->step[0].name, "_ts");
}

static const char *const unseen[] = { "_rid", "_self", "_etag", "_attachments" };
enum { UNSEEN = sizeof(unseen) / sizeof(unseen[0]) };

/* Whether the path leads into a system property that is no part of the document, and may change without it. */
static bool is_unseen(const struct index_path *path)
{
    for (size_t i = 0; i < UNSEEN; i++)
        if (path->count && !path->step[0].element && slice_is(path->step[0].name, unseen[i]))
            return true;
    return false;
}

/* Whether the path leads into a computed property that cannot be computed. */
static bool is_lost(const struct index_policy *policy, const struct index_path *path)
{
    int which = computed_of(policy, path);

    return which != NONE && !policy->computed_node[which];
}

/* The id of a path in a composite index. */
static path_id part_id(const struct index_policy *policy, const struct index_path *path)
{
    int which = computed_of(policy, path);

    return which == NONE ? index_path_id(policy, path)
                         : id_below(policy->seed, policy->computed_path[which], path, 1);
}

static bool has_element(const struct index_path *path)
{
    for (size_t i = 0; i < path->count; i++)
        if (path->step[i].element)
            return true;
    return false;
}

/*
 * Reads the paths of a composite index. False when a document would not have exactly one entry, known at the commit:
 * such an index is left out.
 */
static bool read_parts(struct reading *reading, struct json list, struct index_joined *composite)
{
    size_t times = 0;

    for (struct json_iter i = json_iter(list); json_next(&i);) {
        size_t at = composite->part_count;
        struct json text = json_get(i.value, "path"), order = json_get(i.value, "order");
        struct policy_path path;

        if (at == INDEX_PARTS_MAX || json_kind(text) != JSON_STRING ||
            composite_path_parse(reading->arena, json_string(text), &path) != 0 || path.unusable ||
            has_element(&path.path) || is_unseen(&path.path) || is_lost(reading->policy, &path.path))
            return false;
        times += is_time(&path.path);
        composite->part[at] = path.path;
        composite->descending[at] =
            json_kind(order) == JSON_STRING && slice_is_nocase(json_string(order), "descending");
        composite->part_count++;
    }
    return composite->part_count > 0 && times <= 1;
}

static void read_composite(struct reading *reading, struct json list)
{
    struct index_policy *policy = reading->policy;
    struct joined_slots *slots = &policy->composite_slots[policy->composite_count];
    struct index_joined composite = { .id = path_root(TERM_COMPOSITE) };

    if (!read_parts(reading, list, &composite))
        return;
    for (size_t i = 0; i < composite.part_count; i++) {
        const struct index_path *part = &composite.part[i];

        composite.id = path_join(composite.id, part_id(policy, part), composite.descending[i]);
        slots->slot[i] = is_time(part) ? NONE : slot_of(reading, path_draft(reading, reading->root, part));
    }
    policy->composite[policy->composite_count++] = composite;
}

static void read_box(struct json box, double out[4])
{
    static const char *const names[] = { "xmin", "ymin", "xmax", "ymax" };

    for (size_t i = 0; i < 4; i++) {
        struct json side = json_get(box, names[i]);

        out[i] = json_kind(side) == JSON_NUMBER ? json_double(side) : 0;
    }
}

static void read_spatial(struct reading *reading, struct json index)
{
    struct index_policy *policy = reading->policy;
    struct json text = json_get(index, "path");
    struct policy_path path;
    struct draft *draft;

    if (json_kind(text) != JSON_STRING || policy_path_parse(reading->arena, json_string(text), &path) != 0 ||
        path.unusable || path.part_count)
        return;
    draft = path_draft(reading, reading->root, &path.path);
    draft->node.spatial = (int)policy->spatial_count;
    if (path.below)
        draft->spatial_below = draft->node.spatial;
    read_box(json_get(index, "boundingBox"), policy->box[policy->spatial_count++]);
}

static void name_language(struct json name, enum text_language *language)
{
    if (json_kind(name) == JSON_STRING)
        text_language_named(json_string(name), language);
}

/* The language that the policy names for the path, as it is written there. */
static enum text_language language_of(struct json policy, struct json path)
{
    enum text_language language = TEXT_ENGLISH;

    name_language(json_get(policy, "defaultLanguage"), &language);
    for (struct json_iter i = json_iter(json_get(policy, "fullTextPaths")); json_next(&i);)
        if (json_equal(json_get(i.value, "path"), path))
            name_language(json_get(i.value, "language"), &language);
    return language;
}

static void read_text(struct reading *reading, struct json index, struct json policy)
{
    struct json text = json_get(index, "path");
    struct policy_path path;

    if (json_kind(text) != JSON_STRING ||
        composite_path_parse(reading->arena, json_string(text), &path) != 0 || path.unusable ||
        has_element(&path.path) || is_unseen(&path.path) || is_time(&path.path) ||
        computed_of(reading->policy, &path.path) != NONE)
        return;
    path_draft(reading, reading->root, &path.path)->node.text = (int)language_of(policy, text);
}

static const struct index_node *read_property(struct op *op, struct reading *reading, size_t which,
                                              struct json property)
{
    struct index_policy *policy = reading->policy;
    struct json name = json_get(property, "name");
    struct index_computed nothing;
    struct draft *draft;

    if (json_kind(name) != JSON_STRING)
        return NULL;
    draft = member_draft(reading, reading->root, json_string(name));
    draft->node.stored = false;
    if (!policy->compute || policy->compute(op, policy->computed, which, json_undefined, &nothing) != ST_OK)
        return NULL;
    return &draft->node;
}

static path_id path_of_query(struct hash_seed seed, struct json query)
{
    return path_member(seed, path_root(TERM_COMPUTED),
                       json_kind(query) == JSON_STRING ? json_string(query) : slice_of(""));
}

static void read_computed(struct op *op, struct reading *reading, const struct index_policy_source *source)
{
    struct index_policy *policy = reading->policy;
    size_t count = json_kind(source->computed) == JSON_ARRAY ? json_count(source->computed) : 0;

    policy->computed = source->computed;
    policy->compute = source->compute;
    policy->computed_node = arena_alloc(reading->arena, (count + 1) * sizeof(struct index_node *));
    policy->computed_path = arena_alloc(reading->arena, (count + 1) * sizeof(path_id));
    for (struct json_iter i = json_iter(source->computed); json_next(&i) && policy->computed_count < count;) {
        size_t which = policy->computed_count++;

        policy->computed_node[which] = read_property(op, reading, which, i.value);
        policy->computed_path[which] = path_of_query(policy->seed, json_get(i.value, "query"));
    }
}

/* When a document has properties of these names, they get no entries. */
static void hide_unseen(struct reading *reading)
{
    for (size_t i = 0; i < UNSEEN; i++)
        member_draft(reading, reading->root, slice_of(unseen[i]))->node.stored = false;
    member_draft(reading, reading->root, slice_of("_ts"))->node.stored = false;
}

static size_t count_of(struct json list)
{
    return json_kind(list) == JSON_ARRAY ? json_count(list) : 0;
}

static void make_room(struct reading *reading, struct json policy)
{
    struct index_policy *made = reading->policy;
    size_t composites = count_of(json_get(policy, "compositeIndexes"));
    size_t included = count_of(json_get(policy, "includedPaths"));
    size_t spatials = count_of(json_get(policy, "spatialIndexes"));

    made->composite = arena_alloc(reading->arena, (composites + 1) * sizeof(*made->composite));
    made->composite_slots = arena_alloc(reading->arena, (composites + 1) * sizeof(*made->composite_slots));
    made->tuple = arena_alloc(reading->arena, (included + 1) * sizeof(*made->tuple));
    made->tuple_slots = arena_alloc(reading->arena, (included + 1) * sizeof(*made->tuple_slots));
    made->box = arena_alloc(reading->arena, (spatials + 1) * sizeof(*made->box));
}

enum status index_policy_read(struct op *op, struct arena *arena, const struct index_policy_source *source,
                              struct index_policy **policy)
{
    struct index_policy *made = arena_alloc(arena, sizeof(*made));
    struct reading reading = { arena, made, new_draft(arena, (struct slice){ 0 }) };
    struct json mode = json_get(source->policy, "indexingMode");

    *made = (struct index_policy){ .planar = source->planar,
                                   .seed = source->seed,
                                   .has_forms = source->has_forms };
    made->is_empty = json_kind(mode) == JSON_STRING && slice_is_nocase(json_string(mode), "none");
    made->is_manual = json_kind(json_get(source->policy, "automatic")) == JSON_FALSE;
    make_room(&reading, source->policy);
    read_computed(op, &reading, source);
    hide_unseen(&reading);
    if (!made->is_empty) {
        read_paths(&reading, json_get(source->policy, "excludedPaths"), EXCLUDED);
        read_paths(&reading, json_get(source->policy, "includedPaths"), INCLUDED);
        member_draft(&reading, reading.root, slice_of("id"))->value = INCLUDED;
        for (struct json_iter i = json_iter(json_get(source->policy, "compositeIndexes")); json_next(&i);)
            read_composite(&reading, i.value);
        for (struct json_iter i = json_iter(json_get(source->policy, "spatialIndexes")); json_next(&i);)
            read_spatial(&reading, i.value);
        for (struct json_iter i = json_iter(json_get(source->policy, "fullTextIndexes"));
             source->has_texts && json_next(&i);)
            read_text(&reading, i.value, source->full_text);
    }
    assert(made->composite_count <= count_of(json_get(source->policy, "compositeIndexes")));
    assert(made->tuple_count <= count_of(json_get(source->policy, "includedPaths")));
    assert(made->spatial_count <= count_of(json_get(source->policy, "spatialIndexes")));
    finish(arena, reading.root, (struct inherited){ EXCLUDED, NONE });
    made->root = &reading.root->node;
    *policy = made;
    return ST_OK;
}

/* ------- questions to a policy ------- */

bool index_policy_is_empty(const struct index_policy *policy)
{
    return policy->is_empty;
}

bool index_policy_is_manual(const struct index_policy *policy)
{
    return policy->is_manual;
}

const struct index_node *index_node_member(const struct index_node *parent, struct hash128 hash,
                                           struct slice name)
{
    size_t low = 0, high = parent->child_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (parent->child[middle]->hash < hash.h1)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < parent->child_count && parent->child[low]->hash == hash.h1; low++)
        if (slice_equal(parent->child[low]->name, name))
            return parent->child[low];
    return parent->rest;
}

const struct index_node *index_node_element(const struct index_node *parent)
{
    return parent->element ? parent->element : parent->rest;
}

static const struct index_node *node_at(const struct index_policy *policy, const struct index_path *path)
{
    const struct index_node *node = policy->root;

    for (size_t i = 0; i < path->count; i++) {
        struct slice name = path->step[i].name;

        node = path->step[i].element ? index_node_element(node)
                                     : index_node_member(node, murmur3_128(name.data, name.size), name);
    }
    return node;
}

bool index_policy_has_values(const struct index_policy *policy, const struct index_path *path)
{
    if (policy->is_empty || path->count == 0 || is_unseen(path) || computed_of(policy, path) != NONE)
        return false;
    return is_time(path) || node_at(policy, path)->value;
}

struct slice index_policy_query(const struct index_policy *policy, struct slice name)
{
    int which = policy->is_empty ? NONE : find_computed(policy, name);
    struct json text =
        which == NONE ? json_undefined : json_get(json_element(policy->computed, (size_t)which), "query");

    return json_kind(text) == JSON_STRING ? json_string(text) : (struct slice){ 0 };
}

bool index_policy_computes(const struct index_policy *policy, struct slice name, struct slice query,
                           path_id *path)
{
    struct slice text = index_policy_query(policy, name);
    int which = find_computed(policy, name);

    if (!text.data || !slice_equal(text, query))
        return false;
    assert(which != NONE); /* it has a query */
    assert((size_t)which < policy->computed_count);
    *path = policy->computed_path[which];
    return policy->computed_node[which] && policy->computed_node[which]->value;
}

const struct index_joined *index_policy_composites(const struct index_policy *policy, size_t *count)
{
    *count = policy->composite_count;
    return policy->composite;
}

const struct index_joined *index_policy_tuples(const struct index_policy *policy, size_t *count)
{
    *count = policy->tuple_count;
    return policy->tuple;
}

bool index_policy_spatial(const struct index_policy *policy, const struct index_path *path,
                          struct index_spatial *spatial)
{
    int which;

    if (policy->is_empty || path->count == 0 || is_unseen(path) || computed_of(policy, path) != NONE)
        return false;
    which = node_at(policy, path)->spatial;
    if (which == NONE)
        return false;
    assert((size_t)which < policy->spatial_count);
    spatial->planar = policy->planar;
    memcpy(spatial->box, policy->box[which], sizeof(spatial->box));
    spatial->id = path_spatial(index_path_id(policy, path), spatial->planar ? spatial->box : NULL);
    return true;
}

struct index_text index_text_at(const struct index_policy *policy, path_id path, int language)
{
    return (struct index_text){ .id = path_text(path, TEXT_RULES, (uint32_t)language),
                                .forms = path_forms(path, TEXT_RULES, (uint32_t)language),
                                .language = (enum text_language)language,
                                .has_forms = policy->has_forms };
}

bool index_policy_text(const struct index_policy *policy, const struct index_path *path,
                       struct index_text *text)
{
    int language;

    if (policy->is_empty || path->count == 0 || is_unseen(path) || computed_of(policy, path) != NONE)
        return false;
    language = node_at(policy, path)->text;
    if (language == NONE)
        return false;
    *text = index_text_at(policy, index_path_id(policy, path), language);
    return true;
}
