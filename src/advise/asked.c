/* src/advise/asked.c - looks figures up in the record of the workload. */
#include "advise/asked.h"
#include "keys/rid.h"

static struct slice print_rid(struct op *op, const struct rid *rid)
{
    struct buf text;

    buf_init(&text, &op->arena);
    rid_print(&text, rid);
    return buf_as_slice(&text);
}

struct asked asked_of(const struct advice *advice, const struct look *look)
{
    for (struct json_iter i = json_iter(json_get(advice->workload, "containers")); json_next(&i);)
        if (slice_equal(asked_text(i.value, "container"), look->container->link))
            return (struct asked){ look, i.value };
    return (struct asked){ look, json_undefined };
}

enum status asked_each(struct op *op, const struct rule *rule, struct advice *advice, asked_rule *find)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < advice->look_count; i++) {
        struct asked asked = asked_of(advice, &advice->look[i]);

        if (json_kind(asked.record) == JSON_OBJECT)
            TRY(find(op, rule, advice, &asked));
    }
out:
    return st;
}

const struct look *asked_look(struct op *op, const struct advice *advice, struct slice rid)
{
    for (size_t i = 0; i < advice->look_count; i++)
        if (slice_equal(print_rid(op, &advice->look[i].container->rid), rid))
            return &advice->look[i];
    return NULL;
}

uint64_t asked_number(struct json object, const char *name)
{
    struct json value = json_get(object, name);

    return json_kind(value) == JSON_NUMBER && json_double(value) > 0 ? (uint64_t)json_double(value) : 0;
}

double asked_charge(struct json object)
{
    struct json value = json_get(object, "charge");

    return json_kind(value) == JSON_NUMBER ? json_double(value) : 0;
}

struct slice asked_text(struct json object, const char *name)
{
    struct json value = json_get(object, name);

    return json_kind(value) == JSON_STRING ? json_string(value) : slice_of("");
}

bool asked_is(struct json object, const char *name)
{
    return json_kind(json_get(object, name)) == JSON_TRUE;
}

static struct json operation(const struct asked *asked, const char *name)
{
    return json_get(json_get(asked->record, "operations"), name);
}

uint64_t asked_count(const struct asked *asked, const char *name)
{
    return asked_number(operation(asked, name), "count") - asked_number(operation(asked, name), "failed");
}

double asked_cost(const struct asked *asked, const char *name)
{
    return asked_charge(operation(asked, name));
}

uint64_t asked_writes(const struct asked *asked)
{
    return asked_count(asked, "create") + asked_count(asked, "upsert") + asked_count(asked, "replace") +
           asked_count(asked, "patch");
}

double asked_cost_of_all(const struct asked *asked)
{
    double cost = 0;

    for (struct json_iter i = json_iter(json_get(asked->record, "operations")); json_next(&i);)
        cost += asked_charge(i.value);
    return cost;
}

struct json asked_queries(const struct asked *asked)
{
    return json_get(asked->record, "queries");
}

static uint64_t sum(const struct asked *asked, const char *name)
{
    uint64_t total = 0;

    for (struct json_iter i = json_iter(asked_queries(asked)); json_next(&i);)
        total += asked_number(i.value, name);
    return total;
}

uint64_t asked_executed(const struct asked *asked)
{
    return sum(asked, "executed");
}

uint64_t asked_single(const struct asked *asked)
{
    return sum(asked, "singlePartition");
}

static bool has_use(struct json path, const char *use)
{
    for (struct json_iter i = json_iter(json_get(path, "use")); json_next(&i);)
        if (json_kind(i.value) == JSON_STRING && slice_is(json_string(i.value), use))
            return true;
    return false;
}

bool asked_uses(struct json query, struct slice path, const char *use)
{
    for (struct json_iter i = json_iter(json_get(query, "paths")); json_next(&i);)
        if (slice_equal(asked_text(i.value, "path"), path))
            return has_use(i.value, use);
    return false;
}

struct slice asked_path(struct json query, const char *use, size_t *at)
{
    struct json paths = json_get(query, "paths");

    while (*at < json_count(paths)) {
        struct json path = json_element(paths, (*at)++);

        if (has_use(path, use))
            return asked_text(path, "path");
    }
    return (struct slice){ 0 };
}

static const struct node *elements_of(const struct node *node)
{
    const struct node *child = node->child;

    while (child && !child->of_array)
        child = child->next;
    return child;
}

/* The node at /a/[]/b below this one. */
static const struct node *node_at(const struct node *node, struct slice path)
{
    while (node && path.size) {
        const char *end;
        struct slice name = slice_after(path, 1);

        end = memchr(name.data, '/', name.size);
        if (end)
            name.size = (size_t)(end - name.data);
        path = slice_after(path, 1 + name.size);
        node = slice_is(name, "[]") ? elements_of(node) : node_child(node, name);
    }
    return node;
}

const struct node *asked_node(const struct look *look, struct slice path, const struct tree **tree)
{
    const struct node *best = NULL;

    for (size_t i = 0; i < look->type_count; i++) {
        const struct node *node = node_at(look->type[i].root, path);

        if (!node || (best && best->items >= node->items))
            continue;
        best = node;
        *tree = &look->type[i];
    }
    return best;
}
