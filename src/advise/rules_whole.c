/* src/advise/rules_whole.c - the table of rules, and those about whole items, partition keys and links between items. */
#include <assert.h>

#include "advise/finding.h"
#include "advise/rules_private.h"
#include "base/limits.h"

enum { ITEM_BYTES_LARGE = 1024 * 1024 };
enum { SKEW_ITEMS_MIN = 100, SKEW_PERCENT = 30, SKEW_HIGH_PERCENT = 50, SKEW_TIMES_MEAN = 5 };
enum { FEW_KEYS = 10, FEW_KEYS_ITEMS_MIN = 10000 };
enum { CANDIDATES = 3, CANDIDATE_VALUES_MIN = 20, CANDIDATE_PERCENT_MAX = 10 };

/* ---- large items ---- */

static enum status large_items_of(struct op *op, const struct rule *rule, struct advice *advice,
                                  const struct look *look)
{
    struct finding_writer writer;
    size_t count = 0;

    while (count < LOOK_LARGE && look->large[count].bytes >= ITEM_BYTES_LARGE)
        count++;
    if (count == 0)
        return ST_OK;
    finding_begin(op, &writer, rule, SEVERITY_HIGH, (struct finding_place){ .look = look });
    json_add_name(&writer.out, slice_of("largest"));
    json_begin_array(&writer.out);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(&writer.out);
        finding_text(&writer, "id", look->large[i].id);
        finding_number(&writer, "bytes", look->large[i].bytes);
        json_end(&writer.out);
    }
    json_end(&writer.out);
    finding_number(&writer, "limit", ITEM_BYTES_MAX);
    return finding_end(
        op, advice, &writer, look->large[0].bytes,
        "An item has at most 2 MB, and every change writes all of it. Divide the item, or keep what is large "
        "(pictures, texts, files) elsewhere and a link to it here.");
}

enum status find_large_items(struct op *op, const struct rule *rule, struct advice *advice)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < advice->look_count; i++)
        TRY(large_items_of(op, rule, advice, &advice->look[i]));
out:
    return st;
}

/* ---- partition keys ---- */

struct slice key_path_text(struct op *op, const struct container *container, size_t index)
{
    const struct key_path *path = &container->key_path[index];
    struct buf out;

    buf_init(&out, &op->arena);
    for (size_t i = 0; i < path->count; i++) {
        buf_byte(&out, '/');
        buf_slice(&out, path->segment[i]);
    }
    return buf_as_slice(&out);
}

bool is_key_path(struct op *op, const struct container *container, struct slice path)
{
    for (size_t i = 0; i < container->key_path_count; i++)
        if (slice_equal(key_path_text(op, container, i), path))
            return true;
    return false;
}

static const struct node *same_place(const struct node *root, const struct node *node)
{
    const struct node *parent;

    if (!node->parent)
        return root;
    parent = same_place(root, node->parent);
    return parent ? node_child(parent, node->name) : NULL;
}

/* Every item of every type has a string there: numbers are mostly measures, by which nobody asks for a partition. */
static bool joins(const struct look *look, const struct node *node, struct spread *spread)
{
    for (size_t i = 0; i < look->type_count; i++) {
        const struct node *here = same_place(look->type[i].root, node);

        if (!here || !here->spread || here->of_array || here->kind[JSON_STRING] != look->type[i].items)
            return false;
        spread_join(spread, here->spread);
    }
    return true;
}

bool candidate_judge(const struct look *look, const struct node *node, struct candidate *candidate)
{
    struct spread spread = { 0 };

    if (!node->parent || node->of_array || !node->spread || !joins(look, node, &spread))
        return false;
    candidate->node = node;
    candidate->distinct = spread_distinct(&spread);
    candidate->largest_share = (double)spread_commonest(&spread) / (double)spread.count;
    return candidate->distinct >= CANDIDATE_VALUES_MIN &&
           candidate->largest_share * 100 <= CANDIDATE_PERCENT_MAX;
}

