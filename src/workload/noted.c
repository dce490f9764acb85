/* src/workload/noted.c - keys as text, and which members of an item a write has changed. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/heap.h"
#include "workload/noted.h"

const char *const work_kind_names[WORK_KINDS] = { "create", "upsert", "read", "replace", "patch",
                                                  "delete", "query",  "list", "feed",    "script" };

void noted_init(struct noted *noted)
{
    noted->more = NULL;
    noted->capacity = 0;
    noted->first.paths = NULL;
    noted_begin(noted);
}

void noted_begin(struct noted *noted)
{
    noted->key.size = 0;
    noted->query = (struct noted_query){ 0 };
    noted->count = 0;
}

void noted_end(struct noted *noted)
{
    for (size_t i = 0; i < noted->capacity; i++)
        free(noted->more[i].paths);
    free(noted->more);
    free(noted->first.paths);
    noted->more = NULL;
    noted->first.paths = NULL;
    noted->capacity = 0;
}

/* ---- keys ---- */

static void print_key(struct buf *out, const struct partition_key *key)
{
    buf_byte(out, '[');
    for (size_t i = 0; i < key->count; i++) {
        if (i > 0)
            buf_byte(out, ',');
        if (json_kind(key->component[i]) == JSON_UNDEFINED)
            buf_text(out, "{}"); /* as the protocol writes it */
        else
            json_print(out, key->component[i]);
    }
    buf_byte(out, ']');
}

/* The end of a long one is a hash. */
static void keep_text(struct noted_key *kept, struct slice text)
{
    enum { HASH_DIGITS = 16, FRONT = NOTED_KEY_BYTES - HASH_DIGITS - 1 };
    char digits[HASH_DIGITS + 1];

    if (text.size <= NOTED_KEY_BYTES) {
        memcpy(kept->text, text.data, text.size);
        kept->size = (uint8_t)text.size;
        return;
    }
    snprintf(digits, sizeof(digits), "%016llx", (unsigned long long)murmur3_128(text.data, text.size).h1);
    memcpy(kept->text, text.data, FRONT);
    memcpy(kept->text + FRONT, digits, HASH_DIGITS);
    kept->size = FRONT + HASH_DIGITS;
}

/* The first byte of such a string (json.h). */
enum { ESCAPED_STRING = 0x0a };

/* Most keys are one short text that needs no escapes: these are written at once. */
static bool keep_short(struct noted_key *kept, const struct partition_key *key)
{
    struct slice text;

    if (key->count != 1 || json_kind(key->component[0]) != JSON_STRING)
        return false;
    text = json_string(key->component[0]);
    if (text.size + 4 > NOTED_KEY_BYTES || *key->component[0].at == ESCAPED_STRING)
        return false;
    kept->text[0] = '[';
    kept->text[1] = '"';
    memcpy(kept->text + 2, text.data, text.size);
    kept->text[text.size + 2] = '"';
    kept->text[text.size + 3] = ']';
    kept->size = (uint8_t)(text.size + 4);
    return true;
}

static void keep_key(struct op *op, const struct partition_key *key, struct noted_key *kept)
{
    struct op_mark mark;
    struct buf text;

    if (keep_short(kept, key))
        return;
    kept->size = 0;
    mark = op_mark(op);
    buf_init(&text, &op->arena);
    print_key(&text, key);
    if (!text.failed)
        keep_text(kept, buf_as_slice(&text));
    op_rewind(op, mark);
}

void noted_name_key(struct op *op, const struct partition_key *key)
{
    if (op->noted && key->count)
        keep_key(op, key, &op->noted->key);
}

/* ---- what has changed ---- */

/* However large items are, no more is compared than this: then the change is the item's. */
enum { STEPS_MAX = 4000, DEPTH_MAX = 8, CHANGED_PATH_BYTES_MAX = 160, MEMBERS_OF_A_STEP = 16 };

struct difference {
    struct noted_action *action;
    char path[CHANGED_PATH_BYTES_MAX];
    int steps;
    bool is_too_much;
};

static bool is_noted(const struct noted_action *action, const char *path, size_t size)
{
    for (const char *at = action->paths; at < action->paths + action->paths_size; at += strlen(at) + 1)
        if (strlen(at) == size && memcmp(at, path, size) == 0)
            return true;
    return false;
}

static void note_changed(struct difference *difference, size_t size)
{
    struct noted_action *action = difference->action;

    if (is_noted(action, difference->path, size))
        return;
    if (action->path_count == NOTED_PATHS_MAX || action->paths_size + size + 1 > NOTED_PATHS_BYTES) {
        difference->is_too_much = true;
        return;
    }
    memcpy(action->paths + action->paths_size, difference->path, size);
    action->paths[action->paths_size + size] = '\0';
    action->paths_size += (uint16_t)(size + 1);
    action->path_count++;
}

static bool is_same(struct json before, struct json after)
{
    if (json_kind(before) == JSON_UNDEFINED || json_kind(after) == JSON_UNDEFINED)
        return json_kind(before) == json_kind(after);
    return slice_equal(json_bytes(before), json_bytes(after));
}

