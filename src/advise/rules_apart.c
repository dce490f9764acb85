/*
 * src/advise/rules_apart.c - the rules about what containers promise and how data is parted among them: values that are unique,
 * tenants that outgrow the others, containers that clients choose among.
 */
#include "advise/asked.h"
#include "advise/finding.h"
#include "advise/rules_private.h"
#include "partition/key.h"

/* Fewer than so many are no habit. */
enum { CHECKS_MIN = 50, KEYS_NAMED_MIN = 500, ASKED_MIN = 50 };

static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* ---- values that are unique because somebody looks first ---- */

enum {
    FOUND_PERCENT_MAX = 10,
    CREATED_PERCENT_MIN = 80,
    SINGLE_PERCENT_MIN = 95,
    DIFFERENT_PERCENT_MIN = 85
};

/* The one path besides the partition key that the query wants equal to something; no data: it wants more, or less. */
static struct slice path_looked_for(struct op *op, const struct container *container, struct json query)
{
    struct slice found = { 0 };

    for (struct json_iter i = json_iter(json_get(query, "paths")); json_next(&i);) {
        struct slice path = asked_text(i.value, "path");

        if (!asked_uses(query, path, "equal")) {
            if (asked_uses(query, path, "range") || asked_uses(query, path, "filter") ||
                asked_uses(query, path, "iterate"))
                return (struct slice){ 0 };
            continue;
        }
        if (is_key_path(op, container, path))
            continue;
        if (found.data)
            return (struct slice){ 0 };
        found = path;
    }
    return found;
}

/* It is asked within a partition, finds nothing, and then something is created. */
static bool looks_first(const struct asked *asked, struct json query)
{
    uint64_t executed = asked_number(query, "executed");

    return executed >= CHECKS_MIN && !asked_is(query, "aggregates") &&
           asked_number(query, "singlePartition") * 100 >= executed * SINGLE_PERCENT_MIN &&
           asked_number(query, "rows") * 100 <= executed * FOUND_PERCENT_MAX &&
           asked_count(asked, "create") * 100 >= executed * CREATED_PERCENT_MIN &&
           asked_count(asked, "create") * CREATED_PERCENT_MIN <= executed * 100;
}

/* Every item of the type has a text there, and no two the same. */
static bool is_unique(const struct node *node, const struct tree *tree)
{
    return node->parent && !node->of_array && node->spread && node->kind[JSON_STRING] == tree->items &&
           spread_commonest(node->spread) <= 1 &&
           spread_distinct(node->spread) * 100 >= tree->items * DIFFERENT_PERCENT_MIN;
}

static enum status write_unique(struct op *op, const struct rule *rule, struct advice *advice,
                                const struct asked *asked, struct json query, struct slice path)
{
    const struct tree *tree = NULL;
    const struct node *node = asked_node(asked->look, path, &tree);
    struct finding_writer writer;
    struct buf plan;
    enum status st;

    if (!node || !is_unique(node, tree))
        return ST_OK;
    finding_begin(op, &writer, rule, SEVERITY_MEDIUM,
                  (struct finding_place){ .look = asked->look, .tree = tree, .node = node });
    finding_text(&writer, "query", asked_text(query, "query"));
    finding_number(&writer, "executed", asked_number(query, "executed"));
    finding_number(&writer, "rows", asked_number(query, "rows"));
    finding_number(&writer, "creates", asked_count(asked, "create"));
    finding_number(&writer, "items", tree->items);
    finding_number(&writer, "differentValuesAbout", spread_distinct(node->spread));
    finding_units(&writer, "requestUnitsOfLooking", asked_charge(query));
    buf_init(&plan, &op->arena);
    buf_text(&plan, "\"uniqueKeyPolicy\":{\"uniqueKeys\":[{\"paths\":[");
    json_print_string(&plan, path);
    buf_text(&plan, "]}]}");
    TRY(finding_plan(op, &writer, asked->look->container, buf_as_slice(&plan)));
    TRY(finding_end(op, advice, &writer, 0,
                    "Between the look and the create somebody else may create the same: a look keeps nothing "
                    "unique. Declare a unique key when the container is made: a create that would break it "
                    "is answered 409, and nobody has to look. It holds within a partition key."));
out:
    return st;
}

static enum status unique_by_hand_of(struct op *op, const struct rule *rule, struct advice *advice,
                                     const struct asked *asked)
{
    const struct container *container = asked->look->container;
    enum status st = ST_OK;

    if (container->unique_key_count || container->system_key)
        return ST_OK;
    for (struct json_iter i = json_iter(asked_queries(asked)); json_next(&i);) {
        struct slice path = path_looked_for(op, container, i.value);

        if (path.data && !slice_is(path, "/id") && looks_first(asked, i.value))
            TRY(write_unique(op, rule, advice, asked, i.value, path));
    }
out:
    return st;
}

enum status find_unique_by_hand(struct op *op, const struct rule *rule, struct advice *advice)
{
    return asked_each(op, rule, advice, unique_by_hand_of);
}

/* ---- a tenant that outgrows the others ---- */

