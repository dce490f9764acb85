/* test/unit/base/thread_test.c - what a thread puts off, it does once, when it catches up. */
#include <pthread.h>

#include "base/thread.h"
#include "test.h"

static void count(void *context)
{
    ++*(unsigned *)context;
}

TEST(a_thread_that_does_not_catch_up_puts_nothing_off)
{
    unsigned calls = 0;

    CHECK(!thread_put_off(count, &calls));
    thread_catch_up();
    CHECK(calls == 0);
}

/* A thread of its own, because a thread that catches up does so for good. */
static void *put_off_and_catch_up(void *argument)
{
    unsigned calls[5] = { 0 };

    (void)argument;
    thread_catches_up();
    CHECK(thread_put_off(count, &calls[0]) && thread_put_off(count, &calls[1]) &&
          thread_put_off(count, &calls[0]));
    CHECK(calls[0] == 0 && calls[1] == 0);
    thread_catch_up();
    CHECK(calls[0] == 1 && calls[1] == 1);
    thread_catch_up();
    CHECK(calls[0] == 1);
    for (unsigned i = 0; i < 4; i++)
        CHECK(thread_put_off(count, &calls[i]));
    CHECK(!thread_put_off(count, &calls[4])); /* there is too much: whoever asks does it at once */
    CHECK(thread_put_off(count, &calls[0]));
    thread_catch_up();
    CHECK(calls[0] == 2 && calls[3] == 1 && calls[4] == 0);
    return NULL;
}

TEST(what_was_put_off_is_called_once_for_each_context)
{
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, put_off_and_catch_up, NULL) == 0);
    pthread_join(thread, NULL);
}
