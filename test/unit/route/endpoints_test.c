/* test/unit/route/endpoints_test.c - our own paths: backups, readiness, metrics, the explorer. */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "client.h"
#include "route/assets.h"

#define DOCS "/dbs/d/colls/c/docs"

/* --- backups --- */

static enum status keep_path(void *context, struct op *op, struct slice name, struct slice *made)
{
    struct slice *kept = context;

    *kept = slice_make(name.data, name.size);
    *made = slice_of("/where/b");
    return slice_is(name, "/full") ? op_fail(op, ST_UNAVAILABLE, "no space") : ST_OK;
}

TEST(a_backup_wants_a_key_that_may_write_and_a_path)
{
    static const char *const bad[] = {
        "{}", "[]", "{'directory':1}", "{'directory':''}", "{'directory':'/a\\u0000b'}", "{"
    };
    struct slice kept = { 0 };
    struct client client;

    client_open_with(&client, keep_path, &kept);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (client_send(&client, METHOD_POST, "/_orrery/backup", bad[i]) != 400 || kept.data)
            test_failed(__FILE__, __LINE__, bad[i]);
    client.key = CLIENT_READONLY_KEY;
    CHECK(client_send(&client, METHOD_POST, "/_orrery/backup", "{'directory':'/b'}") == 401 && !kept.data);
    client.key = auth_emulator_key;
    client.unsigned_request = true;
    CHECK(client_send(&client, METHOD_POST, "/_orrery/backup", "{'directory':'/b'}") == 401 && !kept.data);
    client.unsigned_request = false;
    CHECK(client_send(&client, METHOD_POST, "/_orrery/backup", "{'directory':'/b'}") == 201);
    CHECK(slice_is(kept, "/b") && slice_is(json_string(client_member(&client, "directory")), "/where/b"));
    CHECK(client_send(&client, METHOD_POST, "/_orrery/backup", "{'directory':'/full'}") == 503);
    CHECK(client_told(&client, "ServiceUnavailable", "no space"));
    CHECK(client_send(&client, METHOD_GET, "/_orrery/backup", NULL) == 404);
    client_close(&client);
}

TEST(a_server_that_keeps_nothing_on_disk_has_nothing_to_back_up)
{
    struct client client;

    client_open(&client);
    CHECK(client_send(&client, METHOD_POST, "/_orrery/backup", "{'directory':'/b'}") == 501);
    client_close(&client);
}

/* --- endpoints without a key --- */

TEST(readiness_and_metrics_need_no_signature_but_a_name_we_answer_to)
{
    static const char *const targets[] = { "/_orrery/ready", "/_orrery/metrics" };
    struct client client;

    client_open(&client);
    client.unsigned_request = true;
    for (size_t i = 0; i < 2; i++) {
        client_header(&client, HEADER_HOST, "localhost");
        CHECK(client_send(&client, METHOD_GET, targets[i], NULL) == 200 &&
              client.exchange.answer.body.size > 0);
        client_header(&client, HEADER_HOST, "evil.example");
        CHECK(client_send(&client, METHOD_GET, targets[i], NULL) == 403);
    }
    client_clear(&client);
    client.unsigned_request = true;
    CHECK(client_send(&client, METHOD_GET, "/_explorer/emulator.pem", NULL) == 404 && client.was_handed_on);
    CHECK(client_send(&client, METHOD_POST, "/_orrery/ready", NULL) == 401);
    client_close(&client);
}

/* --- the figures of now --- */

TEST(the_figures_of_now_are_for_any_key_of_the_account_and_for_nobody_else)
{
    struct client client;

    client_open_filled(&client);
    client_clear(&client);
    CHECK(client_send(&client, METHOD_GET, "/_orrery/now", NULL) == 200 && client.was_handed_on);
    CHECK(json_int(client_member(&client, "since")) == 0);
    CHECK(json_kind(client_member(&client, "operations")) == JSON_ARRAY);
    client.key = CLIENT_READONLY_KEY;
    CHECK(client_send(&client, METHOD_GET, "/_orrery/now/17", NULL) == 200);
    CHECK(json_int(client_member(&client, "since")) == 17);
    CHECK(client_send(&client, METHOD_GET, "/_orrery/now/x", NULL) == 400);
    CHECK(client_send(&client, METHOD_GET, "/_orrery/now/99999999999999999999", NULL) == 400);
    CHECK(client_send(&client, METHOD_GET, "/_orrery/now/", NULL) == 404);
    client.unsigned_request = true;
    CHECK(client_send(&client, METHOD_GET, "/_orrery/now", NULL) == 401);
    client_close(&client);
}

/* --- the explorer --- */

static bool is_packed(struct slice body)
{
    return body.size > 2 && (unsigned char)body.data[0] == 0x1f && (unsigned char)body.data[1] == 0x8b;
}