enum { TENANTS_MIN = 10, LARGE_PERCENT = 30, LARGE_TIMES_MEAN = 5 };

/* What people call a key whose values are worlds of their own. */
static bool is_called_tenant(const struct container *container)
{
    static const char *const names[] = { "tenant", "customer", "account",   "organi", "company",
                                         "client", "shop",     "workspace", "team" };
    const struct key_path *path = &container->key_path[0];
    struct slice name = path->segment[path->count - 1];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (size_t at = 0; at + strlen(names[i]) <= name.size; at++)
            if (slice_is_nocase(slice_make(name.data + at, strlen(names[i])), names[i]))
                return true;
    return false;
}

/* Whether a key of the record, as JSON, is the one with the most items. */
static bool is_largest_key(struct op *op, const struct look *look, struct slice key)
{
    struct placed_key placed;
    struct hash128 hash;
    bool present;

    if (partition_key_read(op, look->container, key, KEY_OF_QUERY, &placed.values, &present) != ST_OK ||
        !present)
        return false;
    partition_key_place(look->container, &placed);
    hash = siphash_128(look->seed, placed.epk.bytes, placed.epk.size);
    return hash.h1 == look->largest_key[0].epk.h1 && hash.h2 == look->largest_key[0].epk.h2;
}

static bool is_large_tenant(struct op *op, const struct asked *asked, uint64_t least, uint64_t named)
{
    const struct look *look = asked->look;
    struct json first = json_element(json_get(json_get(asked->record, "keys"), "commonest"), 0);
    uint64_t items = look->largest_key[0].items;

    return look->container->key_path_count == 1 && look->keys_counted && look->keys >= TENANTS_MIN &&
           named >= KEYS_NAMED_MIN && least * 100 >= named * LARGE_PERCENT &&
           items * 100 >= look->items * LARGE_PERCENT &&
           items * look->keys >= look->items * LARGE_TIMES_MEAN &&
           asked_single(asked) * 100 >= asked_executed(asked) * SINGLE_PERCENT_MIN &&
           is_called_tenant(look->container) && is_largest_key(op, look, asked_text(first, "key"));
}

static enum status large_tenant_of(struct op *op, const struct rule *rule, struct advice *advice,
                                   const struct asked *asked)
{
    struct json keys = json_get(asked->record, "keys");
    struct json first = json_element(json_get(keys, "commonest"), 0);
    uint64_t named = asked_number(keys, "named");
    uint64_t least = asked_number(first, "count") - asked_number(first, "error");
    const struct look *look = asked->look;
    struct finding_writer writer;

    if (!is_large_tenant(op, asked, least, named))
        return ST_OK;
    finding_begin(op, &writer, rule, SEVERITY_MEDIUM, (struct finding_place){ .look = look });
    finding_number(&writer, "tenants", look->keys);
    finding_share(&writer, "shareOfItems", share_of(look->largest_key[0].items, look->items));
    finding_share(&writer, "shareOfRequestsAtLeast", share_of(least, named));
    finding_number(&writer, "requestsThatNameAKey", named);
    finding_ids(&writer, "anItemOfIt", &look->largest_key[0].id, 1);
    finding_text(&writer, "resolver", slice_of("orrery_resolver_lookup()"));
    if (advice->values)
        finding_text(&writer, "key", asked_text(first, "key"));
    return finding_end(
        op, advice, &writer, 0,
        "One tenant has a large part of the items and of the requests, in a container that no query looks "
        "at as a whole: what it spends, the others lack. Give it a container with throughput of its own, by "
        "a lookup resolver that names it and has the container of today for all others; or make the key "
        "hierarchical, so that its items spread over ranges.");
}

enum status find_large_tenants(struct op *op, const struct rule *rule, struct advice *advice)
{
    return asked_each(op, rule, advice, large_tenant_of);
}

/* ---- containers that clients choose among ---- */

enum { PARTS_MIN = 3, PARTS_MAX = 64 };

/* Containers in which the same query is asked, and whose values at its path are not the same. */
struct parts {
    struct asked part[PARTS_MAX];
    const struct node *node[PARTS_MAX];
    size_t count;
    uint64_t executed, rows;
    double charge;
    double rows_if_right; /* that these queries had found if each had been asked where its value is */
};

static struct json same_query(const struct asked *asked, struct slice text)
{
    for (struct json_iter i = json_iter(asked_queries(asked)); json_next(&i);)
        if (slice_equal(asked_text(i.value, "query"), text) && asked_number(i.value, "executed") >= ASKED_MIN)
            return i.value;
    return json_undefined;
}

/* Values are known by samples: texts, of which each different one has the same chance. */
static bool has_sample(const struct node *node, struct slice value)
{
    for (size_t i = 0; i < node->sample_count; i++)
        if (json_kind(node->sample[i].value) == JSON_STRING &&
            slice_equal(json_string(node->sample[i].value), value))
            return true;
    return false;
}

