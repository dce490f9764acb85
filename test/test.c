/* test/test.c - finds, runs and counts the tests of one program. */
#include <dirent.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

static struct test *tests;
static struct op current_op;
static struct env *current_env;
static char directory[64];
static uint64_t seed = 1;
static int failures_now;

/* For the line that says how to run the present test again. */
static const char *program;
static const struct test *running;
static uint64_t seed_before;
static pid_t process;

/* The sanitizers' own; not there without them. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

void test_register(struct test *test)
{
    test->next = tests;
    tests = test;
}

void test_failed(const char *file, int line, const char *what)
{
    printf("%s:%d: not true: %s\n", file, line, what);
    failures_now++;
}

struct op *test_op(void)
{
    return &current_op;
}

uint64_t test_random(void)
{
    uint64_t x = seed += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

int64_t test_cpu_ms(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

const char *test_source_path(const char *path)
{
    static char whole[4096];

    snprintf(whole, sizeof(whole), "%s/%s", SOURCE_DIRECTORY, path);
    return whole;
}

const char *test_directory(void)
{
    if (!directory[0]) {
        snprintf(directory, sizeof(directory), "/tmp/orrery-test-XXXXXX");
        if (!mkdtemp(directory))
            abort();
    }
    return directory;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(path);
}

/* The random numbers of a test go on from those before it, unless it begins with the seed that it had. */
static void print_repeat(void)
{
    size_t root = strlen(SOURCE_DIRECTORY);
    bool inside = strncmp(program, SOURCE_DIRECTORY, root) == 0 && program[root] == '/';

    printf("repeat: ");
    if (seed != seed_before)
        printf("ORRERY_TEST_SEED=%llu ", (unsigned long long)seed_before);
    printf("%s %s\n", program + (inside ? root + 1 : 0), running->name);
}

/* A test that ends the process; a child of one that means to end says nothing. */
static void on_death(void)
{
    if (!running || getpid() != process)
        return;
    print_repeat();
    fflush(stdout);
}

static void on_abort(int signal)
{
    (void)signal;
    on_death();
}

static bool run(const struct test *test)
{
    failures_now = 0;
    running = test;
    seed_before = seed;
    current_env = env_seeded(1, 1700000000000);
    op_init(&current_op, current_env, (size_t)1 << 30);
    test->run();
    op_free(&current_op);
    env_free(current_env);
    if (directory[0])
        nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    directory[0] = '\0';
    if (failures_now) {
        printf("FAILED %s (%s)\n", test->name, test->file);
        print_repeat();
    }
    running = NULL;
    return failures_now == 0;
}

int main(int argc, char **argv)
{
    const char *start = getenv("ORRERY_TEST_SEED");
    int passed = 0, failed = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    program = argv[0];
    process = getpid();
    signal(SIGABRT, on_abort);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(on_death);
    if (start)
        seed = strtoull(start, NULL, 10);
    for (const struct test *test = tests; test; test = test->next)
        if (argc < 2 || strstr(test->name, argv[1]))
            *(run(test) ? &passed : &failed) += 1;
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
