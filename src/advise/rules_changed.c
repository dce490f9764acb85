/* src/advise/rules_changed.c - the rules about what is written: parts that change, entries that nobody asks for, deletes. */
#include "advise/asked.h"
#include "advise/finding.h"
#include "advise/rules_private.h"
#include "catalog/catalog.h"
#include "reply/charge.h"

/* Fewer than so many are no habit. */
enum { CHANGES_MIN = 50, WRITES_MIN = 200, QUERIES_MIN = 100, DELETES_MIN = 50 };

/* ---- parts that change ---- */

enum { BUSY_PERCENT = 90, BUSY_ITEM_BYTES_MIN = 4096, BUSY_PART_MAX = 4 };

static bool lies_at(struct slice path, struct slice top)
{
    return path.size >= top.size && memcmp(path.data, top.data, top.size) == 0 &&
           (path.size == top.size || path.data[top.size] == '/');
}

/* Writes whose changes all lie in that member. */
static uint64_t changed_only(const struct asked *asked, struct slice top)
{
    uint64_t count = 0;

    for (struct json_iter i = json_iter(json_get(asked->record, "paths")); json_next(&i);)
        if (lies_at(asked_text(i.value, "path"), top))
            count += asked_number(i.value, "alone");
    return count;
}

/* The item's member in which a path lies: of /stock/0 it is /stock. */
static struct slice top_of(struct slice path)
{
    const char *slash = path.size > 1 ? memchr(path.data + 1, '/', path.size - 1) : NULL;

    return slash ? slice_make(path.data, (size_t)(slash - path.data)) : path;
}

static uint64_t mean(uint64_t total, uint64_t count)
{
    return count ? total / count : 0;
}

static enum status write_busy_part(struct op *op, const struct rule *rule, struct advice *advice,
                                   const struct asked *asked, struct slice top)
{
    uint64_t changes = asked_number(asked->record, "changes"), only = changed_only(asked, top);
    const struct tree *tree = NULL;
    const struct node *node = asked_node(asked->look, top, &tree);
    uint64_t item_bytes, part_bytes;
    struct finding_writer writer;

    if (!node)
        return ST_OK;
    item_bytes = mean(tree->bytes, tree->items);
    part_bytes = mean(node->bytes, node->items);
    if (item_bytes < BUSY_ITEM_BYTES_MIN || part_bytes * BUSY_PART_MAX > item_bytes)
        return ST_OK;
    finding_begin(op, &writer, rule, SEVERITY_MEDIUM,
                  (struct finding_place){ .look = asked->look, .tree = tree, .node = node });
    finding_number(&writer, "changes", changes);
    finding_share(&writer, "shareThatChangesNothingElse", (double)only / (double)changes);
    finding_number(&writer, "meanItemBytes", item_bytes);
    finding_number(&writer, "meanBytesOfThePart", part_bytes);
    return finding_end(
        op, advice, &writer, item_bytes,
        "Each change writes the whole item anew. Make the part an item of its own, with the owner's id and "
        "partition key: a change then writes the part alone. What is read together still lies in one "
        "partition, and one query reads both.");
}

/* One member has nearly all changes: it is found once, however many paths lie in it. */
static enum status busy_part_of(struct op *op, const struct rule *rule, struct advice *advice,
                                const struct asked *asked)
{
    uint64_t changes = asked_number(asked->record, "changes");

    if (changes < CHANGES_MIN)
        return ST_OK;
    for (struct json_iter i = json_iter(json_get(asked->record, "paths")); json_next(&i);) {
        struct slice top = top_of(asked_text(i.value, "path"));

        if (top.size && changed_only(asked, top) * 100 >= changes * BUSY_PERCENT)
            return write_busy_part(op, rule, advice, asked, top);
    }
    return ST_OK;
}

enum status find_busy_parts(struct op *op, const struct rule *rule, struct advice *advice)
{
    return asked_each(op, rule, advice, busy_part_of);
}

/* ---- what is indexed for nobody ---- */

