/*
 * test/fuzz/replay.c - runs a fuzz target without a fuzzer.
 *     target DIRECTORY|FILE... [-mutate COUNT SEED]
 * Every file of the directories, then COUNT random changes of them; the same seed gives the
 * same changes. A target that finds something wrong aborts, having said how to have just that
 * input again. Ends with "N passed, 0 failed".
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES_MAX = 4096, INPUT_BYTES_MAX = 1024 * 1024, CHANGES_MAX = 8, RUN_BYTES_MAX = 32 };

struct input {
    char *path;
    uint8_t *data;
    size_t size;
};

static struct input inputs[FILES_MAX];
static size_t input_count;
static uint64_t seed, seed_before; /* that of the present mutation */
static const char *program, *corpus;
static const struct input *present; /* of the corpus; NULL: a mutation */

/* The sanitizers' own; not there without them. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void print_repeat(void)
{
    if (present)
        printf("repeat: %s %s\n", program, present->path);
    else
        printf("repeat: %s %s -mutate 1 %llu\n", program, corpus, (unsigned long long)seed_before);
    fflush(stdout);
}

static void on_abort(int signal)
{
    (void)signal;
    print_repeat();
}

static uint64_t next_random(void) /* splitmix64 */
{
    uint64_t x = seed += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "%s: %s\n", path, what);
    exit(1);
}

static void load_file(const char *path)
{
    static uint8_t content[INPUT_BYTES_MAX];
    FILE *file = fopen(path, "rb");
    struct input input;

    if (!file || input_count == FILES_MAX)
        fail("cannot be read", path);
    input.size = fread(content, 1, sizeof(content), file);
    fclose(file);
    input.data = malloc(input.size + 1);
    input.path = strdup(path);
    if (!input.data || !input.path)
        fail("too large", path);
    memcpy(input.data, content, input.size);
    inputs[input_count++] = input;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* In the order of their names, so that a seed means the same everywhere. */
static void load_directory(const char *directory)
{
    struct dirent **names;
    int count = scandir(directory, &names, NULL, by_name);
    char path[4096];

    if (count < 0 && errno == ENOTDIR) {
        load_file(directory);
        return;
    }
    if (count < 0)
        fail("cannot be read", directory);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/%s", directory, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            load_file(path);
        free(names[i]);
    }
    free(names);
}

/* In memory of exactly its size, so that a sanitizer sees a read past the end. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy)
        abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static size_t up_to(size_t limit)
{
    return (size_t)(next_random() % (limit + 1));
}

/* One change in place: a bit, a byte, a run left out, a run doubled, a run from another input. */
static size_t change(uint8_t *data, size_t size)
{
    size_t at = up_to(size), run_bytes = up_to(RUN_BYTES_MAX);
    const struct input *other = &inputs[next_random() % input_count];
    size_t from = up_to(other->size);

    if (run_bytes > size - at)
        run_bytes = size - at;
    switch (next_random() % 5) {
    case 0:
        if (at < size)
            data[at] ^= (uint8_t)(1 << next_random() % 8);
        return size;
    case 1:
        if (at < size)
            data[at] = (uint8_t)next_random();
        return size;
    case 2:
        memmove(data + at, data + at + run_bytes, size - at - run_bytes);
        return size - run_bytes;
    case 3:
        memmove(data + at + run_bytes, data + at, size - at);
        return size + run_bytes;
    default:
        run_bytes = up_to(RUN_BYTES_MAX);
        if (run_bytes > other->size - from)
            run_bytes = other->size - from;
        memmove(data + at + run_bytes, data + at, size - at);
        memcpy(data + at, other->data + from, run_bytes);
        return size + run_bytes;
    }
}

static void run_mutation(void)
{
    static uint8_t data[INPUT_BYTES_MAX + CHANGES_MAX * RUN_BYTES_MAX];
    const struct input *input;
    size_t size, changes;

    seed_before = seed;
    input = &inputs[next_random() % input_count];
    size = input->size;
    changes = 1 + up_to(CHANGES_MAX - 1);
    memcpy(data, input->data, size);
    for (; changes; changes--)
        size = change(data, size);
    run(data, size);
}

int main(int argc, char **argv)
{
    unsigned long long mutations = 0, passed = 0;

    program = argv[0];
    signal(SIGABRT, on_abort);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(print_repeat);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-mutate") == 0 && i + 2 < argc) {
            mutations = strtoull(argv[i + 1], NULL, 10);
            seed = strtoull(argv[i + 2], NULL, 10);
            i += 2;
        } else {
            corpus = argv[i];
            load_directory(argv[i]);
        }
    }
    for (size_t i = 0; i < input_count; i++, passed++) {
        present = &inputs[i];
        run(inputs[i].data, inputs[i].size);
    }
    present = NULL;
    for (; input_count && mutations; mutations--, passed++)
        run_mutation();
    printf("%llu passed, 0 failed\n", passed);
    for (size_t i = 0; i < input_count; i++) {
        free(inputs[i].data);
        free(inputs[i].path);
    }
    return 0;
}