TEST(every_file_of_the_explorer_is_sent_packed_with_its_policy_and_once_only)
{
    struct client client;
    char target[256];

    client_open(&client);
    CHECK(asset_count > 30);
    for (size_t i = 0; i < asset_count; i++) {
        snprintf(target, sizeof(target), "/_explorer/%s", assets[i].path);
        client_clear(&client);
        client.unsigned_request = true;
        CHECK(client_send(&client, METHOD_GET, target, NULL) == 200);
        CHECK(is_packed(buf_as_slice(&client.exchange.answer.body)));
        CHECK(slice_is(client_answer(&client, "content-type"), assets[i].type));
        CHECK(slice_is(client_answer(&client, "etag"), assets[i].etag));
        CHECK(slice_starts_with(client_answer(&client, "content-security-policy"), "default-src 'none'; "));
        client_header(&client, HEADER_IF_NONE_MATCH, assets[i].etag);
        CHECK(client_send(&client, METHOD_GET, target, NULL) == 304);
        CHECK(client.exchange.answer.body.size == 0);
    }
    client_close(&client);
}

TEST(the_explorers_folder_is_its_page_and_what_it_lacks_is_404)
{
    struct client client;

    client_open(&client);
    client.unsigned_request = true;
    CHECK(client_send(&client, METHOD_GET, "/_explorer/", NULL) == 200);
    CHECK(client_send(&client, METHOD_GET, "/_explorer/index.html?from=link", NULL) == 200);
    CHECK(client_send(&client, METHOD_HEAD, "/_explorer/index.html", NULL) == 200);
    CHECK(client_send(&client, METHOD_GET, "/_explorer", NULL) == 308);
    CHECK(slice_is(client_answer(&client, "location"), "/_explorer/"));
    CHECK(client_send(&client, METHOD_GET, "/_explorer/none.js", NULL) == 404);
    CHECK(client_send(&client, METHOD_GET, "/_explorer/../_explorer/main.js", NULL) == 404);
    CHECK(client_send(&client, METHOD_POST, "/_explorer/main.js", NULL) == 401);
    client_header(&client, HEADER_HOST, "evil.example");
    CHECK(client_send(&client, METHOD_GET, "/_explorer/", NULL) == 403);
    client_close(&client);
}

TEST(a_store_that_takes_no_writes_is_not_ready)
{
    struct client client;

    client_open(&client);
    faulty_fail(&client.rig.controls, FAULTY_WRITE, 1);
    client.rig.controls.reopen_failures = 1;
    CHECK(client_send(&client, METHOD_POST, "/dbs", "{'id':'d'}") == 503);
    CHECK(client_send(&client, METHOD_GET, "/_orrery/ready", NULL) == 503);
    CHECK(client_told(&client, "ServiceUnavailable", "takes no writes"));
    CHECK(client_answer(&client, "x-ms-activity-id").size == ACTIVITY_ID_SIZE);
    client_close(&client);
}

/* name{labels} value, or a comment: what Prometheus can read. */
static bool is_metric_line(const char *line, size_t size)
{
    char copy[300], *space, *end, *brace;

    if (size >= sizeof(copy))
        return false;
    memcpy(copy, line, size);
    copy[size] = '\0';
    if (strncmp(copy, "# TYPE orrery_", 14) == 0)
        return strstr(copy, " counter") || strstr(copy, " gauge") || strstr(copy, " histogram");
    space = strrchr(copy, ' ');
    if (!space || strncmp(copy, "orrery_", 7) != 0)
        return false;
    brace = strchr(copy, '{');
    if (brace && space[-1] != '}')
        return false;
    strtod(space + 1, &end);
    return end > space + 1 && !*end;
}

TEST(every_line_of_the_metrics_can_be_read)
{
    const char *at, *end;
    size_t lines = 0;
    struct client client;

    client_open_filled(&client);
    CHECK(client_send(&client, METHOD_GET, DOCS "/none", NULL) == 404);
    CHECK(client_send(&client, METHOD_GET, "/nothing", NULL) == 404);
    CHECK(client_send(&client, METHOD_GET, "/_orrery/metrics", NULL) == 200);
    at = arena_text(&client.exchange.op.arena, buf_as_slice(&client.exchange.answer.body));
    CHECK(strstr(at, "orrery_requests_total{operation=\"document_create\",status=\"2xx\"} 1\n"));
    CHECK(strstr(at, "orrery_requests_total{operation=\"document_read\",status=\"4xx\"} 1\n"));
    CHECK(strstr(at, "orrery_requests_total{operation=\"none\",status=\"4xx\"} 1\n"));
    CHECK(strstr(at, "orrery_request_seconds_count{operation=\"document_create\"} 1\n"));
    CHECK(strstr(at, "orrery_other 1\n"));
    for (; *at && (end = strchr(at, '\n')); at = end + 1, lines++)
        CHECK(is_metric_line(at, (size_t)(end - at)));
    CHECK(!*at && lines > 40);
    client_close(&client);
}
