/* src/base/thread.c - a mark on the threads that never wait. */
#include "base/thread.h"

static _Thread_local bool forbidden;

void thread_forbid_blocking(void)
{
    forbidden = true;
}

bool thread_may_block(void)
{
    return !forbidden;
}
