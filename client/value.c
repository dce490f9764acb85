/*
 * client/value.c - reading JSON: one array of nodes in the order of the text, each container followed by its children.
 * Strings lie beside them with a NUL behind each, as C wants them. Once parsed, nothing allocates.
 */
#include <assert.h>
#include <stdlib.h>

#include "client.h"

struct node {
    struct json value;
    const struct node *end; /* behind its last child */
    const char *name, *text;
    size_t text_bytes, count;
    const struct node *
        *element; /* of an array: so that a loop over indices is one walk, and not one for each */
};

struct orrery_json {
    struct arena arena;
    const struct node *root;
};

struct sizes {
    size_t nodes, elements, bytes;
};

struct filler {
    struct node *node;
    const struct node **element;
    char *text;
};

orrery_status parse_json(struct arena *arena, struct slice text, struct json *value)
{
    struct op op = { .arena = *arena };
    enum status st = json_parse(&op, text, value);

    *arena = op.arena;
    if (st == ST_TOO_LARGE)
        return ORRERY_ENOMEM;
    return st == ST_OK ? ORRERY_OK : ORRERY_EJSON;
}

static void measure(struct json value, struct sizes *sizes)
{
    sizes->nodes++;
    if (json_kind(value) == JSON_STRING)
        sizes->bytes += json_string(value).size + 1;
    if (json_kind(value) == JSON_ARRAY)
        sizes->elements += json_count(value);
    for (struct json_iter i = json_iter(value); json_next(&i);) {
        if (i.is_object)
            sizes->bytes += i.name.size + 1;
        measure(i.value, sizes);
    }
}

static const char *fill_text(struct filler *filler, struct slice text)
{
    char *start = filler->text;

    memcpy(start, text.data, text.size);
    start[text.size] = '\0';
    filler->text += text.size + 1;
    return start;
}

static void fill(struct filler *filler, struct json value, const char *name)
{
    struct node *node = filler->node++;

    *node = (struct node){ .value = value, .name = name };
    if (json_kind(value) == JSON_STRING) {
        node->text_bytes = json_string(value).size;
        node->text = fill_text(filler, json_string(value));
    }
    if (json_kind(value) == JSON_ARRAY) {
        node->element = filler->element;
        filler->element += json_count(value);
    }
    for (struct json_iter i = json_iter(value); json_next(&i); node->count++) {
        if (node->element)
            node->element[node->count] = filler->node;
        fill(filler, i.value, i.is_object ? fill_text(filler, i.name) : NULL);
    }
    node->end = filler->node;
}

static bool make_nodes(orrery_json *json, struct json root)
{
    struct sizes sizes = { 0 };
    struct filler filler;

    measure(root, &sizes);
    filler.node = memory_list(&json->arena, sizes.nodes, sizeof(struct node));
    filler.element = memory_list(&json->arena, sizes.elements, sizeof(*filler.element));
    filler.text = arena_try_alloc(&json->arena, sizes.bytes + 1);
    if (!filler.node || !filler.element || !filler.text)
        return false;
    json->root = filler.node;
    fill(&filler, root, NULL);
    assert(filler.node == json->root + sizes.nodes); /* as many as were measured */
    return true;
}

orrery_status orrery_json_parse(const char *text, size_t size, orrery_json **json)
{
    orrery_json *made;
    struct json root;
    orrery_status status;

    if (!json)
        return ORRERY_EINVAL;
    *json = NULL;
    if (!text)
        return ORRERY_EINVAL;
    made = allocator_zeroed(1, sizeof(*made));
    if (!made)
        return ORRERY_ENOMEM;
    arena_init(&made->arena, SIZE_MAX);
    status = parse_json(&made->arena, size_of(text, size), &root);
    if (status == ORRERY_OK && !make_nodes(made, root))
        status = ORRERY_ENOMEM;
    if (status == ORRERY_OK)
        *json = made;
    else
        orrery_json_free(made);
    return status;
}

void orrery_json_free(orrery_json *json)
{
    if (!json)
        return;
    arena_free(&json->arena);
    allocator_free(json);
}

static const struct node *node_of(orrery_value value)
{
    static const struct node undefined = { .end = &undefined + 1 };

    return value.at ? value.at : &undefined;
}

orrery_value orrery_json_root(const orrery_json *json)
{
    return (orrery_value){ json ? json->root : NULL };
}

orrery_type orrery_value_type(orrery_value value)
{
    return (orrery_type)json_kind(node_of(value)->value);
}

double orrery_value_number(orrery_value value)
{
    return orrery_value_type(value) == ORRERY_NUMBER ? json_double(node_of(value)->value) : 0;
}

int64_t orrery_value_int(orrery_value value)
{
    double number = orrery_value_number(value);

    if (orrery_value_type(value) == ORRERY_NUMBER && json_is_int(node_of(value)->value))
        return json_int(node_of(value)->value);
    if (number >= 9223372036854775808.0)
        return INT64_MAX;
    return number <= -9223372036854775808.0 ? INT64_MIN : (int64_t)number;
}

int orrery_value_bool(orrery_value value)
{
    return orrery_value_type(value) == ORRERY_TRUE;
}

const char *orrery_value_text(orrery_value value, size_t *size)
{
    const struct node *node = node_of(value);

    if (size)
        *size = node->text_bytes;
    return node->text ? node->text : "";
}

int orrery_value_equals(orrery_value value, const char *text)
{
    const struct node *node = node_of(value);

    return text && node->text && slice_is(slice_make(node->text, node->text_bytes), text);
}

size_t orrery_value_count(orrery_value value)
{
    return node_of(value)->count;
}

int orrery_value_next(orrery_value container, size_t *at, const char **name, orrery_value *value)
{
    const struct node *parent = node_of(container), *child = parent + (*at ? *at : 1);

    if (!container.at || child >= parent->end)
        return 0;
    if (name)
        *name = child->name;
    *value = (orrery_value){ child };
    *at = (size_t)(child->end - parent);
    return 1;
}

orrery_value orrery_value_member(orrery_value object, const char *name)
{
    const char *other;
    orrery_value value;

    for (size_t at = 0; name && orrery_value_next(object, &at, &other, &value);)
        if (other && strcmp(other, name) == 0)
            return value;
    return (orrery_value){ NULL };
}

orrery_value orrery_value_element(orrery_value array, size_t index)
{
    const struct node *node = node_of(array);

    return (orrery_value){ node->element && index < node->count ? node->element[index] : NULL };
}

orrery_status orrery_value_print(orrery_value value, char **text, size_t *size)
{
    struct arena arena;
    struct buf out;

    if (text)
        *text = NULL;
    if (!text || !value.at)
        return ORRERY_EINVAL;
    arena_init(&arena, SIZE_MAX);
    buf_init(&out, &arena);
    json_print(&out, node_of(value)->value);
    *text = out.failed ? NULL : memory_text(buf_as_slice(&out));
    if (size)
        *size = out.size;
    arena_free(&arena);
    return *text ? ORRERY_OK : ORRERY_ENOMEM;
}

/* For the writer. */
struct json value_json(orrery_value value)
{
    return node_of(value)->value;
}
