/* src/advise/rules_asked.c - the rules about what is asked: partition keys that queries name, counts, orders. */
#include "advise/asked.h"
#include "advise/finding.h"
#include "advise/rules_private.h"
#include "reply/charge.h"

/* Fewer than so many are no habit. */
enum {
    QUERIES_MIN = 100,
    QUERY_MIN = 50,
    KEYS_NAMED_MIN = 500,
    KEYS_DIFFERENT_MIN = 10,
    HOT_ITEMS_MIN = 100
};

static const double SINGLE_MAX = 0.5;          /* more queries than that name the key: it serves them */
static const double CROSS_COST_MIN = 0.3;      /* of all that was spent on the container */
static const double CANDIDATE_SHARE_MIN = 0.7; /* of the queries that a better key must be named by */
static const double HOT_SHARE_MIN = 0.3;
static const double ONLY_SHARE_MIN = 0.9; /* one key has all requests, however few keys there are */

static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* ---- the partition key ---- */

/* What queries cost that did not name the key. */
static double cost_of_crossing(const struct asked *asked)
{
    double cost = 0;

    for (struct json_iter i = json_iter(asked_queries(asked)); json_next(&i);)
        cost += asked_charge(i.value) *
                (1 - share_of(asked_number(i.value, "singlePartition"), asked_number(i.value, "executed")));
    return cost;
}

/* A path that queries name as they would name a key. */
struct better_key {
    struct slice path;
    double share; /* of the queries that name it */
    struct candidate spread;
    bool is_hierarchical; /* its values are too few or too uneven to be the key alone */
};

static uint64_t executed_with(const struct asked *asked, struct slice path)
{
    uint64_t executed = 0;

    for (struct json_iter i = json_iter(asked_queries(asked)); json_next(&i);)
        executed += asked_uses(i.value, path, "equal") ? asked_number(i.value, "executed") : 0;
    return executed;
}

/* Every item has a text there: then a key may begin with it. */
static bool is_in_every_item(const struct look *look, const struct node *node)
{
    uint64_t items = 0;

    for (size_t i = 0; i < look->type_count; i++)
        items += look->type[i].items;
    return node->parent && !node->of_array && node->kind[JSON_STRING] == items && look->type_count == 1;
}

static bool judge_path(struct op *op, const struct asked *asked, struct slice path, struct better_key *key)
{
    const struct tree *tree;
    const struct node *node = asked_node(asked->look, path, &tree);

    *key = (struct better_key){ .path = path,
                                .share = share_of(executed_with(asked, path), asked_executed(asked)) };
    if (!node || key->share < CANDIDATE_SHARE_MIN || is_key_path(op, asked->look->container, path) ||
        memmem(path.data, path.size, "/[]", 3))
        return false;
    key->is_hierarchical = !candidate_judge(asked->look, node, &key->spread);
    return !key->is_hierarchical || (is_in_every_item(asked->look, node) && key->spread.distinct > 1);
}

/* Named by the most queries; among equals the one that spreads by itself. */
static bool find_better_key(struct op *op, const struct asked *asked, struct better_key *best)
{
    bool found = false;

    for (struct json_iter i = json_iter(json_get(asked->record, "paths")); json_next(&i);) {
        struct better_key key;

        if (!asked_number(i.value, "equal") || !judge_path(op, asked, asked_text(i.value, "path"), &key))
            continue;
        if (!found || key.share > best->share + 0.01 ||
            (key.share > best->share - 0.01 && best->is_hierarchical && !key.is_hierarchical))
            *best = key;
        found = true;
    }
    return found;
}

static bool is_key_unnamed(const struct asked *asked)
{
    return asked_executed(asked) >= QUERIES_MIN && !asked->look->container->system_key &&
           share_of(asked_single(asked), asked_executed(asked)) < SINGLE_MAX &&
           cost_of_crossing(asked) >= CROSS_COST_MIN * asked_cost_of_all(asked);
}

