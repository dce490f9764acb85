/*
 * test/test.h - a test is named by the sentence it proves.
 *     TEST(an_empty_slice_is_not_an_absent_one) { CHECK(...); }
 * Each folder under test/unit/ is one program; it prints a line for each failure and ends
 * with "N passed, M failed". An argument runs only the tests whose names contain it.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/op.h"

struct test {
    const char *name, *file;
    void (*run)(void);
    struct test *next;
};

void test_register(struct test *test);
void test_failed(const char *file, int line, const char *what);

/* A fresh operation for each test, on a seeded env; the test's memory goes with it. */
struct op *test_op(void);

/* The same seed each run, and another each call; ORRERY_TEST_SEED sets where it starts. */
uint64_t test_random(void);

/* What this thread has used of a processor: how long something takes, whatever else the machine does. */
int64_t test_cpu_ms(void);

/* A file or folder of the source tree, by its path from there. It lives until the next call. */
const char *test_source_path(const char *path);

/* A directory of the test's own, removed when the test ends. */
const char *test_directory(void);

#define TEST(sentence)                                                            \
    static void test_##sentence(void);                                            \
    __attribute__((constructor)) static void register_##sentence(void)            \
    {                                                                             \
        static struct test test = { #sentence, __FILE__, test_##sentence, NULL }; \
        test_register(&test);                                                     \
    }                                                                             \
    static void test_##sentence(void)

/* One that is large and has one thread: the thread sanitizer is ten times slower, and would find nothing there. */
#ifdef __SANITIZE_THREAD__
#define TEST_OF_SIZE(sentence) __attribute__((unused)) static void test_##sentence(void)
#else
#define TEST_OF_SIZE(sentence) TEST(sentence)
#endif

#define CHECK(condition)                                 \
    do {                                                 \
        if (!(condition))                                \
            test_failed(__FILE__, __LINE__, #condition); \
    } while (0)

/* For what the rest of the test cannot do without. */
#define REQUIRE(condition)                               \
    do {                                                 \
        if (!(condition)) {                              \
            test_failed(__FILE__, __LINE__, #condition); \
            return;                                      \
        }                                                \
    } while (0)
