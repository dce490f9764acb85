/* src/catalog/shape.c - the largest item and the longest array of a container, since the start. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "catalog/shape.h"

struct container_shape *shape_new(void)
{
    struct container_shape *shape = heap_allocate(sizeof(*shape));

    pthread_mutex_init(&shape->changing, NULL);
    atomic_init(&shape->references, 1);
    return shape;
}

struct container_shape *shape_take(struct container_shape *shape)
{
    unsigned before = atomic_fetch_add(&shape->references, 1);

    assert(before > 0); /* who takes another reference has one */
    return shape;
}

void shape_release(struct container_shape *shape)
{
    unsigned before;

    if (!shape)
        return;
    before = atomic_fetch_sub(&shape->references, 1);
    assert(before > 0);
    if (before > 1)
        return;
    pthread_mutex_destroy(&shape->changing);
    free(shape);
}

/* Called under the shape's lock, so that the larger of two values stays. `told` becomes true once. */
static bool raise(_Atomic uint64_t *largest, uint64_t value, uint64_t limit, bool *told, bool *raised)
{
    bool first = value > limit / 2 && !*told;

    *raised = value > atomic_load_explicit(largest, memory_order_relaxed);
    if (*raised)
        atomic_store_explicit(largest, value, memory_order_relaxed);
    *told |= first;
    return first;
}

bool shape_note_item(struct container_shape *shape, uint64_t bytes)
{
    bool raised, first;

    if (bytes <= atomic_load_explicit(&shape->item_bytes, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&shape->changing);
    first = raise(&shape->item_bytes, bytes, ITEM_BYTES_MAX, &shape->told_item, &raised);
    pthread_mutex_unlock(&shape->changing);
    return first;
}

bool shape_note_array(struct container_shape *shape, uint64_t count, const char *path)
{
    bool raised, first;

    if (count <= atomic_load_explicit(&shape->array_count, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&shape->changing);
    first = raise(&shape->array_count, count, ARRAY_COUNT_SENSIBLE, &shape->told_array, &raised);
    if (raised)
        snprintf(shape->path, sizeof(shape->path), "%s", path);
    pthread_mutex_unlock(&shape->changing);
    return first;
}

void shape_path(struct container_shape *shape, char path[SHAPE_PATH_BYTES])
{
    pthread_mutex_lock(&shape->changing);
    memcpy(path, shape->path, SHAPE_PATH_BYTES);
    pthread_mutex_unlock(&shape->changing);
}