/* Few different values first: a key with many items serves queries and transactions, a key for each item neither. */
static size_t find_candidates(const struct look *look, struct candidate best[CANDIDATES])
{
    size_t count = 0;

    assert(look->type_count > 0);
    for (const struct node *node = look->type[0].root; node; node = node_after(node)) {
        struct candidate here;
        size_t place;

        if (!candidate_judge(look, node, &here))
            continue;
        place = count < CANDIDATES ? count++ : CANDIDATES;
        for (; place > 0 && best[place - 1].distinct > here.distinct; place--)
            if (place < CANDIDATES)
                best[place] = best[place - 1];
        if (place < CANDIDATES)
            best[place] = here;
    }
    return count;
}

static void write_candidates(struct op *op, struct finding_writer *writer, const struct look *look)
{
    struct candidate best[CANDIDATES];
    size_t count = look->type_count ? find_candidates(look, best) : 0;

    json_add_name(&writer->out, slice_of("candidates"));
    json_begin_array(&writer->out);
    for (size_t i = 0; i < count; i++) {
        struct buf path;

        buf_init(&path, &op->arena);
        node_print_path(&path, best[i].node);
        json_begin_object(&writer->out);
        finding_text(writer, "path", buf_as_slice(&path));
        finding_number(writer, "differentValuesAbout", best[i].distinct);
        finding_share(writer, "largestShareAtLeast", best[i].largest_share);
        json_end(&writer->out);
    }
    json_end(&writer->out);
}

static void write_keys(struct op *op, struct finding_writer *writer, const struct look *look)
{
    const struct key_share *largest = &look->largest_key[0];

    finding_number(writer, "items", look->items);
    finding_number(writer, "keys", look->keys);
    finding_share(writer, "largestShare", (double)largest->items / (double)look->items);
    finding_number(writer, "largestKeyItems", largest->items);
    finding_number(writer, "largestKeyBytes", look->largest_key_bytes);
    finding_ids(writer, "anItemOfTheLargestKey", &largest->id, 1);
    write_candidates(op, writer, look);
}

static bool is_skewed(const struct look *look)
{
    uint64_t largest = look->largest_key[0].items;

    return look->keys_counted && look->keys > 1 && look->items >= SKEW_ITEMS_MIN &&
           largest * 100 >= look->items * SKEW_PERCENT &&
           largest * look->keys >= look->items * SKEW_TIMES_MEAN;
}

enum status find_skewed_keys(struct op *op, const struct rule *rule, struct advice *advice)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < advice->look_count; i++) {
        const struct look *look = &advice->look[i];
        bool is_high = look->largest_key[0].items * 100 >= look->items * SKEW_HIGH_PERCENT;
        struct finding_writer writer;

        if (!is_skewed(look))
            continue;
        finding_begin(op, &writer, rule, is_high ? SEVERITY_HIGH : SEVERITY_MEDIUM,
                      (struct finding_place){ .look = look });
        write_keys(op, &writer, look);
        TRY(finding_end(op, advice, &writer, 0,
                        "One key has a large part of all items. All of them lie in one range, which bears "
                        "their reads and "
                        "writes alone, and a key has at most 20 GB on the service. Take a key whose values "
                        "are many and even, "
                        "or a hierarchical key that begins with this one."));
    }
out:
    return st;
}

enum status find_few_keys(struct op *op, const struct rule *rule, struct advice *advice)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < advice->look_count; i++) {
        const struct look *look = &advice->look[i];
        struct finding_writer writer;

        if (!look->keys_counted || look->keys >= FEW_KEYS || look->items < FEW_KEYS_ITEMS_MIN ||
            is_skewed(look))
            continue;
        finding_begin(op, &writer, rule, SEVERITY_MEDIUM, (struct finding_place){ .look = look });
        write_keys(op, &writer, look);
        TRY(finding_end(op, advice, &writer, 0,
                        "There are fewer keys than ranges that a growing container needs: its items cannot "
                        "be spread. Take a key "
                        "whose values are many and even."));
    }
out:
    return st;
}

/* ---- links ---- */

enum status find_dangling_references(struct op *op, const struct rule *rule, struct advice *advice)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < advice->links.reference_count; i++) {
        const struct reference *reference = &advice->links.reference[i];
        bool is_high = reference->missing * 10 >= reference->asked;
        struct finding_writer writer;

