/*
 * src/advise/rules_together.c - the rules about what is asked for after its owner was read: a few items, which could be parts of it, and
 * many, which could lie in its container.
 */
#include "advise/asked.h"
#include "advise/finding.h"
#include "advise/rules_private.h"

/* Fewer reads are no habit. What nearly always follows them is read together. */
enum { READS_MIN = 50, TOGETHER_PERCENT = 80 };

/* Lists of more rows are too long to be parts of their owner. */
enum { FEW_ROWS_MAX = 10, FEW_BYTES_MAX = 64 * 1024 };

/* ---- queries after reads ---- */

/* A query that follows nearly every read of an owner. */
struct together {
    const struct asked *list; /* the container that is asked */
    struct asked owners;      /* the one that is read */
    struct json query;
    struct slice path; /* of the list's items: there the owner's id is */
    uint64_t reads, followed;
    uint64_t executed, rows, bytes; /* of the query */
};

typedef enum status together_rule(struct op *op, const struct rule *rule, struct advice *advice,
                                  const struct together *together);

static bool is_together(struct op *op, const struct advice *advice, const struct asked *list,
                        struct json query, struct together *together)
{
    struct json after = json_get(query, "afterReads");
    const struct look *owner = asked_look(op, advice, asked_text(after, "rid"));

    if (!owner || asked_is(query, "aggregates"))
        return false;
    *together = (struct together){ .list = list,
                                   .owners = asked_of(advice, owner),
                                   .query = query,
                                   .path = asked_text(after, "path"),
                                   .followed = asked_number(after, "count"),
                                   .executed = asked_number(query, "executed"),
                                   .rows = asked_number(query, "rows"),
                                   .bytes = asked_number(query, "bytes") };
    together->reads = asked_number(together->owners.record, "readsById");
    return together->reads >= READS_MIN &&
           together->followed * 100 >= together->executed * TOGETHER_PERCENT &&
           together->followed * 100 >= together->reads * TOGETHER_PERCENT;
}

static enum status together_each(struct op *op, const struct rule *rule, struct advice *advice,
                                 together_rule *find)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < advice->look_count; i++) {
        struct asked list = asked_of(advice, &advice->look[i]);
        struct together together;

        for (struct json_iter query = json_iter(asked_queries(&list)); json_next(&query);)
            if (is_together(op, advice, &list, query.value, &together))
                TRY(find(op, rule, advice, &together));
    }
out:
    return st;
}

static double charge_of_read(const struct together *together)
{
    return asked_cost(&together->owners, "read") / (double)asked_count(&together->owners, "read");
}

static double charge_of_query(const struct together *together)
{
    return asked_charge(together->query) / (double)together->executed;
}

/* The evidence of each of these rules. */
static void begin_together(struct op *op, struct finding_writer *writer, const struct rule *rule,
                           enum severity severity, const struct together *together)
{
    finding_begin(op, writer, rule, severity,
                  (struct finding_place){ .look = together->list->look, .path = together->path });
    finding_text(writer, "owners", together->owners.look->container->link);
    finding_number(writer, "readsOfOwners", together->reads);
    finding_number(writer, "followedByTheQuery", together->followed);
    finding_text(writer, "query", asked_text(together->query, "query"));
    finding_units(writer, "rowsEach", (double)together->rows / (double)together->executed);
    finding_units(writer, "requestUnitsToday", charge_of_read(together) + charge_of_query(together));
}

/* ---- few: they could be parts of their owner ---- */

/* No owner has many: what is few on the average may be many for some. */
static bool are_few(const struct together *together)
{
    const struct tree *tree;
    const struct node *node = asked_node(together->list->look, together->path, &tree);

    return together->rows > 0 && together->rows <= FEW_ROWS_MAX * together->executed &&
           together->bytes <= FEW_BYTES_MAX * together->executed && node && node->spread &&
           spread_commonest(node->spread) <= 2 * FEW_ROWS_MAX;
}

