/* src/main/admin_command.c - orrery admin ...: words to the request that the server takes. */
#include <stdio.h>
#include <string.h>

#include "json/json.h"
#include "main/admin_command.h"
#include "main/ask_server.h"
#include "main/directory.h"

static const char usage[] =
    "usage: orrery admin split dbs/D/colls/C [range=ID] [at=middle|median|EPK | parts=N] [flags of serve]\n"
    "       orrery admin merge dbs/D/colls/C ID ID... [flags of serve]\n"
    "       orrery admin snapshot create NAME [database=D] [flags of serve]\n"
    "       orrery admin snapshot list|restore NAME|delete NAME [flags of serve]\n"
    "       orrery admin copy dbs/D dbs/NEW [flags of serve]\n"
    "       orrery admin restore dbs/D/colls/C --at TIME|LSN --to dbs/D/colls/NEW [flags of serve]\n";

/* What a command asks for. `path` and `body` are in the op's arena. */
struct asked {
    enum method method;
    struct buf path, body;
};

static void print_member(struct buf *body, const char *name, struct slice value)
{
    buf_printf(body, "%s\"%s\":", body->size > 1 ? "," : "", name);
    json_print_string(body, value);
}

/* dbs/D/colls/C range=0 at=median parts=4 */
static bool ask_split(struct asked *asked, char **word, int count)
{
    struct buf *body = &asked->body;
    uint64_t parts;

    if (count < 1)
        return false;
    buf_text(&asked->path, "split");
    print_member(body, "container", slice_of(word[0]));
    for (int i = 1; i < count; i++) {
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

/* dbs/D/colls/C 0 1 */
static bool ask_merge(struct asked *asked, char **word, int count)
{
    if (count < 3)
        return false;
    buf_text(&asked->path, "merge");
    print_member(&asked->body, "container", slice_of(word[0]));
    buf_text(&asked->body, ",\"ranges\":[");
    for (int i = 1; i < count; i++) {
        if (i > 1)
            buf_byte(&asked->body, ',');
        json_print_string(&asked->body, slice_of(word[i]));
    }
    buf_byte(&asked->body, ']');
    return true;
}

/* The name goes into the path as it is, so it has nothing that would need to be encoded there. */
static bool is_plain_name(const char *name)
{
    return *name &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == '\0';
}

/* create NAME [database=D], list, restore NAME, delete NAME */
static bool ask_snapshot(struct asked *asked, char **word, int count)
{
    const char *what = count > 0 ? word[0] : "", *name = count > 1 ? word[1] : "";
    bool creates = strcmp(what, "create") == 0, restores = strcmp(what, "restore") == 0;

    buf_text(&asked->path, "snapshots");
    if (strcmp(what, "list") == 0) {
        asked->method = METHOD_GET;
        return count == 1;
    }
    if (!is_plain_name(name))
        return false;
    if (creates) {
        print_member(&asked->body, "name", slice_of(name));
        if (count == 2)
            return true;
        if (count != 3 || !slice_starts_with(slice_of(word[2]), "database="))
            return false;
        print_member(&asked->body, "database", slice_of(word[2] + strlen("database=")));
        return true;
    }
    buf_printf(&asked->path, "/%s%s", name, restores ? "/restore" : "");
    asked->method = restores ? METHOD_POST : METHOD_DELETE;
    return count == 2 && (restores || strcmp(what, "delete") == 0);
}

/* dbs/D dbs/NEW */
static bool ask_copy(struct asked *asked, char **word, int count)
{
    if (count != 2)
        return false;
    buf_text(&asked->path, "copy");
    print_member(&asked->body, "from", slice_of(word[0]));
    print_member(&asked->body, "to", slice_of(word[1]));
    return true;
}

/* dbs/D/colls/C at=TIME to=dbs/D/colls/NEW, where --at TIME and --to NEW say the same */
static bool ask_restore(struct asked *asked, char **word, int count)
{
    if (count < 1)
        return false;
    buf_text(&asked->path, "restore");
    print_member(&asked->body, "container", slice_of(word[0]));
    for (int i = 1; i < count; i++) {
        bool is_at = strcmp(word[i], "--at") == 0, is_to = strcmp(word[i], "--to") == 0;

        if ((is_at || is_to) && i + 1 < count)
            print_member(&asked->body, is_at ? "at" : "to", slice_of(word[++i]));
        else if (strncmp(word[i], "at=", 3) == 0 || strncmp(word[i], "to=", 3) == 0)
            print_member(&asked->body, word[i][0] == 'a' ? "at" : "to", slice_of(word[i] + 3));
        else
            return false;
    }
    return count > 2;
}

/* Those of admin restore, which are no flags of serve. */
static bool is_own_flag(const char *word)
{
    return strcmp(word, "--at") == 0 || strcmp(word, "--to") == 0;
}

static const struct action {
    const char *name;
    bool (*ask)(struct asked *asked, char **word, int count); /* false: the words make no sense */
} actions[] = {
    { "split", ask_split }, { "merge", ask_merge },     { "snapshot", ask_snapshot },
    { "copy", ask_copy },   { "restore", ask_restore },
};

static const struct action *find_action(const char *name)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(name, actions[i].name) == 0)
            return &actions[i];
    return NULL;
}

static enum status run(struct op *op, const struct settings *settings, struct asked *asked)
{
    char address[DIRECTORY_ADDRESS_SIZE];
    struct server_question question = { .method = asked->method };
    struct slice answer;
    enum status st;

    if (!directory_is_held(op, settings->data, address))
        return op_fail(op, ST_UNAVAILABLE, "no server is using %s: start it first", settings->data);
    buf_byte(&asked->path, '\0');
    question.path = asked->path.data;
    question.body = asked->method == METHOD_POST ? buf_as_slice(&asked->body) : slice_of("");
    TRY(server_ask(op, settings, address, &question, &answer));
    if (answer.size)
        printf("%.*s\n", SLICE_ARGS(answer));
out:
    return st;
}

/* The action's own words begin at argv[3] and go up to the first flag. */
static int run_action(struct op *op, const struct action *action, int argc, char **argv)
{
    struct asked asked = { .method = METHOD_POST };
    struct settings settings;
    enum status st;
    int flags = 3;

    while (flags < argc && (strncmp(argv[flags], "--", 2) != 0 || is_own_flag(argv[flags])))
        flags++;
    buf_init(&asked.path, &op->arena);
    buf_text(&asked.path, "_orrery/");
    buf_init(&asked.body, &op->arena);
    buf_byte(&asked.body, '{');
    if (!action->ask(&asked, argv + 3, flags - 3)) {
        fputs(usage, stderr);
        return 2;
    }
    buf_byte(&asked.body, '}');
    if (!settings_read(&settings, argc, argv, flags))
        return 2;
    st = run(op, &settings, &asked);
    if (st != ST_OK)
        fprintf(stderr, "orrery: %s\n", op->error ? op->error : error_row(st)->code);
    return st != ST_OK;
}

int admin_command(int argc, char **argv)
{
    const struct action *action = argc > 2 ? find_action(argv[2]) : NULL;
    struct op op;
    int result;

    if (!action) {
        fputs(usage, stderr);
        return 2;
    }
    op_init(&op, env_system(), SIZE_MAX);
    op.may_block = true;
    result = run_action(&op, action, argc, argv);
    op_free(&op);
    return result;
}
