/*
 * cli/wait.c - orrery wait: asks until the server answers, and until what the words name is there.
 * A server that refuses the key will go on refusing it, so that ends the wait at once.
 */
#include <stdio.h>
#include <unistd.h>

#include "connect.h"
#include "wait.h"

enum { ASK_AGAIN_US = 50000 };

static bool may_pass(orrery_status status)
{
    return status == ORRERY_ECONNECT || status == ORRERY_EIO || status == ORRERY_ETIMEOUT ||
           status == ORRERY_ESERVER || status == ORRERY_ENOTFOUND || status == ORRERY_ETHROTTLED;
}

/* Reads the list of databases: a server that answers this has started, and takes the key. */
static orrery_status ask_server(orrery_client *client)
{
    orrery_query *list = NULL;
    orrery_status status = orrery_list_open(client, "dbs", NULL, NULL, &list);

    if (status == ORRERY_OK)
        status = orrery_query_step(list);
    orrery_query_close(list);
    return status;
}

static orrery_status ask_all(const struct cli *cli)
{
    const struct options *options = cli->options;
    orrery_status status = options->token && options->word_count ? ORRERY_OK : ask_server(cli->client);

    for (size_t i = 0; i < options->word_count && !orrery_failed(status); i++)
        status = orrery_read(cli->client, options->word[i], NULL, NULL);
    return status;
}

int wait_command(const struct options *options)
{
    int64_t until = clock_us() + (int64_t)options->timeout_s * 1000000;
    struct cli cli;
    orrery_status status;

    if (!cli_open(&cli, options))
        return 2;
    for (;;) {
        status = ask_all(&cli);
        if (!orrery_failed(status) || !may_pass(status) || clock_us() >= until)
            break;
        usleep(ASK_AGAIN_US);
    }
    if (orrery_failed(status))
        cli_tell(&cli, status, NULL);
    cli_close(&cli);
    return orrery_failed(status) ? 1 : 0;
}
