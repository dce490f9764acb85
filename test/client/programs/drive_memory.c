/*
 * test/client/programs/drive_memory.c - a program with a database inside whose memory runs out: test/client/embedded starts it.
 * usage: drive_memory STEP once|closed|limit DIRECTORY|memory EVERY|=NUMBER
 *
 * STEP has a row below. Each EVERY-th allocation of the step fails in a process of its own, whoever asks for it: the library,
 * RocksDB, the C library; with =NUMBER that one only, in this process. `once`: it alone. `closed`: from there on
 * nothing is had but what was given back since. `limit`: as `closed`, and the system does it (setrlimit). Then memory comes
 * back, and everything must work as before. The last line is "N passed, M failed".
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <orrery.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEEDS = 40, TEXT_BYTES = 900, NEVER_CAME = 3, STEP_SECONDS_MAX = 120, NUMBERS_MAX = 200000 };

static const char items[] = "dbs/inside/colls/items";

/* ---- memory that runs out ---- */

enum mode { ONCE, CLOSED, LIMIT };

static atomic_bool armed, is_closed;
static atomic_long number, fails_at, budget;
static enum mode mode;

static void close_memory(void)
{
    struct rlimit limit = { .rlim_max = RLIM_INFINITY };
    char text[64] = "";
    FILE *file;

    if (mode == CLOSED)
        atomic_store(&is_closed, true);
    if (mode != LIMIT)
        return;
    atomic_store(&armed, false); /* reading the file allocates */
    file = fopen("/proc/self/statm", "r");
    if (file && fgets(text, sizeof(text), file))
        limit.rlim_cur = strtoull(text, NULL, 10) * (size_t)getpagesize();
    if (file)
        fclose(file);
    setrlimit(RLIMIT_AS, &limit);
}

