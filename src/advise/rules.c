/* src/advise/rules.c - the rules about members: each looks at the nodes of every type of items. */
#include "advise/asked.h"
#include "advise/finding.h"
#include "advise/rules_private.h"
#include "base/limits.h"

/*
 * An array is called unbounded when it is long, and much longer in some items than in most: what grows with time has such
 * a tail, what is small by nature has not.
 */
enum { ARRAY_LONG = 100, ARRAY_VERY_LONG = 1000, ARRAY_TIMES_MEDIAN = 4, ARRAY_BYTES_HIGH = 100 * 1024 };

/* Fewer than this are accidents of one item. */
enum { VALUES_MIN = 3, DEAD_VALUES_MIN = 50, NAMES_MIN = 64 };

/* ---- every node ---- */

typedef enum status node_rule(struct op *op, const struct rule *rule, struct advice *advice,
                              struct finding_place place);

static enum status for_each_node(struct op *op, const struct rule *rule, struct advice *advice,
                                 node_rule *find)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < advice->look_count; i++)
        for (size_t k = 0; k < advice->look[i].type_count; k++) {
            const struct tree *tree = &advice->look[i].type[k];

            for (const struct node *node = tree->root; node; node = node_after(node))
                TRY(find(op, rule, advice,
                         (struct finding_place){ .look = &advice->look[i], .tree = tree, .node = node }));
        }
out:
    return st;
}

/* Coordinates of GeoJSON: long by nature, and of several shapes. */
static bool is_geometry(const struct node *node)
{
    for (; node; node = node->parent)
        if (slice_is(node->name, "coordinates"))
            return true;
    return false;
}

/* A hundredth of the values, and not only by accident. */
static bool is_many(uint64_t some, uint64_t all)
{
    return some >= VALUES_MIN && some * 100 >= all;
}

/* ---- arrays that grow ---- */

static bool grows(const struct lengths *lengths)
{
    uint64_t median = lengths_at(lengths, 0.5);

    if (lengths->count == 0 || lengths->most < ARRAY_LONG || lengths->least == lengths->most)
        return false;
    return lengths->most >= ARRAY_VERY_LONG || lengths->most >= median * ARRAY_TIMES_MEDIAN;
}

enum { APPENDED_MIN = 50 };

/* Writes that made it longer or shorter: however even arrays are, such a one grows. */
static uint64_t times_resized(struct op *op, const struct advice *advice, const struct finding_place *place)
{
    struct asked asked = asked_of(advice, place->look);
    struct buf path;

    buf_init(&path, &op->arena);
    node_print_path(&path, place->node);
    for (struct json_iter i = json_iter(json_get(asked.record, "paths")); json_next(&i);)
        if (slice_equal(asked_text(i.value, "path"), buf_as_slice(&path)))
            return asked_number(i.value, "changed");
    return 0;
}

static void write_longest(struct finding_writer *writer, const struct node *node)
{
    struct json_builder *out = &writer->out;

    json_add_name(out, slice_of("longest"));
    json_begin_array(out);
    for (size_t i = 0; i < NODE_LONGEST && node->longest[i].length; i++) {
        json_begin_object(out);
        finding_text(writer, "id", node->longest[i].id);
        finding_number(writer, "length", node->longest[i].length);
        finding_number(writer, "bytes", node->longest[i].bytes);
        finding_number(writer, "itemBytes", node->longest[i].item_bytes);
        json_end(out);
    }
    json_end(out);
}

static enum status unbounded_array_at(struct op *op, const struct rule *rule, struct advice *advice,
                                      struct finding_place place)
{
    const struct node *node = place.node;
    const struct long_array *longest = &node->longest[0];
    bool is_high = longest->length >= ARRAY_VERY_LONG || longest->bytes >= ARRAY_BYTES_HIGH;
    uint64_t resized = node->lengths.most >= ARRAY_LONG ? times_resized(op, advice, &place) : 0;
    struct finding_writer writer;

    if ((!grows(&node->lengths) && resized < APPENDED_MIN) || is_geometry(node))
        return ST_OK;
    finding_begin(op, &writer, rule, is_high ? SEVERITY_HIGH : SEVERITY_MEDIUM, place);
    finding_number(&writer, "items", node->items);
    if (resized)
        finding_number(&writer, "writesThatChangedIt", resized);
    finding_number(&writer, "medianLengthAtMost", lengths_at(&node->lengths, 0.5));
    finding_share(&writer, "shareOfBytes", (double)node->bytes / (double)place.tree->bytes);
    write_longest(&writer, node);
    return finding_end(
        op, advice, &writer, longest->item_bytes,
        "Make each element an item of its own with the owner's id and the owner's partition key, or buckets "
        "of a fixed number of elements. What grows then is the number of items, and one more is one small "
        "write. Keep the newest few elements in the owner if they are shown with it.");
}

