/* src/main/backup_command.c - orrery backup: by the server that holds the data, or without one. */
#include <sys/stat.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json/json.h"
#include "main/ask_server.h"
#include "main/backup.h"
#include "main/backup_command.h"
#include "main/directory.h"

/* --- by the server --- */

/* The server's answer tells where the copy is: only it knows where its copies go. */
static enum status by_server(struct op *op, const struct settings *settings, const char *address,
                             const char *name, const char **made)
{
    struct slice answer;
    struct json told;
    struct buf body;
    enum status st;

    buf_init(&body, &op->arena);
    buf_text(&body, "{\"directory\":");
    json_print_string(&body, slice_of(name));
    buf_text(&body, "}");
    TRY(server_ask(op, settings, address,
                   &(struct server_question){ METHOD_POST, "_orrery/backup", buf_as_slice(&body) }, &answer));
    TRY(json_parse(op, answer, &told));
    if (json_kind(json_get(told, "directory")) != JSON_STRING)
        TRY(op_fail(op, ST_UNAVAILABLE, "the server's answer does not tell where the copy is"));
    *made = arena_text(&op->arena, json_string(json_get(told, "directory")));
out:
    return st;
}

/* --- without one --- */

static enum status by_ourselves(struct op *op, const struct settings *settings, const char *name,
                                const char **made)
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
    TRY(backup_make(op, &directory, store, settings->backup_dir, name, made));
out:
    store_close(store);
    directory_close(&directory);
    return st;
}

static enum status run(struct op *op, const struct settings *settings, const char *name)
{
    char address[DIRECTORY_ADDRESS_SIZE];
    const char *made;
    enum status st;

    st = directory_is_held(op, settings->data, address) ? by_server(op, settings, address, name, &made)
                                                        : by_ourselves(op, settings, name, &made);
    if (st == ST_OK)
        printf("%s\n", made);
    return st;
}

int backup_command(int argc, char **argv)
{
    struct settings settings;
    struct op op;
    enum status st;

    if (argc < 3 || strncmp(argv[2], "--", 2) == 0 || !argv[2][0]) {
        fputs("usage: orrery backup NAME [flags of serve]\n", stderr);
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
