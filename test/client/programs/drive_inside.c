/*
 * test/client/programs/drive_inside.c - what only a database inside the program can: test/client/embedded starts it.
 * usage: drive_inside checks DIRECTORY       everything that one process can find out
 *        drive_inside threads DIRECTORY|memory   several threads, each with a client of its own
 *        drive_inside hold DIRECTORY [listen]    opens it, says so, and keeps it until its input ends
 *        drive_inside open DIRECTORY             opens it once, and says why it could not
 *        drive_inside write DIRECTORY THREADS    writes and says what was acknowledged, until it is killed
 *        drive_inside verify DIRECTORY           reads which items there must be, and looks
 */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../examples/example.h"

enum { THREADS = 8, EACH = 60, CALLS = 200, WHY_SIZE = 512 };

static const char items[] = "dbs/inside/colls/items";
static int passed, failed;
static char why[WHY_SIZE];
static const orrery_client *asked; /* whose failure is told */

static void check(int good, const char *what, int line)
{
    good ? passed++ : failed++;
    if (!good)
        printf("FAILED line %d: %s\n    %s%s\n", line, what, why, asked ? orrery_error(asked) : "");
}

#define CHECK(condition) check((condition), #condition, __LINE__)

static orrery_settings nothing(void)
{
    why[0] = '\0';
    return (orrery_settings){ .size = sizeof(orrery_settings), .why = why, .why_size = sizeof(why) };
}

static orrery_status open_at(const char *directory, orrery_client **of)
{
    orrery_settings settings = nothing();

    settings.directory = directory;
    return orrery_open(&settings, of);
}

static orrery_status open_beside(const orrery_client *other, orrery_client **of)
{
    orrery_settings settings = nothing();

    settings.database_of = other;
    return orrery_open(&settings, of);
}

static orrery_status open_memory(orrery_client **of)
{
    orrery_settings settings = nothing();

    settings.memory = 1;
    return orrery_open(&settings, of);
}

static orrery_status make_container(orrery_client *of)
{
    orrery_container container = { .size = sizeof(container), .id = "items", .partition_key = { "/id" } };
    orrery_status status = orrery_database_create(of, "inside", NULL, NULL);

    if (status != ORRERY_OK && status != ORRERY_ECONFLICT)
        return status;
    status = orrery_container_create(of, "dbs/inside", &container, NULL, NULL);
    return status == ORRERY_ECONFLICT ? ORRERY_OK : status;
}

static orrery_status create(orrery_client *of, const char *id)
{
    char json[128];

    snprintf(json, sizeof(json), "{\"id\":\"%s\",\"text\":\"of %s\"}", id, id);
    return orrery_item_create(of, items, json, ORRERY_TEXT, NULL, NULL, NULL);
}

static orrery_status find(orrery_client *of, const char *id)
{
    orrery_key key = orrery_key_text(id);

    return orrery_item_read(of, items, id, &key, NULL, NULL);
}

/* ---- opening */

static void what_is_refused(const char *directory)
{
    orrery_client *none = NULL;
    orrery_settings settings = nothing();
    char path[512];

    settings.directory = directory;
    settings.endpoint = "http://localhost:1";
    CHECK(orrery_open(&settings, &none) == ORRERY_EINVAL && !none && strstr(why, "endpoint, directory"));
    settings = nothing();
    settings.directory = directory;
    settings.key = "a2V5";
    CHECK(orrery_open(&settings, &none) == ORRERY_EINVAL && strstr(why, "no key"));
    settings = nothing();
    settings.directory = directory;
    settings.memory_mb = 3;
    CHECK(orrery_open(&settings, &none) == ORRERY_EINVAL && strstr(why, "256"));
    CHECK(open_at("/nowhere/at/all", &none) == ORRERY_EIO && strstr(why, "/nowhere/at/all"));
    snprintf(path, sizeof(path), "%s/other", directory);
    mkdir(directory, 0700);
    mkdir(path, 0700);
    CHECK(open_at(directory, &none) == ORRERY_EIO && strstr(why, "not empty"));
    rmdir(path);
    settings = nothing();
    settings.why_size = 8; /* as much as there is room for */
    CHECK(orrery_open(&settings, &none) == ORRERY_EINVAL && strlen(why) == 7);
}

