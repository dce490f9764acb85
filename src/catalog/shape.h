/*
 * src/catalog/shape.h - the largest item and the longest array that a container was given since the start.
 * A very large item or array is a mistake of the data model long before it meets a limit. So metrics show both, and
 * the log tells once when one is above half of its limit. All versions of a container's definition share one shape.
 *
 * Threads. Any. Noting what is not larger than before costs two loads.
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "base/slice.h"

enum { SHAPE_PATH_BYTES = 256 };

struct container_shape {
    _Atomic uint64_t item_bytes;  /* as stored, without the system's properties */
    _Atomic uint64_t array_count; /* elements */

    /* Private to shape.c. */
    pthread_mutex_t changing; /* guards what follows */
    char path[SHAPE_PATH_BYTES];
    bool told_item, told_array;
    atomic_uint references;
};

struct container_shape *shape_new(void);
struct container_shape *shape_take(struct container_shape *shape);
void shape_release(struct container_shape *shape);

/*
 * Notes that an item of that size, or an array at that path, was written. True the first time that one is above half
 * of its limit: then the caller tells the log.
 */
bool shape_note_item(struct container_shape *shape, uint64_t bytes);
bool shape_note_array(struct container_shape *shape, uint64_t count, const char *path);

/* The path of the longest array, as of now. */
void shape_path(struct container_shape *shape, char path[SHAPE_PATH_BYTES]);