/* ["/tenant"], or ["/tenant","/id"] where the first alone would not spread. */
static void write_proposal(struct op *op, struct finding_writer *writer, const struct asked *asked,
                           const struct better_key *key)
{
    struct json_builder *out = &writer->out;

    json_add_name(out, slice_of("proposedKey"));
    json_begin_array(out);
    json_add_string(out, key->path);
    if (key->is_hierarchical)
        json_add_string(out, key_path_text(op, asked->look->container, 0));
    json_end(out);
    finding_share(writer, "shareOfQueriesThatNameIt", key->share);
    finding_number(writer, "differentValuesAbout", key->spread.distinct);
    finding_share(writer, "largestShareAtLeast", key->spread.largest_share);
}

static enum status plan_key(struct op *op, struct finding_writer *writer, const struct asked *asked,
                            const struct better_key *key)
{
    struct buf members;

    buf_init(&members, &op->arena);
    buf_text(&members, "\"partitionKey\":{\"paths\":[");
    json_print_string(&members, key->path);
    if (key->is_hierarchical) {
        buf_byte(&members, ',');
        json_print_string(&members, key_path_text(op, asked->look->container, 0));
    }
    buf_printf(&members, "],\"kind\":\"%s\",\"version\":2}", key->is_hierarchical ? "MultiHash" : "Hash");
    return finding_plan(op, writer, asked->look->container, buf_as_slice(&members));
}

static enum status unnamed_key_of(struct op *op, const struct rule *rule, struct advice *advice,
                                  const struct asked *asked)
{
    struct finding_writer writer;
    struct better_key key;
    enum status st;

    if (!is_key_unnamed(asked) || !find_better_key(op, asked, &key))
        return ST_OK;
    finding_begin(op, &writer, rule, SEVERITY_HIGH, (struct finding_place){ .look = asked->look });
    finding_number(&writer, "queries", asked_executed(asked));
    finding_share(&writer, "shareThatNamesTheKey", share_of(asked_single(asked), asked_executed(asked)));
    finding_units(&writer, "requestUnitsOfTheOthers", cost_of_crossing(asked));
    finding_number(&writer, "ranges", asked_number(asked->record, "rangesMost"));
    write_proposal(op, &writer, asked, &key);
    TRY(plan_key(op, &writer, asked, &key));
    TRY(finding_end(
        op, advice, &writer, 0,
        "A query that does not name the partition key asks every range, and each range charges for it. Make "
        "a "
        "container with the key that queries name, copy the items, and let the application name it. A "
        "hierarchical key serves queries that name its first level, and spreads by the others."));
out:
    return st;
}

enum status find_unnamed_keys(struct op *op, const struct rule *rule, struct advice *advice)
{
    return asked_each(op, rule, advice, unnamed_key_of);
}

/* ---- fan-out ---- */

enum { FAN_OUT_ROWS_MAX = 20 };

static bool fans_out(const struct asked *asked, struct json query)
{
    uint64_t executed = asked_number(query, "executed");

    return executed >= QUERY_MIN && asked_number(query, "singlePartition") == 0 &&
           asked_number(query, "ranges") >= 2 * executed && !asked_is(query, "aggregates") &&
           asked_number(query, "rows") <= FAN_OUT_ROWS_MAX * executed &&
           asked_charge(query) >= CROSS_COST_MIN * asked_cost_of_all(asked);
}

static enum status fan_out_of(struct op *op, const struct rule *rule, struct advice *advice,
                              const struct asked *asked)
{
    struct better_key key;
    enum status st = ST_OK;

    if (asked_number(asked->record, "rangesMost") < 2 ||
        (is_key_unnamed(asked) && find_better_key(op, asked, &key)))
        return ST_OK; /* another key would serve it */
    for (struct json_iter i = json_iter(asked_queries(asked)); json_next(&i);) {
        uint64_t executed = asked_number(i.value, "executed");
        struct finding_writer writer;

        if (!fans_out(asked, i.value))
            continue;
        finding_begin(op, &writer, rule, SEVERITY_MEDIUM, (struct finding_place){ .look = asked->look });
        finding_text(&writer, "query", asked_text(i.value, "query"));
        finding_number(&writer, "executed", executed);
        finding_units(&writer, "rangesAskedEach", share_of(asked_number(i.value, "ranges"), executed));
        finding_units(&writer, "rowsEach", share_of(asked_number(i.value, "rows"), executed));
        finding_units(&writer, "requestUnitsEach", asked_charge(i.value) / (double)executed);
        TRY(finding_end(
            op, advice, &writer, 0,
            "Every range is asked, and most have no row. Name the partition key if the application knows it. "
            "If it does not, keep what this query finds in a second container with the key that the query "
            "names, filled from the change feed."));
    }
out:
    return st;
}

