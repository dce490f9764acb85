/* test/client/failing_alloc.c - allocations, counted, and one of them refused. */
#include <stdlib.h>

#include "failing_alloc.h"

static _Thread_local size_t fails_at, count; /* of the test's thread: a server beside it goes on */
static _Thread_local int paused;

void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void failing_alloc_at(size_t number)
{
    fails_at = number;
    count = 0;
}

bool failing_alloc_happened(void)
{
    return fails_at && count >= fails_at;
}

void failing_alloc_pause(void)
{
    paused++;
}

void failing_alloc_go_on(void)
{
    paused--;
}

bool failing_alloc_refuses(void)
{
    return fails_at && !paused && ++count == fails_at;
}

void *__wrap_malloc(size_t size)
{
    return failing_alloc_refuses() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t number, size_t size)
{
    return failing_alloc_refuses() ? NULL : __real_calloc(number, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return failing_alloc_refuses() ? NULL : __real_realloc(memory, size);
}