        if (reference->missing == 0)
            continue;
        finding_begin(op, &writer, rule, is_high ? SEVERITY_HIGH : SEVERITY_MEDIUM,
                      (struct finding_place){
                          .look = reference->from, .tree = reference->tree, .node = reference->node });
        finding_text(&writer, "refersTo", reference->to->container->link);
        finding_number(&writer, "valuesAsked", reference->asked);
        finding_number(&writer, "missing", reference->missing);
        finding_ids(&writer, "items", reference->from_id, reference->examples);
        TRY(finding_end(op, advice, &writer, 0,
                        "References are weak links: nothing keeps their target. Delete what refers to an "
                        "item together with it "
                        "(a stored procedure or a batch within one partition key, a transaction over "
                        "containers otherwise), or "
                        "let a pre-trigger refuse a reference to what is not there."));
    }
out:
    return st;
}

enum status find_drifted_copies(struct op *op, const struct rule *rule, struct advice *advice)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < advice->links.copy_count; i++) {
        const struct copied *copy = &advice->links.copy[i];
        struct finding_writer writer;

        if (copy->drifted == 0)
            continue;
        finding_begin(op, &writer, rule, SEVERITY_MEDIUM,
                      (struct finding_place){ .look = copy->from, .tree = copy->tree, .node = copy->node });
        finding_text(&writer, "copiesOf", copy->to->container->link);
        finding_number(&writer, "compared", copy->compared);
        finding_number(&writer, "drifted", copy->drifted);
        finding_ids(&writer, "members", copy->member, copy->member_count);
        finding_ids(&writer, "items", copy->from_id, copy->examples);
        TRY(finding_end(op, advice, &writer, 0,
                        "Copies that must be right are changed together with what they repeat: by a "
                        "transaction, or from the "
                        "change feed. What changes more often than its owner is better referenced than "
                        "copied. A copy of a "
                        "moment (the price when it was ordered) is named so that nobody takes it for the "
                        "present value."));
    }
out:
    return st;
}

/* ---- the table ---- */

const struct rule rules[] = {
    { "unbounded-array", "An array grows without bound", find_unbounded_arrays },
    { "large-item", "Items come near the largest size", find_large_items },
    { "skewed-key", "One partition key has a large part of the items", find_skewed_keys },
    { "few-keys", "The partition key has very few values", find_few_keys },
    { "dangling-reference", "References lead to items that are not there", find_dangling_references },
    { "drifted-copy", "Copies differ from what they repeat", find_drifted_copies },
    { "key-not-named", "Most queries do not name the partition key", find_unnamed_keys },
    { "fan-out", "A query asks every range for a few rows", find_fan_outs },
    { "hot-key", "One partition key gets a large part of the requests", find_hot_keys },
    { "repeated-count", "The same count is computed again and again", find_repeated_counts },
    { "busy-part", "A part of large items changes more often than the rest", find_busy_parts },
    { "read-together", "Few items that are read with their owner are kept apart", find_read_together },
    { "missing-composite", "A filter and an order have no index together", find_missing_composites },
    { "unasked-paths", "Most of what is indexed is never asked for", find_unasked_paths },
    { "ttl-by-hand", "Old items are searched for and deleted one by one", find_ttl_by_hand },
    { "unique-by-hand", "Uniqueness is looked for, and not declared", find_unique_by_hand },
    { "two-containers", "An owner and its list are read together from two containers", find_two_containers },
    { "large-tenant", "One tenant outgrows the others of its container", find_large_tenants },
    { "no-resolver", "Every container is asked for what one of them has", find_no_resolvers },
    { "names-as-data", "Names of members are values", find_names_as_data },
    { "mixed-types", "A member has several types", find_mixed_types },
    { "mixed-dates", "Dates are written in several ways", find_mixed_dates },
    { "dead-member", "A member never has a value", find_dead_members },
};
const size_t rule_count = sizeof(rules) / sizeof(rules[0]);

enum status rules_apply(struct op *op, struct advice *advice)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < rule_count; i++)
        TRY(rules[i].find(op, &rules[i], advice));
out:
    return st;
}