enum status find_fan_outs(struct op *op, const struct rule *rule, struct advice *advice)
{
    return asked_each(op, rule, advice, fan_out_of);
}

/* ---- hot keys ---- */

static bool is_hot(const struct asked *asked, uint64_t least, uint64_t named, uint64_t different)
{
    double share = share_of(least, named);

    return named >= KEYS_NAMED_MIN &&
           ((different >= KEYS_DIFFERENT_MIN && share >= HOT_SHARE_MIN) ||
            (asked->look->items >= HOT_ITEMS_MIN && asked->look->keys > 1 && share >= ONLY_SHARE_MIN));
}

static enum status hot_key_of(struct op *op, const struct rule *rule, struct advice *advice,
                              const struct asked *asked)
{
    struct json keys = json_get(asked->record, "keys");
    struct json first = json_element(json_get(keys, "commonest"), 0);
    uint64_t named = asked_number(keys, "named");
    uint64_t least = asked_number(first, "count") - asked_number(first, "error");
    struct finding_writer writer;

    if (!is_hot(asked, least, named, asked_number(keys, "different")))
        return ST_OK;
    finding_begin(op, &writer, rule, SEVERITY_MEDIUM, (struct finding_place){ .look = asked->look });
    finding_number(&writer, "requestsThatNameAKey", named);
    finding_number(&writer, "differentKeysAbout", asked_number(keys, "different"));
    finding_share(&writer, "hottestShareAtLeast", share_of(least, named));
    if (advice->values)
        finding_text(&writer, "hottestKey", asked_text(first, "key"));
    return finding_end(
        op, advice, &writer, 0,
        "All requests to one key go to one range, which has its part of the throughput and no more. If the "
        "items "
        "of that key can be told apart by another member, make a hierarchical key of both; if it is one item "
        "that everybody reads, let the application keep it for a moment.");
}

enum status find_hot_keys(struct op *op, const struct rule *rule, struct advice *advice)
{
    return asked_each(op, rule, advice, hot_key_of);
}

/* ---- counts ---- */

/* What a count costs that is kept: a trigger and a patch of a small item at each write, and a read when it is wanted. */
static double cost_of_keeping(void)
{
    struct work work = { .scripts = 1, .entries_written = 2 };

    work_removed(&work, 1024);
    work_wrote(&work, 1024);
    return charge_of(&work);
}

static const double COST_OF_READING = 1.0;

/* item["authorId"] */
static void print_member(struct buf *out, struct slice name)
{
    buf_text(out, "item[");
    json_print_string(out, name);
    buf_byte(out, ']');
}

/* The last name of a path of members. */
static struct slice last_name(struct slice path)
{
    const char *slash = path.size ? memrchr(path.data, '/', path.size) : NULL;

    return slash ? slice_after(path, (size_t)(slash - path.data) + 1) : path;
}

/* A trigger that keeps the count beside the items that are counted, in their partition. */
static struct slice write_trigger(struct op *op, const struct container *container, struct slice owner)
{
    struct slice key = container->key_path[0].segment[container->key_path[0].count - 1];
    struct buf out;

