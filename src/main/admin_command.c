/* src/main/admin_command.c - orrery admin split and merge: words to the JSON that the server takes. */
#include <stdio.h>
#include <string.h>

#include "json/json.h"
#include "main/admin_command.h"
#include "main/ask_server.h"
#include "main/directory.h"

static const char usage[] =
    "usage: orrery admin split dbs/D/colls/C [range=ID] [at=middle|median|EPK | parts=N] [flags of serve]\n"
    "       orrery admin merge dbs/D/colls/C ID ID... [flags of serve]\n";

static void print_member(struct buf *body, const char *name, struct slice value)
{
    buf_printf(body, ",\"%s\":", name);
    json_print_string(body, value);
}

/* range=0 at=median parts=4 */
static bool print_split(struct buf *body, char **word, int count)
{
    uint64_t parts;

    for (int i = 0; i < count; i++) {
        struct slice text = slice_of(word[i]);

        if (slice_starts_with(text, "range="))
            print_member(body, "range", slice_after(text, 6));
        else if (slice_starts_with(text, "at="))
            print_member(body, "at", slice_after(text, 3));
        else if (slice_starts_with(text, "parts=") && slice_to_u64(slice_after(text, 6), &parts))
            buf_printf(body, ",\"parts\":%llu", (unsigned long long)parts);
        else
            return false;
    }
    return true;
}

static bool print_merge(struct buf *body, char **word, int count)
{
    buf_text(body, ",\"ranges\":[");
    for (int i = 0; i < count; i++) {
        if (i)
            buf_byte(body, ',');
        json_print_string(body, slice_of(word[i]));
    }
    buf_byte(body, ']');
    return count >= 2;
}

static const struct action {
    const char *name, *path;
    bool (*print)(struct buf *body, char **word, int count);
} actions[] = {
    { "split", "_orrery/split", print_split },
    { "merge", "_orrery/merge", print_merge },
};

static const struct action *find_action(const char *name)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(name, actions[i].name) == 0)
            return &actions[i];
    return NULL;
}

static enum status run(struct op *op, const struct settings *settings, const char *path, struct slice body)
{
    char address[DIRECTORY_ADDRESS_SIZE];
    struct slice answer;
    enum status st;

    if (!directory_is_held(op, settings->data, address))
        return op_fail(op, ST_UNAVAILABLE, "no server is using %s: start it first", settings->data);
    TRY(server_ask(op, settings, address, &(struct server_question){ path, body }, &answer));
    printf("%.*s\n", SLICE_ARGS(answer));
out:
    return st;
}

/* argv[3] is the container; the action's own words follow, up to the first flag. */
static int run_action(struct op *op, const struct action *action, int argc, char **argv)
{
    struct settings settings;
    struct buf body;
    enum status st;
    int flags = 4;

    while (flags < argc && strncmp(argv[flags], "--", 2) != 0)
        flags++;
    buf_init(&body, &op->arena);
    buf_text(&body, "{\"container\":");
    json_print_string(&body, slice_of(argv[3]));
    if (!action->print(&body, argv + 4, flags - 4)) {
        fputs(usage, stderr);
        return 2;
    }
    buf_byte(&body, '}');
    if (!settings_read(&settings, argc, argv, flags))
        return 2;
    st = run(op, &settings, action->path, buf_as_slice(&body));
    if (st != ST_OK)
        fprintf(stderr, "orrery: %s\n", op->error ? op->error : error_row(st)->code);
    return st != ST_OK;
}

int admin_command(int argc, char **argv)
{
    const struct action *action = argc > 3 ? find_action(argv[2]) : NULL;
    struct op op;
    int result;

    if (!action || strncmp(argv[3], "--", 2) == 0) {
        fputs(usage, stderr);
        return 2;
    }
    op_init(&op, env_system(), SIZE_MAX);
    op.may_block = true;
    result = run_action(&op, action, argc, argv);
    op_free(&op);
    return result;
}
