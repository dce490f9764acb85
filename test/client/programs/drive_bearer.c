/*
 * test/client/programs/drive_bearer.c - a client whose tokens an identity provider signs: test/client/bearer starts it.
 * usage: drive_bearer ENDPOINT CONTAINER. Each line of its input is a token; each line that it prints tells how a write, a
 * read and a query ended with it, and how often it was asked for.
 */
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct provider {
    const char *token;
    int asked;
};

static orrery_status give(void *context, char **token, int64_t *ends_unix_seconds)
{
    struct provider *provider = context;

    provider->asked++;
    *token = strdup(provider->token);
    *ends_unix_seconds = INT64_C(1) << 40;
    return *token ? ORRERY_OK : ORRERY_ENOMEM;
}

static orrery_status query(orrery_client *client, const char *container)
{
    orrery_query *cursor = NULL;
    orrery_status status =
        orrery_query_open(client, container, "SELECT VALUE COUNT(1) FROM c", NULL, 0, NULL, NULL, &cursor);

    while (status == ORRERY_OK || status == ORRERY_ROW)
        status = orrery_query_step(cursor);
    orrery_query_close(cursor);
    return status;
}

static int try(const char *endpoint, const char *container, const char *token)
{
    struct provider provider = { .token = token };
    orrery_settings settings = {
        .size = sizeof(settings), .endpoint = endpoint, .bearer_token = give, .bearer_context = &provider
    };
    orrery_key key = orrery_key_text("1");
    orrery_client *client = NULL;
    orrery_status wrote, read;

    if (orrery_open(&settings, &client) != ORRERY_OK)
        return 1;
    wrote =
        orrery_item_upsert(client, container, "{\"id\":\"1\",\"pk\":\"1\"}", ORRERY_TEXT, &key, NULL, NULL);
    read = orrery_item_read(client, container, "1", &key, NULL, NULL);
    printf("%d %d %d %d\n", (int)wrote, (int)read, (int)query(client, container), provider.asked);
    orrery_close(client);
    return 0;
}

int main(int argc, char **argv)
{
    char line[8192];
    int failed = argc < 3;

    while (!failed && fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        failed = try(argv[1], argv[2], line);
    }
    return failed;
}