enum status find_unbounded_arrays(struct op *op, const struct rule *rule, struct advice *advice)
{
    return for_each_node(op, rule, advice, unbounded_array_at);
}

/* ---- names that are data ---- */

static enum status names_at(struct op *op, const struct rule *rule, struct advice *advice,
                            struct finding_place place)
{
    const struct node *node = place.node;
    uint64_t objects = node->kind[JSON_OBJECT], members = node->unnamed;
    struct finding_writer writer;

    for (const struct node *child = node->child; child; child = child->next)
        members += child->of_array ? 0 : node_values(child);
    if (objects < VALUES_MIN || node->child_count < NAMES_MIN || members * 5 > objects * node->child_count)
        return ST_OK;
    finding_begin(op, &writer, rule, SEVERITY_MEDIUM, place);
    finding_number(&writer, "objects", objects);
    finding_number(&writer, "differentNamesAtLeast", node->child_count);
    finding_share(&writer, "membersOfAnObject", (double)members / (double)objects);
    return finding_end(
        op, advice, &writer, 0,
        "Names that differ from item to item are values. Write an array of objects, {\"key\": ..., "
        "\"value\": "
        "...}, so that queries can ask for them and the index has two paths instead of one for each name; "
        "or make each an item.");
}

enum status find_names_as_data(struct op *op, const struct rule *rule, struct advice *advice)
{
    return for_each_node(op, rule, advice, names_at);
}

/* ---- several types at one path ---- */

static const struct {
    enum json_kind kind;
    const char *name;
} kinds[] = { { JSON_TRUE, "boolean" },
              { JSON_NUMBER, "number" },
              { JSON_STRING, "string" },
              { JSON_ARRAY, "array" },
              { JSON_OBJECT, "object" } };
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static enum status mixed_at(struct op *op, const struct rule *rule, struct advice *advice,
                            struct finding_place place)
{
    const struct node *node = place.node;
    struct finding_writer writer;
    size_t different = 0;

    for (size_t i = 0; i < KINDS; i++)
        different += is_many(node->kind[kinds[i].kind], node_values(node));
    if (different < 2 || is_geometry(node))
        return ST_OK;
    finding_begin(op, &writer, rule, SEVERITY_MEDIUM, place);
    for (size_t i = 0; i < KINDS; i++)
        if (node->kind[kinds[i].kind])
            finding_number(&writer, kinds[i].name, node->kind[kinds[i].kind]);
    return finding_end(op, advice, &writer, 0,
                       "A filter on one type passes over the others in silence, and ORDER BY puts them "
                       "apart. Write one type; "
                       "if the items are of different kinds, tell them apart by a member such as \"type\".");
}

enum status find_mixed_types(struct op *op, const struct rule *rule, struct advice *advice)
{
    return for_each_node(op, rule, advice, mixed_at);
}

/* ---- dates ---- */

static enum status dates_at(struct op *op, const struct rule *rule, struct advice *advice,
                            struct finding_place place)
{
    const struct node *node = place.node;
    struct finding_writer writer;
    size_t different = 0;

    for (size_t i = FORM_PLAIN + 1; i < FORM_COUNT; i++)
        different += is_many(node->form[i], node->kind[JSON_STRING]);
    if (different < 2)
        return ST_OK;
    finding_begin(op, &writer, rule, SEVERITY_MEDIUM, place);
    for (size_t i = FORM_PLAIN + 1; i < FORM_COUNT; i++)
        if (node->form[i])
            finding_number(&writer, text_form_names[i], node->form[i]);
    return finding_end(op, advice, &writer, 0,
                       "Texts are compared as texts: ranges and ORDER BY over several ways of writing a date "
                       "give wrong rows. "
                       "Write all of them in UTC, as 2026-11-16T12:00:00.0000000Z, or as numbers.");
}

enum status find_mixed_dates(struct op *op, const struct rule *rule, struct advice *advice)
{
    return for_each_node(op, rule, advice, dates_at);
}

/* ---- members without a value ---- */

static enum status dead_at(struct op *op, const struct rule *rule, struct advice *advice,
                           struct finding_place place)
{
    const struct node *node = place.node;
    uint64_t values = node_values(node);
    struct finding_writer writer;

    if (!node->parent || node->of_array || values < DEAD_VALUES_MIN || node->empty != values ||
        node->items * 2 < place.tree->items)
        return ST_OK;
    finding_begin(op, &writer, rule, SEVERITY_LOW, place);
    finding_number(&writer, "items", node->items);
    finding_number(&writer, "bytes", node->bytes + values * (node->name.size + 1));
    return finding_end(op, advice, &writer, 0,
                       "The member is in most items and never has a value. Leave it out: an absent member "
                       "takes no room and no "
                       "index entry, and IS_DEFINED() asks for it.");
}

enum status find_dead_members(struct op *op, const struct rule *rule, struct advice *advice)
{
    return for_each_node(op, rule, advice, dead_at);
}