enum { LEAVES_MIN = 8, UNASKED_PERCENT = 75 };

/* The container's policy indexes everything. */
static bool indexes_all(const struct container *container)
{
    struct json policy = json_get(container->definition, "indexingPolicy");
    struct json included = json_get(policy, "includedPaths");

    return json_count(included) == 1 && slice_is(asked_text(json_element(included, 0), "path"), "/*") &&
           json_count(json_get(policy, "excludedPaths")) <= 1 &&
           !slice_is(asked_text(policy, "indexingMode"), "none");
}

/* Queries find or sort by it: for what they only read, no index is needed. */
static bool is_asked_for(struct json path)
{
    return asked_number(path, "equal") || asked_number(path, "range") || asked_number(path, "filter") ||
           asked_number(path, "order") || asked_number(path, "group") || asked_number(path, "iterate");
}

static bool is_node_asked(struct op *op, const struct asked *asked, const struct node *node)
{
    struct buf text;

    buf_init(&text, &op->arena);
    node_print_path(&text, node);
    for (struct json_iter i = json_iter(json_get(asked->record, "paths")); json_next(&i);) {
        struct slice path = asked_text(i.value, "path");

        if (is_asked_for(i.value) && path.size &&
            (lies_at(buf_as_slice(&text), path) || lies_at(path, buf_as_slice(&text))))
            return true;
    }
    return false;
}

struct indexed {
    uint64_t leaves, unasked;       /* paths with values */
    uint64_t entries, entries_less; /* of all items */
    uint64_t items;
};

static struct indexed count_indexed(struct op *op, const struct asked *asked)
{
    struct indexed indexed = { 0 };

    for (size_t i = 0; i < asked->look->type_count; i++) {
        const struct tree *tree = &asked->look->type[i];

        indexed.items += tree->items;
        for (const struct node *node = tree->root; node; node = node_after(node)) {
            uint64_t values = node_values(node) - node->kind[JSON_ARRAY] - node->kind[JSON_OBJECT];
            bool is_asked = values && is_node_asked(op, asked, node);

            indexed.leaves += values > 0;
            indexed.entries += values;
            indexed.unasked += values && !is_asked;
            indexed.entries_less += is_asked ? 0 : values;
        }
    }
    return indexed;
}

/* The paths to include, as evidence and as a plan. */
static enum status write_policy(struct op *op, struct finding_writer *writer, const struct asked *asked)
{
    struct json_builder *out = &writer->out;
    struct buf plan;
    bool first = true;

    buf_init(&plan, &op->arena);
    buf_text(&plan,
             "\"indexingPolicy\":{\"indexingMode\":\"consistent\",\"automatic\":true,\"includedPaths\":[");
    json_add_name(out, slice_of("includedPaths"));
    json_begin_array(out);
    for (struct json_iter i = json_iter(json_get(asked->record, "paths")); json_next(&i);) {
        struct buf path;

        if (!is_asked_for(i.value) || !asked_text(i.value, "path").size)
            continue;
        buf_init(&path, &op->arena);
        buf_slice(&path, asked_text(i.value, "path"));
        buf_text(&path, asked_number(i.value, "iterate") ? "/*" : "/?");
        json_add_string(out, buf_as_slice(&path));
        buf_text(&plan, first ? "{\"path\":" : ",{\"path\":");
        json_print_string(&plan, buf_as_slice(&path));
        buf_byte(&plan, '}');
        first = false;
    }
    json_end(out);
    buf_text(&plan, "],\"excludedPaths\":[{\"path\":\"/*\"}]}");
    return finding_plan(op, writer, asked->look->container, buf_as_slice(&plan));
}

