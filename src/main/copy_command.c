/* src/main/copy_command.c - orrery copy: opens both places, copies, makes what must be made anew, verifies, and tells of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "main/check.h"
#include "main/copy_command.h"
#include "main/copy_store.h"
#include "main/place.h"
#include "main/settings.h"
#include "partition/recover.h"
#include "query/computed.h"
#include "store/transfer.h"

struct copy_run {
    const char *from, *to;
    struct place source, target;
    struct copy_source data; /* of the source */
    struct copy_progress progress;
};

/* ---- what is told ---- */

static int64_t next_ms; /* when the next line is due */

/* Once a second at most. */
static void tell(const struct copy_progress *progress)
{
    int64_t now_ms = env_monotonic_ms(env_system());

    if (now_ms < next_ms)
        return;
    next_ms = now_ms + 1000;
    fprintf(stderr, "orrery: %" PRIu64 " of %" PRIu64 " buckets, %" PRIu64 " rows, %" PRIu64 " MB",
            progress->buckets_done, progress->buckets, progress->rows, progress->bytes >> 20);
    if (progress->entries)
        fprintf(stderr, ", %" PRIu64 " entries of the index", progress->entries);
    fputs("\n", stderr);
}

static enum status tell_of_users(struct op *op, struct store *source)
{
    unsigned users;
    enum status st;

    TRY(store_count_users(op, source, &users));
    if (users)
        fprintf(stderr,
                "orrery: %u servers use the source: the copy is of this moment, and has nothing of what they "
                "write from now on\n",
                users);
out:
    return st;
}

/* ---- the steps ---- */

/* The store makes files of its own in a directory that it reads, too. */
static enum status check_owner(struct op *op, const char *path)
{
    struct stat info;

    if (stat(path, &info) == 0 && info.st_uid != geteuid())
        return op_fail(op, ST_BAD_DIRECTORY, "%s belongs to another user: make the copy as that user", path);
    return ST_OK;
}

/* Entries that a crash took from the source are made again, in memory. */
static enum status recover_source(struct op *op, struct store *store)
{
    struct catalog *catalog = NULL;
    enum status st;

    TRY(catalog_open_with(op, store, computed_value, &catalog));
    TRY(recover_index(op, catalog));
out:
    if (catalog)
        store_follow(store, NULL, NULL); /* it ends here; the store goes on */
    catalog_close(catalog);
    return st;
}

static enum status open_source(struct op *op, struct copy_run *run)
{
    enum status st = ST_OK;

    if (!settings_is_database(run->from))
        TRY(check_owner(op, run->from));
    TRY(place_open(op, run->from, PLACE_READ, &run->source));
    TRY(tell_of_users(op, run->source.store));
    TRY(recover_source(op, run->source.store));
    TRY(copy_open(op, run->source.store, &run->data));
out:
    return st;
}

/* A directory's entries are in runs, which are written while the store is open with them. */
static enum status make_entries(struct op *op, struct copy_run *run)
{
    enum status st;

    TRY(copy_forget_entries(op, run->target.store));
    TRY(place_reopen(op, &run->target, PLACE_INDEX));
    TRY(copy_entries(op, &run->data, run->target.store, tell, &run->progress));
out:
    return st;
}

static enum status verify(struct op *op, struct copy_run *run)
{
    uint64_t items, problems;
    enum status st;

    fprintf(stderr, "orrery: all is there; now it is verified\n");
    TRY(place_reopen(op, &run->target, PLACE_READ));
    TRY(check_store(op, run->target.store, &items, &problems));
    if (problems)
        TRY(op_fail(op, ST_CORRUPT,
                    "the copy has %" PRIu64
                    " problems, and stays half a copy: does orrery check find them in the source?",
                    problems));
    printf("%" PRIu64 " items checked, 0 problems\n", items);
out:
    return st;
}

static enum status copy(struct op *op, struct copy_run *run)
{
    enum status st;

    TRY(open_source(op, run));
    TRY(place_open(op, run->to, PLACE_LOAD, &run->target));
    TRY(copy_rows(op, &run->data, run->target.store, run->target.is_database, tell, &run->progress));
    if (!run->target.is_database)
        TRY(make_entries(op, run));
    TRY(verify(op, run));
    TRY(place_reopen(op, &run->target, PLACE_LOAD));
    TRY(copy_end(op, run->target.store));
out:
    return st;
}

/* ---- the command ---- */

/* --from X, --from=X. False: another flag, or one that was given before. */
static bool read_flag(int argc, char **argv, int *at, struct copy_run *run)
{
    struct {
        const char *name, **value;
    } flags[] = { { "--from", &run->from }, { "--to", &run->to } };

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        size_t size = strlen(flags[i].name);
        const char *word = argv[*at];

        if (strncmp(word, flags[i].name, size) != 0 || *flags[i].value)
            continue;
        if (word[size] == '=')
            *flags[i].value = word + size + 1;
        else if (!word[size] && *at + 1 < argc)
            *flags[i].value = argv[++*at];
        return *flags[i].value && **flags[i].value;
    }
    return false;
}

static bool read_flags(int argc, char **argv, struct copy_run *run)
{
    for (int i = 2; i < argc; i++)
        if (!read_flag(argc, argv, &i, run))
            return false;
    return run->from && run->to;
}

int copy_command(int argc, char **argv)
{
    struct copy_run run = { .source = { .directory = { .lock = -1 } },
                            .target = { .directory = { .lock = -1 } } };
    struct op op;
    enum status st;

    if (!read_flags(argc, argv, &run)) {
        fputs("usage: orrery copy --from DIR|postgresql://... --to DIR|postgresql://...\n", stderr);
        return 2;
    }
    op_init(&op, env_system(), SIZE_MAX);
    op_begin(&op, INT64_MAX / 2);
    op.may_block = true;
    st = copy(&op, &run);
    if (st != ST_OK)
        fprintf(stderr, "orrery: %s\n", op.error ? op.error : error_row(st)->code);
    copy_close(&run.data);
    place_close(&run.target);
    place_close(&run.source);
    op_free(&op);
    return st != ST_OK;
}
