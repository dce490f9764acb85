/* src/main/backup_command.c - orrery backup: by the server that holds the data, or without one. */
#include <sys/stat.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json/json.h"
#include "main/ask_server.h"
#include "main/backup.h"
#include "main/backup_command.h"
#include "main/directory.h"

/* --- by the server --- */

static enum status by_server(struct op *op, const struct settings *settings, const char *address,
                             const char *target)
{
    struct slice answer;
    struct buf body;

    buf_init(&body, &op->arena);
    buf_text(&body, "{\"directory\":");
    json_print_string(&body, slice_of(target));
    buf_text(&body, "}");
    return server_ask(op, settings, address,
                      &(struct server_question){ "_orrery/backup", buf_as_slice(&body) }, &answer);
}

/* --- without one --- */

static enum status by_ourselves(struct op *op, const struct settings *settings, const char *target)
{
    struct directory directory = { .lock = -1 };
    struct store_options options = {
        .kind = STORE_ROCKSDB, .sync = true, .cache_bytes = 64 << 20, .entries = ENTRIES_NONE
    };
    struct store *store = NULL;
    struct stat info;
    enum status st;

    if (stat(settings->data, &info) == 0 &&
        info.st_uid != geteuid()) /* the store makes files of its own there */
        TRY(op_fail(op, ST_BAD_DIRECTORY, "%s belongs to another user: make the copy as that user",
                    settings->data));
    TRY(directory_open(op, settings->data, true, &directory));
    options.directory = directory.store;
    TRY(store_open(op, &options, &store));
    TRY(backup_make(op, &directory, store, target));
out:
    store_close(store);
    directory_close(&directory);
    return st;
}

/* The server's working directory is not ours. */
static enum status make_absolute(struct op *op, const char *given, struct buf *target)
{
    char here[PATH_MAX];

    if (given[0] != '/' && !getcwd(here, sizeof(here)))
        return op_fail(op, ST_UNAVAILABLE, "cannot tell the working directory: %s", strerror(errno));
    buf_init(target, &op->arena);
    buf_printf(target, "%s%s%s", given[0] == '/' ? "" : here, given[0] == '/' ? "" : "/", given);
    buf_byte(target, '\0');
    return ST_OK;
}

static enum status run(struct op *op, const struct settings *settings, const char *given)
{
    char address[DIRECTORY_ADDRESS_SIZE];
    struct buf target;
    enum status st;

    TRY(make_absolute(op, given, &target));
    st = directory_is_held(op, settings->data, address) ? by_server(op, settings, address, target.data)
                                                        : by_ourselves(op, settings, target.data);
    if (st == ST_OK)
        printf("%s\n", target.data);
out:
    return st;
}

int backup_command(int argc, char **argv)
{
    struct settings settings;
    struct op op;
    enum status st;

    if (argc < 3 || strncmp(argv[2], "--", 2) == 0 || !argv[2][0]) {
        fputs("usage: orrery backup DIR [flags of serve]\n", stderr);
        return 2;
    }
    if (!settings_read(&settings, argc, argv, 3))
        return 2;
    op_init(&op, env_system(), SIZE_MAX);
    op.may_block = true;
    st = run(&op, &settings, argv[2]);
    if (st != ST_OK)
        fprintf(stderr, "orrery: %s\n", op.error ? op.error : error_row(st)->code);
    op_free(&op);
    return st != ST_OK;
}
