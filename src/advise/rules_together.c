/*
 * src/advise/rules_together.c - the rules about what is asked for after its owner was read: a few items, which could be parts of it, and
 * many, which could lie in its container.
 */
#include "advise/asked.h"
#include "advise/belonging.h"
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

/* An owner is named by its id and its partition key: where parts lack a value of the key, they name none. No data: they do. */
static struct slice why_unnamed(struct op *op, const struct belonging *belonging)
{
    const struct container *owners = belonging->owners->container;
    struct buf why;

    for (size_t i = 0; i < owners->key_path_count; i++) {
        if (belonging->key[i])
            continue;
        buf_init(&why, &op->arena);
        buf_text(&why, "These items do not name their owners: they have no path whose values are those at ");
        buf_slice(&why, key_path_text(op, owners, i));
        buf_text(&why, ", in the partition key of the owners.");
        return buf_as_slice(&why);
    }
    return (struct slice){ 0 };
}

/* The list would be a member of its owner that has the list's name. No data: it can be. */
static struct slice why_no_member(const struct look *owners, const struct look *list, struct slice member)
{
    const struct tree *tree;

    if (owners == list)
        return slice_of(
            "Owners and these items lie in one container: a plan has to say which items are owners.");
    if (memchr(member.data, '[', member.size))
        return slice_of("The name of the container cannot be the path of a member.");
    if (asked_node(owners, member, &tree))
        return slice_of("Owners have a member with the name of the container.");
    return (struct slice){ 0 };
}

/* {"/id":"/personId","/house":"/home"} */
static void print_on(struct op *op, struct buf *out, const struct together *together,
                     const struct belonging *belonging)
{
    const struct container *owners = belonging->owners->container;

    buf_text(out, "{\"/id\":");
    json_print_string(out, together->path);
    for (size_t i = 0; i < owners->key_path_count; i++) {
        struct buf path;

        if (belonging->key[i] == belonging->id)
            continue;
        buf_init(&path, &op->arena);
        node_print_path(&path, belonging->key[i]);
        buf_byte(out, ',');
        json_print_string(out, key_path_text(op, owners, i));
        buf_byte(out, ':');
        json_print_string(out, buf_as_slice(&path));
    }
    buf_byte(out, '}');
}

static enum status write_embedding(struct op *op, struct finding_writer *writer,
                                   const struct together *together, const struct belonging *belonging,
                                   struct slice member)
{
    struct buf plan;

    buf_init(&plan, &op->arena);
    buf_text(&plan, "\"embed\":[{\"from\":");
    json_print_string(&plan, together->list->look->container->id);
    buf_text(&plan, ",\"on\":");
    print_on(op, &plan, together, belonging);
    buf_text(&plan, ",\"as\":");
    json_print_string(&plan, member);
    buf_text(&plan, ",\"queries\":{");
    json_print_string(&plan, asked_text(together->query, "query"));
    buf_text(&plan, ":null}}]");
    return finding_plan(op, writer, together->owners.look->container, buf_as_slice(&plan));
}

/* A plan that embeds the list, or why there is none. */
static enum status plan_embedding(struct op *op, struct finding_writer *writer,
                                  const struct together *together)
{
    struct belonging belonging = { .owners = together->owners.look, .parts = together->list->look };
    struct slice why;
    struct buf member;
    enum status st = ST_OK;

    buf_init(&member, &op->arena);
    buf_byte(&member, '/');
    buf_slice(&member, belonging.parts->container->id);
    why = why_no_member(belonging.owners, belonging.parts, buf_as_slice(&member));
    if (!why.data) {
        belonging.id = asked_node(belonging.parts, together->path, &belonging.tree);
        TRY(belonging_find(op, &belonging));
        why = why_unnamed(op, &belonging);
    }
    if (why.data)
        finding_text(writer, "noPlan", why);
    else
        TRY(write_embedding(op, writer, together, &belonging, buf_as_slice(&member)));
out:
    return st;
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
