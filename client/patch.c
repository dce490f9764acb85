/* client/patch.c - the builder of patches. */
#include <stdlib.h>

#include "client.h"

struct orrery_patch {
    orrery_writer *operations;
    char *condition;
    bool failed, no_path;
};

orrery_status orrery_patch_new(orrery_patch **patch)
{
    orrery_patch *made;

    if (!patch)
        return ORRERY_EINVAL;
    *patch = NULL;
    made = allocator_zeroed(1, sizeof(*made));
    if (!made || orrery_writer_new(&made->operations) != ORRERY_OK) {
        allocator_free(made);
        return ORRERY_ENOMEM;
    }
    orrery_write_array(made->operations);
    *patch = made;
    return ORRERY_OK;
}

void orrery_patch_free(orrery_patch *patch)
{
    if (!patch)
        return;
    orrery_writer_free(patch->operations);
    allocator_free(patch->condition);
    allocator_free(patch);
}

static void begin(orrery_patch *patch, const char *op, const char *path)
{
    orrery_writer *writer = patch->operations;

    patch->no_path = patch->no_path || !path;
    orrery_write_object(writer);
    orrery_write_name(writer, "op");
    orrery_write_string(writer, op, ORRERY_TEXT);
    orrery_write_name(writer, "path");
    orrery_write_string(writer, path, ORRERY_TEXT);
}

static void with_json(orrery_patch *patch, const char *op, const char *path, const char *json)
{
    if (!patch)
        return;
    begin(patch, op, path);
    orrery_write_name(patch->operations, "value");
    orrery_write_json(patch->operations, json, ORRERY_TEXT);
    orrery_write_end(patch->operations);
}

void orrery_patch_add(orrery_patch *patch, const char *path, const char *json)
{
    with_json(patch, "add", path, json);
}

void orrery_patch_set(orrery_patch *patch, const char *path, const char *json)
{
    with_json(patch, "set", path, json);
}

void orrery_patch_replace(orrery_patch *patch, const char *path, const char *json)
{
    with_json(patch, "replace", path, json);
}

void orrery_patch_remove(orrery_patch *patch, const char *path)
{
    if (!patch)
        return;
    begin(patch, "remove", path);
    orrery_write_end(patch->operations);
}

void orrery_patch_increment(orrery_patch *patch, const char *path, double by)
{
    if (!patch)
        return;
    begin(patch, "incr", path);
    orrery_write_name(patch->operations, "value");
    orrery_write_number(patch->operations, by);
    orrery_write_end(patch->operations);
}

void orrery_patch_move(orrery_patch *patch, const char *from, const char *to)
{
    if (!patch)
        return;
    begin(patch, "move", from ? to : NULL);
    orrery_write_name(patch->operations, "from");
    orrery_write_string(patch->operations, from, ORRERY_TEXT);
    orrery_write_end(patch->operations);
}

void orrery_patch_condition(orrery_patch *patch, const char *condition)
{
    if (!patch)
        return;
    allocator_free(patch->condition);
    patch->condition = condition ? memory_text(slice_of(condition)) : NULL;
    patch->failed = patch->failed || (condition && !patch->condition);
}

orrery_status patch_print(const orrery_patch *patch, struct buf *out)
{
    orrery_writer *copy = patch->operations;
    struct slice list = writer_unfinished(copy);

    if (patch->no_path)
        return ORRERY_EINVAL;
    if (patch->failed || writer_state(copy) != ORRERY_OK)
        return patch->failed ? ORRERY_ENOMEM : writer_state(copy);
    buf_text(out, "{");
    if (patch->condition) {
        buf_text(out, "\"condition\":");
        json_print_string(out, slice_of(patch->condition));
        buf_text(out, ",");
    }
    buf_text(out, "\"operations\":");
    buf_slice(out, list);
    buf_text(out, "]}");
    return ORRERY_OK;
}