    buf_init(&out, &op->arena);
    buf_text(&out,
             "// A post-trigger of Create; for Delete the same with -= 1. Make the counts of today first.\n"
             "function keepCount() {\n"
             "  const item = getContext().getResponse().getBody(), items = getContext().getCollection();\n"
             "  const id = \"count-\" + ");
    if (owner.data)
        print_member(&out, last_name(owner));
    else
        buf_text(&out, "\"all\"");
    buf_text(&out, ";\n  items.readDocument(items.getAltLink() + \"/docs/\" + id, (error, kept) => {\n"
                   "    if (error && error.number !== 404) throw error;\n    const next = kept || { id, ");
    json_print_string(&out, key);
    buf_text(&out, ": ");
    print_member(&out, key);
    buf_text(
        &out,
        ", type: \"count\", count: 0 };\n"
        "    next.count += 1;\n"
        "    items.upsertDocument(items.getAltLink(), next, (failed) => { if (failed) throw failed; });\n"
        "  });\n"
        "}\n");
    return buf_as_slice(&out);
}

static bool has_path(struct json query, const char *use)
{
    size_t at = 0;

    return asked_path(query, use, &at).data != NULL;
}

/* One figure for each, asked often, and dearer so than kept with each write. */
static bool is_repeated(const struct asked *asked, struct json query, double *today, double *kept)
{
    uint64_t executed = asked_number(query, "executed");
    uint64_t writes =
        asked_count(asked, "create") + asked_count(asked, "upsert") + asked_count(asked, "delete");

    *today = asked_charge(query);
    *kept = (double)executed * COST_OF_READING + (double)writes * cost_of_keeping();
    return asked_is(query, "aggregates") && executed >= QUERY_MIN &&
           asked_number(query, "rows") <= 2 * executed && !has_path(query, "group") &&
           !has_path(query, "range") && !has_path(query, "filter") && *today >= 2 * *kept;
}

static enum status repeated_counts_of(struct op *op, const struct rule *rule, struct advice *advice,
                                      const struct asked *asked)
{
    enum status st = ST_OK;

    for (struct json_iter i = json_iter(asked_queries(asked)); json_next(&i);) {
        struct finding_writer writer;
        double today, kept;
        size_t at = 0;

        if (!is_repeated(asked, i.value, &today, &kept))
            continue;
        finding_begin(op, &writer, rule, SEVERITY_MEDIUM, (struct finding_place){ .look = asked->look });
        finding_text(&writer, "query", asked_text(i.value, "query"));
        finding_number(&writer, "executed", asked_number(i.value, "executed"));
        finding_units(&writer, "requestUnitsEach", today / (double)asked_number(i.value, "executed"));
        finding_units(&writer, "requestUnitsToday", today);
        finding_units(&writer, "requestUnitsKept", kept);
        finding_text(&writer, "trigger",
                     write_trigger(op, asked->look->container, asked_path(i.value, "equal", &at)));
        TRY(finding_end(
            op, advice, &writer, 0,
            "Keep the figure in an item, and change it with each write by a trigger or a procedure, in the "
            "same "
            "transaction: then it is one point read. A count over several partition keys is kept for each of "
            "them, or from the change feed."));
    }
out:
    return st;
}

enum status find_repeated_counts(struct op *op, const struct rule *rule, struct advice *advice)
{
    return asked_each(op, rule, advice, repeated_counts_of);
}

/* ---- composite indexes ---- */

enum { SCANNED_TIMES_ROWS = 10, ORDER_PATHS_MAX = 4 };

/* The paths of a composite index: those that must equal a value, then those of the order. */
struct composite {
    struct slice path[ORDER_PATHS_MAX];
    size_t count;
};

static bool add_paths(struct json query, const char *use, struct composite *composite)
{
    size_t at = 0, before = composite->count;

    for (;;) {
        struct slice path = asked_path(query, use, &at);

        if (!path.data)
            return composite->count > before;
        if (composite->count == ORDER_PATHS_MAX || memmem(path.data, path.size, "/[]", 3))
            return false;
        composite->path[composite->count++] = path;
    }
}

/* /name, "/name" or /"name" of a policy. */
static bool is_path(struct json written, struct slice path)
{
    struct slice text = asked_text(written, "path");

    return slice_equal(text, path);
}

