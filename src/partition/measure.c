/*
 * src/partition/measure.c - the longest array of a document, without looking at most of it.
 * An element takes at least a byte. So an array or object that has no more bytes than the longest array has elements
 * cannot hold a longer one, and is passed over whole.
 */
#include <assert.h>

#include "base/limits.h"
#include "base/log.h"
#include "partition/measure.h"

enum { LOG_TEXT_BYTES = 200 };

/* The path of a walk. A name that has no room becomes dots, and names below it are left out. */
struct trail {
    char text[SHAPE_PATH_BYTES];
    size_t size;
    bool cut;
};

static const char DOTS[] = "/...";

static void trail_add(struct trail *trail, struct slice name)
{
    if (trail->cut)
        return;
    trail->cut = trail->size + 1 + name.size + sizeof(DOTS) > sizeof(trail->text);
    if (trail->cut)
        name = slice_of(DOTS + 1);
    assert(trail->size + 1 + name.size < sizeof(trail->text)); /* dots had room after every name before */
    trail->text[trail->size++] = '/';
    memcpy(trail->text + trail->size, name.data, name.size);
    trail->size += name.size;
}

struct walk {
    uint64_t longest;
    struct trail found;
};

static bool may_hold_longer(struct json value, uint64_t longest)
{
    enum json_kind kind = json_kind(value);

    return (kind == JSON_ARRAY || kind == JSON_OBJECT) && json_size(value) > longest;
}

/* Most documents need only this: the path is looked for when there is a longer array than before. */
static uint64_t longest_in(struct json value, uint64_t longest)
{
    if (json_kind(value) == JSON_ARRAY && json_count(value) > longest)
        longest = json_count(value);
    for (struct json_iter i = json_iter(value); json_next(&i);)
        if (may_hold_longer(i.value, longest))
            longest = longest_in(i.value, longest);
    return longest;
}

/* As deep as JSON_DEPTH_MAX at most. */
static void visit(struct walk *walk, struct json value, const struct trail *trail)
{
    bool is_array = json_kind(value) == JSON_ARRAY;

    if (is_array && json_count(value) > walk->longest) {
        walk->longest = json_count(value);
        walk->found = *trail;
    }
    for (struct json_iter i = json_iter(value); json_next(&i);) {
        struct trail below;

        if (!may_hold_longer(i.value, walk->longest))
            continue;
        below = *trail;
        trail_add(&below, is_array ? slice_of("[]") : i.name);
        visit(walk, i.value, &below);
    }
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct slice id_of(struct op *op, struct json document)
{
    struct slice id = json_string(json_get(document, "id"));

    return arena_copy(&op->arena, slice_make(id.data, id.size < LOG_TEXT_BYTES ? id.size : LOG_TEXT_BYTES));
}

void measure_document(struct op *op, struct measure *measure, const struct container *container,
                      struct json document)
{
    uint64_t bytes = json_size(document), known;
    struct walk walk;

    known = atomic_load_explicit(&container->shape->item_bytes, memory_order_relaxed);
    if (bytes > larger(known, measure->item_bytes)) {
        measure->item_bytes = bytes;
        measure->item_id = id_of(op, document);
    }
    known = atomic_load_explicit(&container->shape->array_count, memory_order_relaxed);
    walk.longest = larger(known, measure->array_count);
    known = walk.longest;
    if (!may_hold_longer(document, known) || longest_in(document, known) == known)
        return;
    walk.found.size = 0;
    visit(&walk, document, &(struct trail){ 0 });
    assert(walk.longest > known); /* longest_in() has seen it */
    measure->array_count = walk.longest;
    measure->array_id = id_of(op, document);
    walk.found.text[walk.found.size] = '\0';
    memcpy(measure->path, walk.found.text, walk.found.size + 1);
}

/* A client chose the text, so it goes into the log without line ends and cut to LOG_TEXT_BYTES. */
static const char *log_text(struct op *op, struct slice text)
{
    struct buf out;

    if (text.size > LOG_TEXT_BYTES)
        text.size = LOG_TEXT_BYTES;
    buf_init(&out, &op->arena);
    json_print_string(&out, text);
    return arena_text(&op->arena, buf_as_slice(&out));
}

void measure_note(struct op *op, const struct measure *measure, const struct container *container)
{
    if (measure->item_bytes && shape_note_item(container->shape, measure->item_bytes))
        log_line(LOG_WARN,
                 "container %s: item %s has %llu bytes, more than half of what an item may have. This is "
                 "told once; /_orrery/metrics has the largest",
                 log_text(op, container->link), log_text(op, measure->item_id),
                 (unsigned long long)measure->item_bytes);
    if (measure->array_count && shape_note_array(container->shape, measure->array_count, measure->path))
        log_line(LOG_WARN,
                 "container %s: item %s has an array of %llu elements at %s; more than %d are a mistake of "
                 "the model. This is told once; /_orrery/metrics has the longest",
                 log_text(op, container->link), log_text(op, measure->array_id),
                 (unsigned long long)measure->array_count, log_text(op, slice_of(measure->path)),
                 ARRAY_COUNT_SENSIBLE);
}
