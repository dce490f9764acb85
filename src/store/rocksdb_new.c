/*
 * src/store/rocksdb_new.c - RocksDB's allocations, when the machine has no more memory.
 * RocksDB allocates by C++'s new. Where that fails it calls the process's new handler, and then throws what nobody here
 * can catch. The handler below takes from the reserve first (base/reserve.h). A program that has a handler of its own
 * keeps it.
 */
#include <assert.h>
#include <dlfcn.h>
#include <string.h>

#include "base/reserve.h"
#include "store/rocksdb_private.h"

typedef void new_handler(void);
typedef new_handler *set_new_handler(new_handler *handler);
typedef new_handler *get_new_handler(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned holders;

/* By their names in the C++ runtime, which RocksDB brings along. */
static set_new_handler *setter(void)
{
    void *found = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE");
    set_new_handler *function;

    memcpy(&function, &found, sizeof(function)); /* as POSIX has it */
    return function;
}

static get_new_handler *getter(void)
{
    void *found = dlsym(RTLD_DEFAULT, "_ZSt15get_new_handlerv");
    get_new_handler *function;

    memcpy(&function, &found, sizeof(function));
    return function;
}

/* Called again until the allocation succeeds. Without a handler it fails, which is all that is left then. */
static void spend(void)
{
    if (!reserve_spend())
        setter()(NULL);
}

static void replace(new_handler *from, new_handler *to)
{
    if (setter() && getter() && getter()() == from)
        setter()(to);
}

void rocks_hold_new(void)
{
    pthread_mutex_lock(&mutex);
    if (holders++ == 0)
        replace(NULL, spend);
    pthread_mutex_unlock(&mutex);
}

void rocks_release_new(void)
{
    pthread_mutex_lock(&mutex);
    assert(holders > 0);
    if (--holders == 0)
        replace(spend, NULL);
    pthread_mutex_unlock(&mutex);
}