static void open_memory(void)
{
    setrlimit(RLIMIT_AS, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
    atomic_store(&armed, false);
    atomic_store(&is_closed, false);
}

/*
 * What nobody can refuse without ending the process, as docs/embedded.md says: malloc() of RocksDB and its compressors, whose
 * result it does not look at (what it allocates by new is refused), room for a thread that it starts, and the C
 * library's for what a thread does at its end.
 */
static bool is_spared(const void *caller)
{
    static const char *const files[] = { "librocksdb", "liblz4", "libzstd", "ld-linux" };
    Dl_info info = { 0 };

    if (!dladdr(caller, &info) || !info.dli_fname)
        return false;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (strstr(info.dli_fname, files[i]))
            return true;
    return info.dli_sname && strcmp(info.dli_sname, "__cxa_thread_atexit_impl") == 0;
}

static bool is_refused(size_t bytes)
{
    if (atomic_load(&armed) && atomic_fetch_add(&number, 1) + 1 == atomic_load(&fails_at)) {
        close_memory();
        return mode != LIMIT;
    }
    if (!atomic_load(&is_closed))
        return false;
    if (atomic_fetch_sub(&budget, (long)bytes) >= (long)bytes)
        return false;
    atomic_fetch_add(&budget, (long)bytes);
    return true;
}

static void note_free(size_t bytes)
{
    if (atomic_load(&is_closed))
        atomic_fetch_add(&budget, (long)bytes);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Those of the C library under names of their own, which it exports for this. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

static void *refused(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t bytes)
{
    return !is_spared(__builtin_return_address(0)) && is_refused(bytes) ? refused() : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return !is_spared(__builtin_return_address(0)) && is_refused(count * bytes) ? refused()
                                                                                : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    if (is_refused(bytes))
        return refused();
    if (memory)
        note_free(malloc_usable_size(memory));
    return __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return is_refused(bytes) ? refused() : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    void *got = is_refused(bytes) ? NULL : __libc_memalign(alignment, bytes);

    if (!got)
        return ENOMEM;
    *memory = got;
    return 0;
}

void free(void *memory)
{
    if (memory)
        note_free(malloc_usable_size(memory));
    __libc_free(memory);
}

/* What is set aside is taken by these. */
void *mmap(void *at, size_t bytes, int rights, int flags, int file, off_t offset)
{
    if (file == -1 && atomic_load(&is_closed) && is_refused(bytes)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, bytes, rights, flags, file, offset);
}

int munmap(void *at, size_t bytes)
{
    note_free(bytes);
    return (int)syscall(SYS_munmap, at, bytes);
}
#endif

/* ---- what is done ---- */

static orrery_client *client;
static char why[512];

static void fail(const char *what, orrery_status status)
{
    open_memory();
    printf("FAILED number %ld: %s: %s %s%s\n", atomic_load(&fails_at), what, orrery_status_text(status), why,
           client ? orrery_error(client) : "");
    fflush(stdout);
    _exit(1);
}

/* Words for "no memory", of the client's part and of the database's. */
static bool may_be(orrery_status status)
{
    return status == ORRERY_OK || status == ORRERY_ENOMEM || status == ORRERY_ESERVER ||
           status == ORRERY_ETHROTTLED || status == ORRERY_ETOOLARGE;
}

static orrery_status open_at(const char *place)
{
    orrery_settings settings = { .size = sizeof(settings),
                                 .memory = strcmp(place, "memory") == 0,
                                 .retries_max = -1,
                                 .script_program = getenv("ORRERY_JS"),
                                 .why = why,
                                 .why_size = sizeof(why) };

    settings.directory = settings.memory ? NULL : place;
    why[0] = '\0';
    return orrery_open(&settings, &client);
}

static orrery_status write_item(int id, const char *text)
{
    char json[TEXT_BYTES + 128];

    snprintf(json, sizeof(json), "{\"id\":\"%d\",\"n\":%d,\"text\":\"%s\"}", id, id % 7, text);
    return orrery_item_upsert(client, items, json, ORRERY_TEXT, NULL, NULL, NULL);
}

static void fill(void)
{
    orrery_container container = { .size = sizeof(container), .id = "items", .partition_key = { "/id" } };
    char text[TEXT_BYTES];
    orrery_status status;

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    status = orrery_create_if_missing(client, "dbs", "{\"id\":\"inside\"}", ORRERY_TEXT, NULL, NULL);
    if (status == ORRERY_OK)
        status = orrery_container_create(client, "dbs/inside", &container, NULL, NULL);
    if (status != ORRERY_OK && status != ORRERY_ECONFLICT)
        fail("the container", status);
    for (int i = 0; i < SEEDS; i++)
        if ((status = write_item(i, text)) != ORRERY_OK)
            fail("an item", status);
}

static orrery_status read_item(const char *id)
{
    orrery_key key = orrery_key_text(id);

    return orrery_item_read(client, items, id, &key, NULL, NULL);
}

static void delete_item(const char *id)
{
    orrery_key key = orrery_key_text(id);
    orrery_status status = orrery_item_delete(client, items, id, &key, NULL, NULL);

    if (status != ORRERY_OK && status != ORRERY_ENOTFOUND)
        fail("deleting", status);
}

static orrery_status do_create(void)
{
    return orrery_item_create(client, items, "{\"id\":\"new\",\"n\":8}", ORRERY_TEXT, NULL, NULL, NULL);
}

static orrery_status do_upsert(void)
{
    return write_item(3, "changed");
}

static orrery_status do_read(void)
{
    return read_item("5");
}

static orrery_status count_rows(const char *text, int expected)
{
    orrery_query *query = NULL;
    orrery_status status = orrery_query_open(client, items, text, NULL, 0, NULL,
                                             &(orrery_options){ .size = sizeof(orrery_options) }, &query);
    int rows = 0;

    if (status != ORRERY_OK)
        return status;
    while ((status = orrery_query_step(query)) == ORRERY_ROW)
        rows++;
    orrery_query_close(query);
    if (status == ORRERY_DONE && rows != expected)
        fail("the number of rows", status);
    return status == ORRERY_DONE ? ORRERY_OK : status;
}

static orrery_status do_query(void)
{
    return count_rows("SELECT VALUE c.text FROM c WHERE c.n = 4 AND STARTSWITH(c.text, 'x')", 6);
}

static orrery_status do_sort(void)
{
    return count_rows(
        "SELECT c.n, COUNT(1) AS m, MAX(c.text) AS t FROM c WHERE IS_DEFINED(c.text) GROUP BY c.n", 7);
}

static orrery_status do_order(void)
{
    return count_rows("SELECT c.id, c.text FROM c WHERE c.n < 3 ORDER BY c.text DESC", 18);
}

static const struct step {
    const char *name;
    orrery_status (*run)(void); /* NULL: it opens or closes */
} steps[] = {
    { "open", NULL },      { "create", do_create }, { "upsert", do_upsert }, { "read", do_read },
    { "query", do_query }, { "sort", do_sort },     { "order", do_order },   { "close", NULL },
};

static void arm(long at)
{
    atomic_store(&number, 0);
    atomic_store(&fails_at, at);
    atomic_store(&armed, true);
}

/* Everything works as before: what was acknowledged is there, and new things are taken. */
static void verify(const char *step, orrery_status told)
{
    orrery_status status = read_item("new");

    if (strcmp(step, "create") == 0 && told == ORRERY_OK && status != ORRERY_OK)
        fail("an acknowledged item", status);
    if ((status = do_read()) != ORRERY_OK)
        fail("a read afterwards", status);
    if ((status = do_query()) != ORRERY_OK)
        fail("a query afterwards", status);
    if ((status = write_item(100, "afterwards")) != ORRERY_OK)
        fail("a write afterwards", status);
    delete_item("100");
    delete_item("new");
}

static bool is_called(const struct step *step, const char *name)
{
    return strcmp(step->name, name) == 0;
}

/* Whether the allocation came that was to fail. From here on none does. */
static bool disarm(void)
{
    bool came = atomic_load(&number) >= atomic_load(&fails_at);

    open_memory();
    return came;
}

static bool open_short_of_memory(const char *place, long at)
{
    orrery_status status;
    bool came;

    arm(at);
    status = open_at(place);
    came = disarm();
    if (!may_be(status) && status != ORRERY_EIO)
        fail("opening", status);
    if (status != ORRERY_OK && !why[0])
        fail("opening, without words", status);
    if (status != ORRERY_OK && (status = open_at(place)) != ORRERY_OK)
        fail("opening afterwards", status);
    fill();
    return came;
}

static void open_and_fill(const char *place)
{
    orrery_status status = open_at(place);

    if (status != ORRERY_OK)
        fail("opening", status);
    fill();
}

static bool close_short_of_memory(const char *place, long at)
{
    bool came;

    open_and_fill(place);
    arm(at);
    orrery_close(client);
    came = disarm();
    open_and_fill(place);
    return came;
}

/* It is done once before, so that what the first one finds is known. */
static bool step_short_of_memory(const struct step *step, const char *place, long at, orrery_status *status)
{
    bool came;

    open_and_fill(place);
    delete_item("new");
    if ((*status = step->run()) != ORRERY_OK)
        fail("the step itself", *status);
    delete_item("new");
    arm(at);
    *status = step->run();
    came = disarm();
    if (!may_be(*status))
        fail(step->name, *status);
    return came;
}

static int run(const struct step *step, const char *place, long at)
{
    orrery_status status = ORRERY_OK;
    bool came = step->run                 ? step_short_of_memory(step, place, at, &status)
                : is_called(step, "open") ? open_short_of_memory(place, at)
                                          : close_short_of_memory(place, at);

    verify(step->name, status);
    orrery_close(client);
    return came ? 0 : NEVER_CAME;
}

static int run_apart(const struct step *step, const char *place, long at)
{
    int state = 0;
    pid_t child = fork();

    if (child == 0) {
        alarm(STEP_SECONDS_MAX);
        _exit(run(step, place, at));
    }
    waitpid(child, &state, 0);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

static const struct step *find_step(const char *name)
{
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (is_called(&steps[i], name))
            return &steps[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const struct step *step = argc > 4 ? find_step(argv[1]) : NULL;
    long every = argc > 4 ? atol(argv[4]) : 0;
    int passed = 0, failed = 0, ended = 0;

    if (!step)
        return 2;
    mode = argv[2][0] == 'o' ? ONCE : argv[2][0] == 'c' ? CLOSED : LIMIT;
    if (argv[4][0] == '=')
        return run(step, argv[3], atol(argv[4] + 1));
    if (every < 1)
        return 2;
    for (long at = 1; at < NUMBERS_MAX; at += every) {
        ended = run_apart(step, argv[3], at);
        if (ended == NEVER_CAME)
            break;
        passed += ended == 0;
        failed += ended != 0;
        if (ended != 0)
            printf("FAILED number %ld of %s: it ended with %d\n", at, step->name, ended);
        fflush(stdout);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || ended != NEVER_CAME;
}
