/* test/unit/route/audit_test.c - what the audit file tells, and what it does not. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/encode.h"
#include "client.h"
#include "issuer.h"

static const char *audit_path(void)
{
    static char path[400];

    snprintf(path, sizeof(path), "%s/audit", test_directory());
    return path;
}

/* The file's lines, parsed; each must be an object. */
static size_t read_lines(const char *path, struct json *lines, size_t max)
{
    static char text[AUDIT_LINE_BYTES_MAX];
    FILE *file = fopen(path, "r");
    size_t count = 0;

    CHECK(file != NULL);
    for (; file && fgets(text, sizeof(text), file); count++) {
        struct json line = json_undefined;

        CHECK(json_parse(test_op(), slice_of(text), &line) == ST_OK && json_kind(line) == JSON_OBJECT);
        if (count < max)
            lines[count] = line;
    }
    if (file)
        fclose(file);
    return count;
}

static bool says(struct json line, const char *name, const char *text)
{
    struct json value = json_get(line, name);

    if (!text)
        return json_kind(value) == JSON_NULL;
    return json_kind(value) == JSON_STRING && slice_is(json_string(value), text);
}

TEST(a_refusal_and_a_change_are_told_with_who_what_and_how_it_ended)
{
    struct json lines[8];
    struct client client;

    client_open_audited(&client, audit_path());
    CHECK(client_send(&client, METHOD_POST, "/dbs", "{'id':'d'}") == 201);
    client.key = CLIENT_READONLY_KEY;
    CHECK(client_send(&client, METHOD_DELETE, "/dbs/d", NULL) == 401);
    client.unsigned_request = true;
    CHECK(client_send(&client, METHOD_GET, "/dbs/a%22b\"\\\x01\xff", NULL) == 401);
    REQUIRE(read_lines(audit_path(), lines, 8) == 3);
    CHECK(says(lines[0], "event", "changed") && says(lines[0], "by", "key") &&
          says(lines[0], "principal", "primary"));
    CHECK(says(lines[0], "method", "POST") && says(lines[0], "path", "/dbs") &&
          says(lines[0], "operation", "database_create") && says(lines[0], "peer", "192.0.2.7:50312"));
    CHECK(json_int(json_get(lines[0], "status")) == 201 && json_int(json_get(lines[0], "subStatus")) == 0);
    CHECK(json_string(json_get(lines[0], "activityId")).size == ACTIVITY_ID_SIZE &&
          json_string(json_get(lines[0], "time")).size == sizeof("2026-11-16T12:00:00.000Z") - 1);
    CHECK(says(lines[1], "event", "refused") && says(lines[1], "principal", NULL) &&
          json_int(json_get(lines[1], "status")) == 401);
    CHECK(says(lines[1], "by", "key") && says(lines[2], "by", "nobody"));
    CHECK(says(lines[2], "path", "/dbs/a%22b%22%5C%01%FF"));
    client_close(&client);
}

TEST(neither_reads_nor_items_nor_failures_of_other_kinds_are_told)
{
    struct json lines[4];
    struct client client;

    client_open_audited(&client, audit_path());
    client_fill(&client);
    CHECK(client_send(&client, METHOD_GET, "/dbs/d/colls/c/docs/1", NULL) == 200);
    CHECK(client_send(&client, METHOD_DELETE, "/dbs/d/colls/c/docs/1", NULL) == 204);
    CHECK(client_send(&client, METHOD_DELETE, "/dbs/none", NULL) == 404);
    CHECK(client_send(&client, METHOD_POST, "/dbs", "{'id':'d'}") == 409);
    CHECK(read_lines(audit_path(), lines, 4) == 2); /* the database and the container */
    client_close(&client);
}