/* However a directory is spelled, it is one database, until its last client is closed. */
static void one_directory_is_one_database(const char *directory)
{
    orrery_client *first = NULL, *second = NULL, *third = NULL;
    char other[512];

    snprintf(other, sizeof(other), "%s/../%s", directory, strrchr(directory, '/') + 1);
    CHECK(open_at(directory, &first) == ORRERY_OK && open_at(other, &second) == ORRERY_OK);
    CHECK(open_beside(second, &third) == ORRERY_OK);
    CHECK(make_container(first) == ORRERY_OK && create(first, "1") == ORRERY_OK);
    orrery_close(first);
    CHECK(find(second, "1") == ORRERY_OK && create(second, "2") == ORRERY_OK);
    orrery_close(second);
    CHECK(find(third, "2") == ORRERY_OK);
    orrery_close(third);
    CHECK(open_at(directory, &first) == ORRERY_OK);
    CHECK(find(first, "1") == ORRERY_OK && find(first, "2") == ORRERY_OK);
    orrery_close(first);
}

static void databases_in_memory_are_apart(void)
{
    orrery_client *first = NULL, *second = NULL, *beside = NULL, *far = NULL, *none = NULL;
    orrery_settings settings = nothing();

    CHECK(open_memory(&first) == ORRERY_OK && open_memory(&second) == ORRERY_OK);
    CHECK(open_beside(first, &beside) == ORRERY_OK);
    CHECK(make_container(first) == ORRERY_OK && create(first, "1") == ORRERY_OK);
    orrery_close(first);
    CHECK(find(beside, "1") == ORRERY_OK);
    CHECK(find(second, "1") == ORRERY_ENOTFOUND);
    settings.endpoint = "http://localhost:1";
    settings.key = "a2V5";
    CHECK(orrery_open(&settings, &far) == ORRERY_OK);
    CHECK(open_beside(far, &none) == ORRERY_EINVAL && strstr(why, "database_of"));
    orrery_close(far);
    orrery_close(beside);
    orrery_close(second);
}

/* The program goes elsewhere, and the data stays. */
static void a_directory_is_where_it_was(const char *directory)
{
    char before[512], *slash = strrchr(directory, '/');
    orrery_client *of = NULL;

    CHECK(getcwd(before, sizeof(before)) != NULL);
    *slash = '\0';
    CHECK(chdir(directory) == 0);
    *slash = '/';
    CHECK(open_at(slash + 1, &of) == ORRERY_OK && chdir("/") == 0);
    for (int i = 0; i < 50; i++) {
        char id[16];

        snprintf(id, sizeof(id), "far %d", i);
        CHECK(create(of, id) == ORRERY_OK);
    }
    orrery_close(of);
    CHECK(open_at(directory, &of) == ORRERY_OK && find(of, "far 49") == ORRERY_OK);
    orrery_close(of);
    CHECK(chdir(before) == 0);
}

/* ---- what it leaves alone */

/* Whether the thread blocks SIGTERM. */
static int blocks(const char *task)
{
    char path[300], line[128];
    unsigned long long blocked = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        sscanf(line, "SigBlk: %llx", &blocked);
    if (file)
        fclose(file);
    return (int)(blocked >> (SIGTERM - 1) & 1);
}

/* All but the program's own thread; the sanitizers have threads of their own, which is why it is asked before and after. */
static void count_threads(int *all, int *open_to_signals)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;

    *all = *open_to_signals = 0;
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.') {
            ++*all;
            *open_to_signals += !blocks(entry->d_name);
        }
    if (folder)
        closedir(folder);
}

static int ignore_told;

static void ignore_answer(orrery_client *of, void *context, orrery_status status, orrery_response *response)
{
    (void)of, (void)context;
    ignore_told += status == ORRERY_OK;
    orrery_response_free(response);
}