static bool is_found_by_id(const struct container *container)
{
    return container->key_path_count == 1 && container->key_path[0].count == 1 &&
           slice_is(container->key_path[0].segment[0], "id");
}

/* The list becomes a member of its owner, which has none of that name. Where its key is another one than its id, nobody has named it. */
static enum status plan_embedding(struct op *op, struct finding_writer *writer,
                                  const struct together *together)
{
    const struct look *owner = together->owners.look, *list = together->list->look;
    struct slice from = list->container->id;
    const struct tree *tree;
    struct buf path, plan;

    buf_init(&path, &op->arena);
    buf_byte(&path, '/');
    buf_slice(&path, from);
    if (owner == list || owner->container->database != list->container->database ||
        !is_found_by_id(owner->container) || memchr(from.data, '[', from.size) ||
        asked_node(owner, buf_as_slice(&path), &tree))
        return ST_OK;
    buf_init(&plan, &op->arena);
    buf_text(&plan, "\"embed\":[{\"from\":");
    json_print_string(&plan, from);
    buf_text(&plan, ",\"on\":{\"/id\":");
    json_print_string(&plan, together->path);
    buf_text(&plan, "},\"as\":");
    json_print_string(&plan, buf_as_slice(&path));
    buf_text(&plan, ",\"queries\":{");
    json_print_string(&plan, asked_text(together->query, "query"));
    buf_text(&plan, ":null}}]");
    return finding_plan(op, writer, owner->container, buf_as_slice(&plan));
}

static enum status read_together_of(struct op *op, const struct rule *rule, struct advice *advice,
                                    const struct together *together)
{
    struct finding_writer writer;
    enum status st;

    if (!are_few(together) || asked_writes(together->list) > together->executed)
        return ST_OK;
    begin_together(op, &writer, rule, SEVERITY_MEDIUM, together);
    finding_units(&writer, "requestUnitsEmbedded", charge_of_read(together));
    TRY(plan_embedding(op, &writer, together));
    TRY(finding_end(op, advice, &writer, 0,
                    "What belongs to one item, is few, and is read with it each time is best a part of it: "
                    "an array in the owner. One point read then gives all of it, as of one moment."));
out:
    return st;
}

enum status find_read_together(struct op *op, const struct rule *rule, struct advice *advice)
{
    return together_each(op, rule, advice, read_together_of);
}

/* ---- many: they could lie in one container with their owner ---- */

/* Owners are found by their ids, and lists by the ids of their owners: both could have that key in one container. */
static bool could_share_key(struct op *op, const struct together *together)
{
    const struct look *owner = together->owners.look, *list = together->list->look;

    return owner != list && owner->container->database == list->container->database &&
           owner->container->key_path_count == 1 && list->container->key_path_count == 1 &&
           slice_is(key_path_text(op, owner->container, 0), "/id") &&
           slice_equal(key_path_text(op, list->container, 0), together->path) &&
           owner->container->default_ttl == list->container->default_ttl;
}

static enum status two_containers_of(struct op *op, const struct rule *rule, struct advice *advice,
                                     const struct together *together)
{
    struct finding_writer writer;

    if (together->rows <= FEW_ROWS_MAX * together->executed || !could_share_key(op, together))
        return ST_OK;
    begin_together(op, &writer, rule, SEVERITY_LOW, together);
    finding_units(&writer, "requestUnitsInOneContainer", charge_of_query(together));
    return finding_end(
        op, advice, &writer, 0,
        "Items of both kinds can lie in one container, under the key of the list, told apart by a member "
        "such as \"type\". One query then gives the owner and its list, a batch or a stored procedure "
        "changes both, and the two share one throughput.");
}

enum status find_two_containers(struct op *op, const struct rule *rule, struct advice *advice)
{
    return together_each(op, rule, advice, two_containers_of);
}
