/* cli/watch.c - \watch: changes of a container, a line each, until Ctrl-C. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "statement.h"
#include "watch.h"

enum { LOOK_AGAIN_MS = 200 };

struct wish {
    bool from_beginning, all_versions, understood;
};

static struct wish read_wish(const char *rest)
{
    struct wish wish = { .understood = true };
    char *word;

    while ((word = statement_word(&rest))) {
        if (strcmp(word, "beginning") == 0)
            wish.from_beginning = true;
        else if (strcmp(word, "all") == 0)
            wish.all_versions = true;
        else
            wish.understood = false;
        free(word);
    }
    return wish;
}

bool command_watch(struct shell *shell, const char *rest)
{
    struct wish wish = read_wish(rest);
    orrery_options options = { .size = sizeof(options), .no_wait = 1, .all_versions = wish.all_versions };
    orrery_query *changes = NULL;
    orrery_status status;

    if (!wish.understood || !link_is_container(text_of(&shell->here))) {
        tell("usage: \\watch [beginning] [all], in a container");
        return false;
    }
    status = orrery_changes_open(shell->cli.client, text_of(&shell->here), NULL,
                                 wish.from_beginning ? ORRERY_FROM_BEGINNING : ORRERY_FROM_NOW, 0, &options,
                                 &changes);
    while (!orrery_failed(status)) {
        size_t size;
        const char *row;

        status = cursor_step(shell->cli.client, changes);
        row = status == ORRERY_ROW ? orrery_query_row(changes, &size) : NULL;
        if (row) {
            fwrite(row, 1, size, stdout);
            putchar('\n');
        } else if (status == ORRERY_DONE) {
            if (fflush(stdout) != 0)
                break;
            poll(NULL, 0, LOOK_AGAIN_MS);
        }
    }
    fflush(stdout);
    if (orrery_failed(status) && status != ORRERY_ECANCELED)
        cli_tell(&shell->cli, status, NULL);
    orrery_query_close(changes);
    return status == ORRERY_ECANCELED;
}