/* The path with a name behind it; 0: it is too long, or cannot be told from another. */
static size_t step_down(struct difference *difference, size_t size, struct slice name)
{
    if (size + 1 + name.size > CHANGED_PATH_BYTES_MAX || memchr(name.data, '\0', name.size))
        return 0;
    difference->path[size] = '/';
    memcpy(difference->path + size + 1, name.data, name.size);
    return size + 1 + name.size;
}

static void compare(struct difference *difference, size_t size, int depth, struct json before,
                    struct json after);

static void compare_below(struct difference *difference, size_t size, int depth, struct slice name,
                          struct json before, struct json after)
{
    size_t longer = step_down(difference, size, name);

    if (longer)
        compare(difference, longer, depth + 1, before, after);
    else if (!is_same(before, after))
        note_changed(difference, size);
}

static void take_steps(struct difference *difference, size_t steps)
{
    difference->steps += steps;
    difference->is_too_much |= difference->steps > STEPS_MAX;
}

/*
 * The other's member of that name. Mostly members come in the same order: the next one is looked at before all others, because looking
 * at all of them for each would take a minute where there are many.
 */
static struct json same_member(struct difference *difference, struct json_iter *next, struct json other,
                               struct slice name)
{
    if (json_next(next) && slice_equal(next->name, name))
        return next->value;
    take_steps(difference, 1 + json_count(other) / MEMBERS_OF_A_STEP);
    return json_member(other, name);
}

static void compare_objects(struct difference *difference, size_t size, int depth, struct json before,
                            struct json after)
{
    struct json_iter next = json_iter(after);

    for (struct json_iter i = json_iter(before); !difference->is_too_much && json_next(&i);)
        compare_below(difference, size, depth, i.name, i.value,
                      same_member(difference, &next, after, i.name));
    next = json_iter(before);
    for (struct json_iter i = json_iter(after); !difference->is_too_much && json_next(&i);)
        if (json_kind(same_member(difference, &next, before, i.name)) == JSON_UNDEFINED)
            compare_below(difference, size, depth, i.name, json_undefined, i.value);
}

static void compare_arrays(struct difference *difference, size_t size, int depth, struct json before,
                           struct json after)
{
    struct json_iter next = json_iter(after);

    for (struct json_iter i = json_iter(before); json_next(&i) && json_next(&next);)
        compare_below(difference, size, depth, slice_of("[]"), i.value, next.value);
}

static void compare(struct difference *difference, size_t size, int depth, struct json before,
                    struct json after)
{
    enum json_kind kind = json_kind(before);

    take_steps(difference, 1);
    if (difference->is_too_much || is_same(before, after))
        return;
    if (kind != json_kind(after) || kind < JSON_ARRAY || depth == DEPTH_MAX ||
        (kind == JSON_ARRAY && json_count(before) != json_count(after)))
        note_changed(difference, size);
    else if (kind == JSON_OBJECT)
        compare_objects(difference, size, depth, before, after);
    else
        compare_arrays(difference, size, depth, before, after);
}

static void note_changes(struct noted_action *action, struct json before, struct json after)
{
    struct difference difference = { .action = action };

    if (!action->paths)
        action->paths = heap_allocate_unset(NOTED_PATHS_BYTES);
    compare(&difference, 0, 0, before, after);
    if (!difference.is_too_much)
        return;
    action->path_count = action->paths_size = 1;
    action->paths[0] = '\0';
}

/* ---- actions ---- */

static struct noted_action *next_action(struct noted *noted)
{
    size_t before = noted->capacity;

    if (noted->count == 0) {
        noted->count = 1;
        return &noted->first;
    }
    if (noted->count == NOTED_ACTIONS_MAX)
        return NULL;
    heap_list_reserve(&noted->more, &noted->capacity, noted->count, sizeof(*noted->more));
    memset(noted->more + before, 0, (noted->capacity - before) * sizeof(*noted->more));
    return &noted->more[noted->count++ - 1];
}

const struct noted_action *noted_action(const struct noted *noted, size_t index)
{
    assert(index < noted->count);
    return index == 0 ? &noted->first : &noted->more[index - 1];
}

void noted_act(struct op *op, enum work_kind kind, const struct partition_key *key, struct json before,
               struct json after)
{
    struct noted_action *action = op->noted ? next_action(op->noted) : NULL;

    if (!action)
        return;
    action->kind = kind;
    keep_key(op, key, &action->key);
    action->was_there = json_kind(before) != JSON_UNDEFINED;
    action->path_count = action->paths_size = 0;
    if (action->was_there && json_kind(after) != JSON_UNDEFINED)
        note_changes(action, before, after);
}

size_t noted_mark(const struct op *op)
{
    return op->noted ? op->noted->count : 0;
}

void noted_rewind(struct op *op, size_t count)
{
    if (op->noted)
        op->noted->count = count;
}

/* ---- queries ---- */

void noted_ask(struct op *op, const struct noted_query *query)
{
    if (op->noted)
        op->noted->query = *query;
}

void noted_rows(struct op *op, uint64_t rows)
{
    if (op->noted)
        op->noted->query.rows = rows;
}