static void signals_are_the_programs(const char *directory)
{
    orrery_listen_settings listen = { .size = sizeof(listen), .address = "127.0.0.1:0", .no_tls = 1 };
    orrery_options later = { .size = sizeof(later), .done = ignore_answer };
    int before, open_before, after, open_after;
    orrery_client *of = NULL;
    size_t under_way = 1;

    count_threads(&before, &open_before);
    CHECK(open_at(directory, &of) == ORRERY_OK);
    CHECK(orrery_listen(of, &listen, NULL, 0) == ORRERY_OK);
    ignore_told = 0;
    CHECK(orrery_read(of, "dbs/inside/colls/items", &later, NULL) == ORRERY_OK); /* by the pool */
    while (under_way)
        CHECK(orrery_run(of, 1000, &under_way) == ORRERY_OK);
    CHECK(ignore_told == 1);
    count_threads(&after, &open_after);
    CHECK(after > before && open_after == open_before);
    orrery_close(of);
}

static void note_line(void *context, orrery_log_level level, const char *line)
{
    snprintf(context, WHY_SIZE, "%d %s", (int)level, line);
}

/* Without a program for scripts there is an answer, and a line in the log. */
static void what_it_logs(void)
{
    char line[WHY_SIZE] = "";
    orrery_settings settings = nothing();
    orrery_client *of = NULL;
    orrery_key key = orrery_key_text("1");

    orrery_log_to(note_line, line, ORRERY_LOG_WARN);
    settings.memory = 1;
    settings.script_program = "/nowhere/orrery-js";
    CHECK(orrery_open(&settings, &of) == ORRERY_OK && make_container(of) == ORRERY_OK);
    CHECK(orrery_create(of, "dbs/inside/colls/items/sprocs", "{\"id\":\"s\",\"body\":\"function () {}\"}",
                        ORRERY_TEXT, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_procedure_run(of, "dbs/inside/colls/items/sprocs/s", &key, "[]", NULL, NULL) ==
          ORRERY_ESERVER);
    orrery_close(of);
    orrery_log_to(NULL, NULL, ORRERY_LOG_ERROR);
    CHECK(strstr(line, "1 cannot run scripts") == line && strstr(line, "/nowhere/orrery-js"));
}

/* ---- calls that do not wait */

struct many {
    int told, good;
};

static void note_answer(orrery_client *of, void *context, orrery_status status, orrery_response *response)
{
    struct many *many = context;

    (void)of;
    many->told++;
    many->good += status == ORRERY_OK;
    orrery_response_free(response);
}

static void create_later(orrery_client *of, const char *id, struct many *many)
{
    orrery_options later = { .size = sizeof(later), .done = note_answer, .context = many };
    orrery_key key = orrery_key_text(id);
    char json[64];

    snprintf(json, sizeof(json), "{\"id\":\"%s\"}", id);
    CHECK(orrery_item_create(of, items, json, ORRERY_TEXT, &key, &later, NULL) == ORRERY_OK);
    memset(json, 'x', sizeof(json)); /* what was passed in was borrowed for the call */
}

/* A program with a loop of its own polls one descriptor, which is ready when there is something to do. */
static void run_by_poll(orrery_client *of)
{
    size_t under_way = 1;

    while (under_way) {
        struct pollfd set[4];
        int timeout_ms = 0;
        size_t count = orrery_poll_set(of, set, 4, &timeout_ms);

        CHECK(count == 1 && poll(set, count, timeout_ms) >= 0);
        CHECK(orrery_run(of, 0, &under_way) == ORRERY_OK);
    }
}

static void calls_that_do_not_wait(const char *directory)
{
    struct many many = { 0 };
    orrery_client *of = NULL;
    char id[32];

    CHECK(open_at(directory, &of) == ORRERY_OK);
    for (int i = 0; i < CALLS; i++) {
        snprintf(id, sizeof(id), "later %d", i);
        create_later(of, id, &many);
    }
    run_by_poll(of);
    CHECK(many.told == CALLS && many.good == CALLS);
    many = (struct many){ 0 };
    for (int i = 0; i < CALLS; i++) {
        snprintf(id, sizeof(id), "cancelled %d", i);
        create_later(of, id, &many);
    }
    CHECK(orrery_cancel(of, &many) == CALLS);
    run_by_poll(of);
    CHECK(many.told == CALLS && many.good == 0);
    for (int i = 0; i < CALLS; i++) {
        snprintf(id, sizeof(id), "left %d", i);
        create_later(of, id, &many);
    }
    orrery_close(of); /* nobody is told, and nothing is left behind */
    CHECK(many.told == CALLS);
}

/* What is too large over HTTP is too large here. */
static void what_is_too_large(const char *directory)
{
    enum { MB = 1 << 20 };
    orrery_key key = orrery_key_text("large");
    char *json = malloc(6 * MB);
    const char *lines[2] = { NULL, NULL };
    orrery_options with_lines = { .size = sizeof(with_lines), .headers = lines };
    orrery_client *of = NULL;

    if (!json)
        exit(1);
    CHECK(open_at(directory, &of) == ORRERY_OK);
    memset(json, 'x', 6 * MB);
    memcpy(json, "{\"id\":\"large\",\"text\":\"", 22);
    memcpy(json + 5 * MB - 2, "\"}", 3);
    CHECK(orrery_item_create(of, items, json, 5 * MB, &key, NULL, NULL) == ORRERY_ETOOLARGE);
    memcpy(json + 3 * MB - 2, "\"}", 3);
    CHECK(orrery_item_create(of, items, json, 3 * MB, &key, NULL, NULL) == ORRERY_ETOOLARGE);
    memset(json, 'x', MB);
    memcpy(json, "x-large: ", 9);
    json[MB] = '\0';
    lines[0] = json;
    CHECK(orrery_item_read(of, items, "1", &key, &with_lines, NULL) == ORRERY_EHTTP); /* 431 */
    orrery_close(of);
    free(json);
}

/* ---- listening */

static orrery_status ask(const char *address, const char *key)
{
    char url[128];
    orrery_settings settings = nothing();
    orrery_client *of = NULL;
    orrery_status status;

    snprintf(url, sizeof(url), "http://%s", address);
    settings.endpoint = url;
    settings.key = key;
    settings.no_proxy = 1;
    settings.retries_max = -1;
    if (orrery_open(&settings, &of) != ORRERY_OK)
        return ORRERY_EINVAL;
    status = find(of, "1");
    orrery_close(of);
    return status;
}

static void others_may_ask(const char *directory)
{
    orrery_listen_settings listen = { .size = sizeof(listen),
                                      .address = "127.0.0.1:0",
                                      .key = "b3VyIG93biBrZXksIG9mIHRoaXJ0eS10d28gYnl0ZXM=" };
    orrery_listen_settings wide = { .size = sizeof(wide), .address = "0.0.0.0:0" };
    orrery_listen_settings nowhere = { .size = sizeof(nowhere),
                                       .address = "192.0.2.1:80",
                                       .key = listen.key };
    orrery_client *of = NULL, *beside = NULL;
    char address[64] = "";

    CHECK(open_at(directory, &of) == ORRERY_OK && open_beside(of, &beside) == ORRERY_OK);
    asked = of;
    CHECK(orrery_listen(of, NULL, NULL, 0) == ORRERY_EINVAL);
    CHECK(orrery_listen(of, &wide, NULL, 0) == ORRERY_EIO && strstr(orrery_error(of), "key"));
    CHECK(orrery_listen(of, &nowhere, NULL, 0) == ORRERY_EIO && strstr(orrery_error(of), "192.0.2.1"));
    CHECK(orrery_listen(of, &listen, address, sizeof(address)) == ORRERY_OK && strstr(address, "127.0.0.1:"));
    CHECK(orrery_listen(beside, &listen, NULL, 0) == ORRERY_EBUSY && strstr(orrery_error(beside), "already"));
    CHECK(ask(address, listen.key) == ORRERY_OK);
    CHECK(ask(address, "YW5vdGhlciBrZXk=") == ORRERY_EUNAUTHORIZED);
    orrery_listen_end(beside);
    CHECK(ask(address, listen.key) == ORRERY_ECONNECT);
    CHECK(orrery_listen(beside, &listen, address, sizeof(address)) == ORRERY_OK);
    asked = NULL;
    orrery_close(of);
    CHECK(ask(address, listen.key) == ORRERY_OK);
    orrery_close(beside);
    CHECK(ask(address, listen.key) == ORRERY_ECONNECT);
}

static int checks(char *directory)
{
    what_is_refused(directory);
    one_directory_is_one_database(directory);
    databases_in_memory_are_apart();
    a_directory_is_where_it_was(directory);
    signals_are_the_programs(directory);
    what_it_logs();
    calls_that_do_not_wait(directory);
    what_is_too_large(directory);
    others_may_ask(directory);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

/* ---- threads */

struct worker {
    pthread_t thread;
    int number, good;
};

/* As deep as it is allowed, in a document and in a query, on a small stack. */
static int goes_deep(orrery_client *of, int number)
{
    enum { LEVELS = 100 };
    orrery_query *query = NULL;
    char json[1024], sql[1024];
    size_t size = (size_t)snprintf(json, sizeof(json), "{\"id\":\"deep %d\",\"a\":", number), asked;
    int good;

    memset(json + size, '[', LEVELS);
    memset(json + size + LEVELS, ']', LEVELS);
    snprintf(json + size + 2 * LEVELS, sizeof(json) - size - 2 * LEVELS, "}");
    asked = (size_t)snprintf(sql, sizeof(sql), "SELECT VALUE c.a FROM c WHERE ");
    memset(sql + asked, '(', LEVELS);
    size = (size_t)snprintf(sql + asked + LEVELS, sizeof(sql) - asked - LEVELS, "c.id = 'deep %d'", number);
    memset(sql + asked + LEVELS + size, ')', LEVELS);
    sql[asked + 2 * LEVELS + size] = '\0';
    good = orrery_item_upsert(of, items, json, ORRERY_TEXT, NULL, NULL, NULL) == ORRERY_OK &&
           orrery_query_open(of, items, sql, NULL, 0, NULL, NULL, &query) == ORRERY_OK &&
           orrery_query_step(query) == ORRERY_ROW;
    orrery_query_close(query);
    return good;
}

/* Writes, reads back, and asks a query, one of them without waiting; the database is the others', too. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    orrery_settings settings = { .size = sizeof(settings), .database_of = client };
    struct many many = { 0 };
    orrery_query *query = NULL;
    orrery_client *mine = NULL;
    size_t under_way = 1;
    char id[32];

    if (orrery_open(&settings, &mine) != ORRERY_OK)
        return NULL;
    for (int i = 0; i < EACH; i++) {
        orrery_options later = { .size = sizeof(later), .done = note_answer, .context = &many };
        orrery_key key;
        char json[64];

        snprintf(id, sizeof(id), "%d of %d", i, worker->number);
        key = orrery_key_text(id);
        snprintf(json, sizeof(json), "{\"id\":\"%s\"}", id);
        worker->good += orrery_item_upsert(mine, items, json, ORRERY_TEXT, &key, NULL, NULL) == ORRERY_OK &&
                        find(mine, id) == ORRERY_OK &&
                        orrery_item_upsert(mine, items, json, ORRERY_TEXT, &key, &later, NULL) == ORRERY_OK;
    }
    while (under_way)
        orrery_run(mine, 1000, &under_way);
    worker->good -= many.good != EACH;
    worker->good -= !goes_deep(mine, worker->number);
    if (orrery_query_open(mine, items, "SELECT VALUE COUNT(1) FROM c", NULL, 0, NULL, NULL, &query) !=
            ORRERY_OK ||
        orrery_query_step(query) != ORRERY_ROW)
        worker->good = -1;
    orrery_query_close(query);
    orrery_close(mine);
    return NULL;
}

/* While the others work, clients come and go, and it listens and stops. */
static void *come_and_go(void *argument)
{
    orrery_listen_settings listen = { .size = sizeof(listen), .address = "127.0.0.1:0", .no_tls = 1 };
    struct worker *worker = argument;
    char line[WHY_SIZE] = "";

    for (int i = 0; i < EACH; i++) {
        orrery_settings settings = { .size = sizeof(settings), .database_of = client };
        orrery_client *mine = NULL, *apart = NULL;

        worker->good += orrery_open(&settings, &mine) == ORRERY_OK;
        settings = (orrery_settings){ .size = sizeof(settings), .memory = 1 };
        if (i % 10 == 0 && (orrery_open(&settings, &apart) != ORRERY_OK ||
                            orrery_listen(mine, &listen, NULL, 0) != ORRERY_OK))
            worker->good = -EACH;
        orrery_log_to(note_line, line, ORRERY_LOG_DEBUG);
        orrery_listen_end(mine);
        orrery_log_to(NULL, NULL, ORRERY_LOG_ERROR);
        orrery_close(apart);
        orrery_close(mine);
    }
    return NULL;
}

static int threads(char **argv)
{
    struct worker workers[THREADS] = { 0 };
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 20); /* docs/embedded.md says that it is enough */
    open_client(2, argv + 1);
    must(make_container(client));
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        if (pthread_create(&workers[i].thread, &small, i == 0 ? come_and_go : work, &workers[i]) != 0)
            exit(1);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].good == EACH);
    }
    orrery_close(client);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

