/* cli/mapping.c - asks the server for the rows of a query over items that are sent along. */
#include <string.h>

#include "mapping.h"
#include "text.h"

orrery_response *mapping_run(const struct cli *cli, const char *link, const char *query,
                             const orrery_value *item, size_t count)
{
    struct text body = { 0 };
    orrery_response *answer = NULL;
    orrery_status status;

    text_puts(&body, "{\"container\":");
    text_json(&body, link, strlen(link));
    text_puts(&body, ",\"query\":");
    text_json(&body, query, strlen(query));
    text_puts(&body, ",\"items\":[");
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;

        if (orrery_value_print(item[i], &text, NULL) == ORRERY_OK)
            text_printf(&body, "%s%s", i ? "," : "", text);
        orrery_free(text);
    }
    text_puts(&body, "]}");
    status = orrery_create(cli->client, "_orrery/map", text_of(&body), body.size, NULL, &answer);
    text_free(&body);
    if (!orrery_failed(status))
        return answer;
    cli_tell(cli, status, query);
    orrery_response_free(answer);
    return NULL;
}