TEST(bearers_are_told_by_their_names)
{
    struct json lines[8];
    struct buf token;
    struct client client;
    size_t count;

    client_open_audited(&client, audit_path());
    client_fill(&client);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/users", "{'id':'ada'}") == 201);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/users/ada/permissions",
                      "{'id':'p','permissionMode':'Read','resource':'dbs/d/colls/c'}") == 201);
    buf_init(&token, &client.keep.arena);
    percent_encode(&token, json_string(client_member(&client, "_token")));
    client.header[HEADER_AUTHORIZATION] = buf_as_slice(&token);
    CHECK(client_send(&client, METHOD_DELETE, "/dbs/d/colls/c", NULL) == 403);
    client.header[HEADER_AUTHORIZATION] =
        issuer_authorization(&client.keep, issuer_emulator_token(&client.keep, auth_emulator_key,
                                                                 "{'sub':'bob','exp':9000000000}"));
    CHECK(client_send(&client, METHOD_DELETE, "/dbs/d/colls/c", NULL) == 403);
    count = read_lines(audit_path(), lines, 8);
    REQUIRE(count == 6);
    CHECK(says(lines[4], "by", "resource token") && says(lines[4], "principal", "ada"));
    CHECK(says(lines[5], "by", "bearer token") && says(lines[5], "principal", "bob") &&
          json_int(json_get(lines[5], "subStatus")) == 5300);
    client_close(&client);
}

/* Otherwise whoever may not ask could fill the disk. */
TEST(lines_are_short_and_refusals_beyond_a_number_in_a_second_are_counted)
{
    static struct json lines[AUDIT_REFUSALS_MAX + 8];
    static char target[10000] = "/";
    struct client client;
    size_t count;

    client_open_audited(&client, audit_path());
    client.unsigned_request = true;
    memset(target + 1, 0xfe, sizeof(target) - 2);
    for (size_t i = 0; i < AUDIT_REFUSALS_MAX + 5; i++)
        CHECK(client_send(&client, METHOD_GET, i ? "/dbs" : target, NULL) == 401);
    CHECK(read_lines(audit_path(), lines, AUDIT_REFUSALS_MAX + 8) == AUDIT_REFUSALS_MAX);
    env_advance_ms(client.rig.op->env, 1000);
    CHECK(client_send(&client, METHOD_GET, "/dbs", NULL) == 401);
    count = read_lines(audit_path(), lines, AUDIT_REFUSALS_MAX + 8);
    REQUIRE(count == AUDIT_REFUSALS_MAX + 2);
    CHECK(says(lines[AUDIT_REFUSALS_MAX], "event", "refusals not told") &&
          json_int(json_get(lines[AUDIT_REFUSALS_MAX], "count")) == 5);
    client_close(&client);
}

TEST(a_file_that_was_moved_away_is_made_anew_and_is_for_its_owner_only)
{
    struct json lines[4];
    struct stat info;
    char moved[402];
    struct client client;

    client_open_audited(&client, audit_path());
    snprintf(moved, sizeof(moved), "%s.1", audit_path());
    CHECK(client_send(&client, METHOD_POST, "/dbs", "{'id':'d'}") == 201);
    audit_look(client.audit);
    CHECK(rename(audit_path(), moved) == 0);
    CHECK(client_send(&client, METHOD_POST, "/dbs", "{'id':'e'}") == 201);
    audit_look(client.audit);
    CHECK(client_send(&client, METHOD_POST, "/dbs", "{'id':'f'}") == 201);
    audit_note(client.audit, client.rig.op, "keys", "the \"file\"");
    CHECK(read_lines(moved, lines, 4) == 2);
    REQUIRE(read_lines(audit_path(), lines, 4) == 2);
    CHECK(says(lines[1], "event", "keys") && says(lines[1], "what", "the %22file%22"));
    CHECK(stat(audit_path(), &info) == 0 && (info.st_mode & 0777) == 0600);
    client_close(&client);
}

TEST(an_audit_file_that_cannot_be_written_is_told_at_the_start)
{
    struct audit *audit = NULL;

    CHECK(audit_open(test_op(), "/nowhere/audit", &audit) == ST_BAD_REQUEST && !audit);
    CHECK(strstr(test_op()->error, "/nowhere/audit"));
    audit_close(NULL);
}