/* ---- several processes */

static int hold(const char *directory, int listens)
{
    orrery_listen_settings listen = { .size = sizeof(listen), .address = "127.0.0.1:0" };
    orrery_client *of = NULL;
    char address[64] = "";

    if (open_at(directory, &of) != ORRERY_OK ||
        (listens && orrery_listen(of, &listen, address, sizeof(address)) != ORRERY_OK) ||
        make_container(of) != ORRERY_OK || create(of, "held") != ORRERY_OK)
        return 1;
    printf("ready %s\n", address);
    fflush(stdout);
    while (getchar() != EOF)
        ;
    orrery_close(of);
    return 0;
}

static int open_once(const char *directory)
{
    orrery_client *of = NULL;
    orrery_status status = open_at(directory, &of);

    printf("%s: %s\n", orrery_status_text(status), why);
    orrery_close(of);
    return status == ORRERY_OK ? 0 : (int)status;
}

static void *write_until_killed(void *argument)
{
    orrery_settings settings = { .size = sizeof(settings), .database_of = client };
    orrery_client *mine = NULL;

    must_of(orrery_open(&settings, &mine), NULL);
    for (int i = 0;; i++) {
        char id[32];
        int size;

        snprintf(id, sizeof(id), "%d-%s-%d", (int)getpid(), (const char *)argument, i);
        must_of(create(mine, id), mine);
        size = (int)strlen(id);
        id[size++] = '\n'; /* one write for a line: it is told whole, or not at all */
        if (write(STDOUT_FILENO, id, (size_t)size) != size)
            exit(1);
    }
    return NULL;
}