static bool has_composite(const struct container *container, const struct composite *wanted)
{
    struct json list = json_get(json_get(container->definition, "indexingPolicy"), "compositeIndexes");

    for (struct json_iter i = json_iter(list); json_next(&i);) {
        size_t same = 0;

        for (size_t k = 0; k < wanted->count; k++)
            same += is_path(json_element(i.value, k), wanted->path[k]);
        if (same == wanted->count)
            return true;
    }
    return false;
}

static bool lacks_composite(const struct asked *asked, struct json query, struct composite *composite)
{
    uint64_t scanned = asked_number(query, "scanned"), rows = asked_number(query, "rows");

    *composite = (struct composite){ 0 };
    return asked_number(query, "executed") >= QUERY_MIN && scanned >= SCANNED_TIMES_ROWS * (rows + 1) &&
           add_paths(query, "equal", composite) && add_paths(query, "order", composite) &&
           !has_composite(asked->look->container, composite);
}

static void write_composite(struct finding_writer *writer, const struct composite *composite)
{
    json_add_name(&writer->out, slice_of("compositeIndex"));
    json_begin_array(&writer->out);
    for (size_t i = 0; i < composite->count; i++) {
        json_begin_object(&writer->out);
        finding_text(writer, "path", composite->path[i]);
        finding_text(writer, "order", slice_of("ascending"));
        json_end(&writer->out);
    }
    json_end(&writer->out);
}

/* The policy as it is, with one index more. */
static enum status plan_composite(struct op *op, struct finding_writer *writer,
                                  const struct container *container, const struct composite *composite)
{
    struct json policy = json_get(container->definition, "indexingPolicy");
    struct json list = json_get(policy, "compositeIndexes");
    struct buf members;

    buf_init(&members, &op->arena);
    buf_text(&members, "\"indexingPolicy\":{");
    if (json_print_members(&members, json_without(&op->arena, policy, "compositeIndexes")))
        buf_byte(&members, ',');
    buf_text(&members, "\"compositeIndexes\":[");
    for (struct json_iter i = json_iter(list); json_next(&i);) {
        json_print(&members, i.value);
        buf_byte(&members, ',');
    }
    for (size_t i = 0; i < composite->count; i++) {
        buf_text(&members, i ? ",{\"path\":" : "[{\"path\":");
        json_print_string(&members, composite->path[i]);
        buf_text(&members, ",\"order\":\"ascending\"}");
    }
    buf_text(&members, "]]}");
    return finding_plan(op, writer, container, buf_as_slice(&members));
}

static enum status missing_composites_of(struct op *op, const struct rule *rule, struct advice *advice,
                                         const struct asked *asked)
{
    enum status st = ST_OK;

    for (struct json_iter i = json_iter(asked_queries(asked)); json_next(&i);) {
        uint64_t executed = asked_number(i.value, "executed");
        struct finding_writer writer;
        struct composite composite;

        if (!lacks_composite(asked, i.value, &composite))
            continue;
        finding_begin(op, &writer, rule, SEVERITY_MEDIUM, (struct finding_place){ .look = asked->look });
        finding_text(&writer, "query", asked_text(i.value, "query"));
        finding_number(&writer, "executed", executed);
        finding_units(&writer, "itemsLookedAtEach", share_of(asked_number(i.value, "scanned"), executed));
        finding_units(&writer, "rowsEach", share_of(asked_number(i.value, "rows"), executed));
        finding_units(&writer, "requestUnitsEach", asked_charge(i.value) / (double)executed);
        write_composite(&writer, &composite);
        TRY(plan_composite(op, &writer, asked->look->container, &composite));
        TRY(finding_end(
            op, advice, &writer, 0,
            "All items that pass the filter are read and sorted, for the few that are wanted. An index of "
            "both "
            "paths has them in order: add it to the indexing policy, with the order of the query."));
    }
out:
    return st;
}

enum status find_missing_composites(struct op *op, const struct rule *rule, struct advice *advice)
{
    return asked_each(op, rule, advice, missing_composites_of);
}
