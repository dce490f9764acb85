/* cli/complete.c - what may follow in a line of the shell. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "commands.h"
#include "complete.h"
#include "link.h"

enum {
    LINKS_MAX = 200,
    PATHS_MAX = 500,
    PATH_DEPTH_MAX = 5,
};

static const char *const words[] = {
#define FUNCTION(name) #name "(",
#define AGGREGATE(name) #name "(",
#define KEYWORD(name) #name,
#include "words.def"
#undef FUNCTION
#undef AGGREGATE
#undef KEYWORD
};

/* ---- links */

/* What has a link below `feed`, each as `before` and its id. */
static void add_ids(struct shell *shell, const char *feed, const char *before, struct candidates *candidates)
{
    orrery_options options = { .size = sizeof(options), .page_items = LINKS_MAX };
    orrery_query *cursor = NULL;
    size_t count = 0;

    if (orrery_list_open(shell->cli.client, feed, NULL, &options, &cursor) == ORRERY_OK)
        while (count++ < LINKS_MAX && orrery_query_step(cursor) == ORRERY_ROW) {
            struct text word = { 0 };

            text_printf(&word, "%s%s", before,
                        orrery_value_text(orrery_value_member(orrery_query_value(cursor), "id"), NULL));
            candidates_add(candidates, text_of(&word));
            text_free(&word);
        }
    orrery_query_close(cursor);
}

static void add_kinds(const char *before, const char *const *kinds, struct candidates *candidates)
{
    for (; *kinds; kinds++) {
        struct text word = { 0 };

        text_printf(&word, "%s%s/", before, *kinds);
        candidates_add(candidates, text_of(&word));
        text_free(&word);
    }
}

/* `word` is a link up to a slash, and the begin of its next part. */
static void complete_link(struct shell *shell, const char *word, struct candidates *candidates)
{
    static const char *const of_database[] = { "colls", "users", NULL };
    static const char *const of_container[] = { "docs", "sprocs", "triggers", "udfs", NULL };
    const char *slash = strrchr(word, '/');
    char *before = must_copy(word, slash ? (size_t)(slash - word) + 1 : 0);
    struct text link = { 0 }, feed = { 0 };
    size_t depth;

    link_resolve(text_of(&shell->here), before, &link);
    depth = link_depth(text_of(&link));
    text_puts(&feed, text_of(&link));
    if (depth == 0)
        text_puts(&feed, "dbs");
    else if (depth == 2)
        text_puts(&feed, "/colls");
    else if (depth == 4)
        text_puts(&feed, "/docs");
    if (depth == 2)
        add_kinds(before, of_database, candidates);
    if (depth == 4)
        add_kinds(before, of_container, candidates);
    if (depth == 4) /* items by their container's link: that is what the list wants */
        add_ids(shell, text_of(&link), before, candidates);
    else
        add_ids(shell, text_of(&feed), before, candidates);
    text_free(&link);
    text_free(&feed);
    free(before);
}

/* ---- paths */

struct paths {
    struct text container;
    char *path[PATHS_MAX];
    size_t count;
};

void paths_free(struct paths *paths)
{
    if (!paths)
        return;
    for (size_t i = 0; i < paths->count; i++)
        free(paths->path[i]);
    text_free(&paths->container);
    free(paths);
}

static void learn_path(struct paths *paths, const char *path)
{
    for (size_t i = 0; i < paths->count; i++)
        if (strcmp(paths->path[i], path) == 0)
            return;
    if (paths->count < PATHS_MAX)
        paths->path[paths->count++] = must_copy(path, strlen(path));
}

static void learn_object(struct paths *paths, const char *before, orrery_value object, int depth)
{
    const char *name;
    orrery_value value;

    for (size_t at = 0; depth < PATH_DEPTH_MAX && orrery_value_next(object, &at, &name, &value);) {
        struct text path = { 0 };

        text_printf(&path, "%s.%s", before, name);
        learn_path(paths, text_of(&path));
        if (orrery_value_type(value) == ORRERY_OBJECT)
            learn_object(paths, text_of(&path), value, depth + 1);
        text_free(&path);
    }
}

/* The paths of some items of the container, read once. */
static const struct paths *paths_of(struct shell *shell)
{
    orrery_query *query = NULL;

    if (shell->paths && strcmp(text_of(&shell->paths->container), text_of(&shell->here)) == 0)
        return shell->paths;
    paths_free(shell->paths);
    shell->paths = must_alloc(sizeof(*shell->paths));
    text_puts(&shell->paths->container, text_of(&shell->here));
    if (orrery_query_open(shell->cli.client, text_of(&shell->here), "SELECT TOP 50 * FROM c", NULL, 0, NULL,
                          NULL, &query) == ORRERY_OK)
        while (orrery_query_step(query) == ORRERY_ROW)
            learn_object(shell->paths, "", orrery_query_value(query), 0);
    orrery_query_close(query);
    return shell->paths;
}

/* "c.address.ci": an alias, and a path of items. */
static void complete_path(struct shell *shell, const char *word, struct candidates *candidates)
{
    const struct paths *paths = paths_of(shell);
    char *alias = must_copy(word, strcspn(word, "."));

    for (size_t i = 0; i < paths->count; i++) {
        struct text whole = { 0 };

        text_printf(&whole, "%s%s", alias, paths->path[i]);
        candidates_add(candidates, text_of(&whole));
        text_free(&whole);
    }
    free(alias);
}

/* ---- a line */

static void complete_command(struct candidates *candidates)
{
    candidates_add(candidates, "SELECT");
    for (size_t i = 0; i < command_count; i++)
        candidates_add(candidates, commands[i].name);
}

static bool takes_link(const char *line)
{
    static const char *const names[] = { "cd", "ls", "cat", "rm", "put", "patch", "mkcoll", "call", NULL };

    for (const char *const *name = names; *name; name++)
        if (strncmp(line, *name, strlen(*name)) == 0 && line[strlen(*name)] == ' ')
            return true;
    return false;
}

void complete_line(void *context, const char *line, const char *word, struct candidates *candidates)
{
    static const char *const formats[] = { "table", "json", "jsonl", "csv", "typed-csv", NULL };
    struct shell *shell = context;

    line += strspn(line, " ");
    if (strncmp(line, "\\format ", 8) == 0) {
        for (const char *const *name = formats; *name; name++)
            candidates_add(candidates, *name);
    } else if (takes_link(line)) {
        complete_link(shell, word, candidates);
    } else if (word == line) {
        complete_command(candidates);
        if (link_is_container(text_of(&shell->here)) && strchr(word, '.'))
            complete_path(shell, word, candidates); /* a later line of a query */
        else
            for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && *word; i++)
                candidates_add(candidates, words[i]);
    } else if (strchr(word, '.') && link_is_container(text_of(&shell->here))) {
        complete_path(shell, word, candidates);
    } else {
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            candidates_add(candidates, words[i]);
    }
}