static int write_on(char **argv)
{
    static char names[THREADS][16];
    pthread_t threads_of[THREADS];
    int count = atoi(argv[3]);

    if (count < 1 || count > THREADS)
        return 2;
    open_client(2, argv + 1);
    must(make_container(client));
    for (int i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "%d", i);
        if (pthread_create(&threads_of[i], NULL, write_until_killed, names[i]) != 0)
            return 1;
    }
    pthread_join(threads_of[0], NULL);
    return 0;
}

static int verify(char **argv)
{
    int there = 0, lost = 0;
    char id[64];

    open_client(2, argv + 1);
    while (scanf("%63s", id) == 1) {
        int found = find(client, id) == ORRERY_OK;

        if (!found)
            printf("lost: %s: %s\n", id, orrery_error(client));
        there += found;
        lost += !found;
    }
    orrery_close(client);
    printf("%d passed, %d failed\n", there, lost);
    return lost > 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";

    if (strcmp(what, "checks") == 0)
        return checks(argv[2]);
    if (strcmp(what, "threads") == 0)
        return threads(argv);
    if (strcmp(what, "hold") == 0)
        return hold(argv[2], argc > 3);
    if (strcmp(what, "open") == 0)
        return open_once(argv[2]);
    if (strcmp(what, "write") == 0 && argc > 3)
        return write_on(argv);
    if (strcmp(what, "verify") == 0)
        return verify(argv);
    return 2;
}