static enum status unasked_paths_of(struct op *op, const struct rule *rule, struct advice *advice,
                                    const struct asked *asked)
{
    struct work less = { 0 };
    struct indexed indexed;
    struct finding_writer writer;
    enum status st;

    if (!indexes_all(asked->look->container) || asked_writes(asked) < WRITES_MIN ||
        asked_executed(asked) < QUERIES_MIN || asked_number(asked->record, "pathsLeftOut") ||
        asked_number(asked->record, "queriesLeftOut"))
        return ST_OK;
    indexed = count_indexed(op, asked);
    if (indexed.leaves < LEAVES_MIN || indexed.unasked * 100 < indexed.leaves * UNASKED_PERCENT)
        return ST_OK;
    less.entries_written = mean(indexed.entries_less, indexed.items);
    finding_begin(op, &writer, rule, SEVERITY_LOW, (struct finding_place){ .look = asked->look });
    finding_number(&writer, "paths", indexed.leaves);
    finding_number(&writer, "pathsNeverAskedFor", indexed.unasked);
    finding_number(&writer, "entriesOfAnItem", mean(indexed.entries, indexed.items));
    finding_number(&writer, "entriesOfAnItemNeverAskedFor", less.entries_written);
    finding_units(&writer, "requestUnitsLessForACreate", charge_since(&less, &(struct work){ 0 }));
    finding_number(&writer, "writes", asked_writes(asked));
    finding_number(&writer, "queries", asked_executed(asked));
    TRY(write_policy(op, &writer, asked));
    TRY(finding_end(op, advice, &writer, 0,
                    "Every value is an entry of the index, which each write pays for. Include the paths that "
                    "queries find, "
                    "sort or group by, and exclude /*. What is recorded may not be all that is ever asked: a "
                    "query for an "
                    "excluded path reads every item."));
out:
    return st;
}

enum status find_unasked_paths(struct op *op, const struct rule *rule, struct advice *advice)
{
    return asked_each(op, rule, advice, unasked_paths_of);
}

/* ---- items that are deleted when they are old ---- */

/* A query by time whose rows are about as many as what was deleted. */
static bool finds_the_old(struct json query, uint64_t deletes, struct slice *path)
{
    uint64_t rows = asked_number(query, "rows");
    size_t at = 0;

    *path = asked_path(query, "range", &at);
    return path->data && !asked_is(query, "aggregates") && rows * 5 >= deletes * 4 && rows * 4 <= deletes * 5;
}

/* _ts, or a member that has dates. */
static bool is_time(const struct look *look, struct slice path)
{
    const struct tree *tree;
    const struct node *node = asked_node(look, path, &tree);
    uint64_t dates = 0;

    if (slice_is(path, "/_ts"))
        return true;
    for (size_t i = FORM_PLAIN + 1; node && i < FORM_COUNT; i++)
        dates += node->form[i];
    return node && dates * 10 >= node_values(node) * 9 && dates > 0;
}

static enum status ttl_by_hand_of(struct op *op, const struct rule *rule, struct advice *advice,
                                  const struct asked *asked)
{
    uint64_t deletes = asked_count(asked, "delete");

    if (deletes < DELETES_MIN || asked->look->container->default_ttl != TTL_OFF)
        return ST_OK;
    for (struct json_iter i = json_iter(asked_queries(asked)); json_next(&i);) {
        struct finding_writer writer;
        struct slice path;

        if (!finds_the_old(i.value, deletes, &path) || !is_time(asked->look, path))
            continue;
        finding_begin(op, &writer, rule, SEVERITY_MEDIUM,
                      (struct finding_place){ .look = asked->look, .path = path });
        finding_number(&writer, "deletes", deletes);
        finding_text(&writer, "query", asked_text(i.value, "query"));
        finding_number(&writer, "rowsOfTheQuery", asked_number(i.value, "rows"));
        finding_units(&writer, "requestUnits", asked_cost(asked, "delete") + asked_charge(i.value));
        finding_units(&writer, "requestUnitsWithTtl", 0);
        return finding_end(op, advice, &writer, 0,
                           "Give the container a default time to live, or items a \"ttl\" in seconds: they "
                           "end by themselves, "
                           "nobody searches for them, and it costs no request units here.");
    }
    return ST_OK;
}

enum status find_ttl_by_hand(struct op *op, const struct rule *rule, struct advice *advice)
{
    return asked_each(op, rule, advice, ttl_by_hand_of);
}