static bool is_disjoint(const struct node *a, const struct node *b)
{
    for (size_t i = 0; i < a->sample_count; i++)
        if (json_kind(a->sample[i].value) != JSON_STRING || has_sample(b, json_string(a->sample[i].value)))
            return false;
    return a->sample_count > 0 && b->sample_count > 0;
}

static bool is_alike(struct op *op, const struct container *a, const struct container *b)
{
    if (a->database != b->database || a->key_path_count != b->key_path_count)
        return false;
    for (size_t i = 0; i < a->key_path_count; i++)
        if (!slice_equal(key_path_text(op, a, i), key_path_text(op, b, i)))
            return false;
    return true;
}

static double rows_of_a_value(const struct node *node)
{
    uint64_t different = node->spread ? spread_distinct(node->spread) : 0;

    return different ? (double)node->items / (double)different : 0;
}

/* All containers that are like this one, are asked the same, and have other values at the path. False: one of them shares some. */
static bool gather(struct op *op, const struct advice *advice, const struct asked *first, struct json query,
                   struct slice path, struct parts *parts)
{
    const struct tree *tree;

    *parts = (struct parts){ 0 };
    for (size_t i = 0; i < advice->look_count && parts->count < PARTS_MAX; i++) {
        struct asked asked = asked_of(advice, &advice->look[i]);
        struct json same = same_query(&asked, asked_text(query, "query"));
        const struct node *node = asked_node(&advice->look[i], path, &tree);

        if (json_kind(same) == JSON_UNDEFINED || !node || node->of_array ||
            !is_alike(op, first->look->container, advice->look[i].container))
            continue;
        for (size_t j = 0; j < parts->count; j++)
            if (!is_disjoint(node, parts->node[j]))
                return false;
        parts->part[parts->count] = asked;
        parts->node[parts->count++] = node;
        parts->executed += asked_number(same, "executed");
        parts->rows += asked_number(same, "rows");
        parts->rows_if_right += (double)asked_number(same, "executed") * rows_of_a_value(node);
        parts->charge += asked_charge(same);
    }
    return parts->count >= PARTS_MIN &&
           parts->part[0].look == first->look && /* it is told once, of the first */
           (double)parts->rows * 2 <= parts->rows_if_right;
}

static struct slice least_sample(const struct node *node, bool most)
{
    struct slice found = json_string(node->sample[0].value);

    for (size_t i = 1; i < node->sample_count; i++) {
        struct slice value = json_string(node->sample[i].value);

        if ((slice_compare(value, found) < 0) != most)
            found = value;
    }
    return found;
}

static bool is_parted_by_range(const struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct node *a = parts->node[i], *b = parts->node[j];

            if (slice_compare(least_sample(a, false), least_sample(b, true)) <= 0 &&
                slice_compare(least_sample(b, false), least_sample(a, true)) <= 0)
                return false;
        }
    return true;
}

static const char *resolver_of(const struct parts *parts)
{
    bool is_single = true;

    for (size_t i = 0; i < parts->count; i++)
        is_single = is_single && parts->node[i]->sample_count == 1;
    if (is_single)
        return "orrery_resolver_lookup()";
    return is_parted_by_range(parts) ? "orrery_resolver_range()" : "orrery_resolver_hash()";
}

static enum status write_no_resolver(struct op *op, const struct rule *rule, struct advice *advice,
                                     struct json query, struct slice path, const struct parts *parts)
{
    struct finding_writer writer;

    finding_begin(op, &writer, rule, SEVERITY_MEDIUM,
                  (struct finding_place){ .look = parts->part[0].look, .path = path });
    finding_number(&writer, "containers", parts->count);
    finding_text(&writer, "query", asked_text(query, "query"));
    finding_number(&writer, "executed", parts->executed);
    finding_units(&writer, "requestUnitsToday", parts->charge);
    finding_units(&writer, "requestUnitsOfOneContainerEach", parts->charge / (double)parts->count);
    finding_text(&writer, "resolver", slice_of(resolver_of(parts)));
    return finding_end(
        op, advice, &writer, 0,
        "The same query goes to every one of these containers, and its value is in one of them only. A "
        "resolver knows which: by a table (lookup), by bounds (range), or by a hash, if documents are placed "
        "by it. docs/partitioning.md has all three; one container with this path as its partition key needs "
        "none.");
}

static enum status no_resolver_of(struct op *op, const struct rule *rule, struct advice *advice,
                                  const struct asked *asked)
{
    struct parts *parts = arena_alloc(&op->arena, sizeof(*parts));
    enum status st = ST_OK;

    for (struct json_iter i = json_iter(asked_queries(asked)); json_next(&i);) {
        size_t at = 0;
        struct slice path = asked_path(i.value, "equal", &at);

        if (path.data && !asked_path(i.value, "equal", &at).data &&
            gather(op, advice, asked, i.value, path, parts))
            TRY(write_no_resolver(op, rule, advice, i.value, path, parts));
    }
out:
    return st;
}

enum status find_no_resolvers(struct op *op, const struct rule *rule, struct advice *advice)
{
    return asked_each(op, rule, advice, no_resolver_of);
}
