/*
 * test/unit/route/odd_paths_test.c - every shape of the route table with everything that a stranger can write into it.
 * Owners that are missing, segments in odd encodings, every method and marker, every kind of key and token. The
 * server may refuse or do what was asked; it may neither end nor answer 5xx.
 */
#include "base/encode.h"
#include "client.h"
#include "issuer.h"
#include "route/table.h"

#define PRIMARY auth_emulator_key

static const char *const permissions[] = {
    "{'id':'db_all','permissionMode':'All','resource':'dbs/d'}",
    "{'id':'db_read','permissionMode':'Read','resource':'dbs/d'}",
    "{'id':'all','permissionMode':'All','resource':'dbs/d/colls/c'}",
    "{'id':'read','permissionMode':'Read','resource':'dbs/d/colls/c'}",
    "{'id':'key','permissionMode':'All','resource':'dbs/d/colls/c','resourcePartitionKey':['a']}",
    "{'id':'item','permissionMode':'All','resource':'dbs/d/colls/c/docs/1'}",
    "{'id':'script','permissionMode':'All','resource':'dbs/d/colls/c/sprocs/1'}",
};
enum { TOKENS = sizeof(permissions) / sizeof(permissions[0]), TOKEN_BYTES = 400 };

static const char *const keys[] = { PRIMARY, CLIENT_SECONDARY_KEY, CLIENT_PRIMARY_READONLY_KEY,
                                    CLIENT_READONLY_KEY, NULL };
enum { KEYS = sizeof(keys) / sizeof(keys[0]), SENDERS = KEYS + TOKENS + 1 }; /* the last has a bearer token */

/* The first fifteen are put in the place of a segment, whatever it was. The others are done to it. */
static const char *const replaced[] = {
    "",       "%2F",    "%2f",       "%252F",    "%00", "..",  ".",       "%2e%2e",
    "%c0%af", "%ff%fe", "%ed%a0%80", "\xff\xfe", "%",   "%zz", "missing",
};
enum { REPLACED = sizeof(replaced) / sizeof(replaced[0]), ODDITIES = REPLACED + 7 };

struct world {
    struct client client;
    char token[TOKENS][TOKEN_BYTES];
    struct op bearer; /* whose memory the bearer's token lies in */
    struct slice authorization;
    char target[4096];
    size_t sent, by_class[6];
};

/* A user has one permission for each resource, so there is a user for each permission. */
static void fill_token(struct world *world, size_t which)
{
    struct client *client = &world->client;
    char user[40], target[60];
    struct buf token;

    snprintf(user, sizeof(user), "{'id':'u%zu'}", which);
    snprintf(target, sizeof(target), "/dbs/d/users/u%zu/permissions", which);
    CHECK(client_send(client, METHOD_POST, "/dbs/d/users", user) / 100 == 2);
    CHECK(client_send(client, METHOD_POST, target, permissions[which]) / 100 == 2);
    buf_init(&token, &client->keep.arena);
    percent_encode(&token, json_string(client_member(client, "_token")));
    REQUIRE(token.size > 0 && token.size < TOKEN_BYTES);
    memcpy(world->token[which], token.data, token.size);
    world->token[which][token.size] = '\0';
}

/* What the shapes' ids lead to. Whatever of it was deleted is made anew; the rest says that it is there. */
static void fill(struct world *world)
{
    static const struct {
        const char *target, *body;
    } made[] = {
        { "/dbs", "{'id':'d'}" },
        { "/dbs/d/colls", "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}" },
        { "/dbs/d/colls/c/docs", "{'id':'1','pk':'a'}" },
        { "/dbs/d/colls/c/docs/1/attachments", "{'id':'1','contentType':'a/b','media':'m'}" },
        { "/dbs/d/colls/c/sprocs", "{'id':'1','body':'function f() {}'}" },
        { "/dbs/d/colls/c/triggers", "{'id':'1','body':'f','triggerType':'Pre','triggerOperation':'All'}" },
        { "/dbs/d/colls/c/udfs", "{'id':'1','body':'function f() {}'}" },
    };
    struct client *client = &world->client;

    client_clear(client);
    client_header(client, HEADER_PARTITION_KEY, "['a']");
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
        CHECK(client_send(client, METHOD_POST, made[i].target, made[i].body) / 100 != 5);
    client_header(client, HEADER_IS_UPSERT, "true");
    for (size_t i = 0; i < TOKENS; i++)
        fill_token(world, i);
}

/* Puts one segment into the target, odd or as it is. */
static void add_segment(struct buf *out, const char *segment, size_t size, size_t oddity)
{
    struct slice plain = slice_make(segment, size);

    if (oddity < REPLACED) {
        buf_text(out, replaced[oddity]);
        return;
    }
    switch (oddity - REPLACED) {
    case 0: /* the next type and id seem to be part of this segment */
        buf_printf(out, "%.*s%%2Fx", SLICE_ARGS(plain));
        break;
    case 1:
        buf_printf(out, "%.*s%%2Fx%%2Fdocs", SLICE_ARGS(plain));
        break;
    case 2:
        buf_printf(out, "%.*s%%2fx%%2fpermissions%%2fx", SLICE_ARGS(plain));
        break;
    case 3: /* every byte is encoded, so that it means the same */
        for (size_t i = 0; i < size; i++)
            buf_printf(out, "%%%02x", (unsigned char)segment[i]);
        break;
    case 4:
        buf_printf(out, "%.*s%%00", SLICE_ARGS(plain));
        break;
    case 5: /* longer than any id */
        for (size_t i = 0; i < 1100; i++)
            buf_byte(out, 'a');
        break;
    default:
        buf_slice(out, plain);
    }
}

/* dbs/x/colls to /dbs/d/colls, with segment number `at` odd. */
static const char *target_of(struct world *world, const char *shape, size_t at, size_t oddity)
{
    const char *ids[] = { "d", strstr(shape, "users") ? "u0" : "c",
                          strstr(shape, "permissions") ? "db_all" : "1", "1" };
    struct op *op = &world->client.keep;
    struct buf out;
    size_t index = 0;

    buf_init(&out, &op->arena);
    for (const char *end; *shape; shape = *end ? end + 1 : end, index++) {
        end = strchrnul(shape, '/');
        buf_byte(&out, '/');
        if (index % 2)
            add_segment(&out, ids[index / 2], strlen(ids[index / 2]), index == at ? oddity : ODDITIES);
        else
            add_segment(&out, shape, (size_t)(end - shape), index == at ? oddity : ODDITIES);
    }
    CHECK(out.size < sizeof(world->target));
    memcpy(world->target, buf_as_slice(&out).data, out.size);
    world->target[out.size] = '\0';
    return world->target;
}

static void sign_as(struct world *world, size_t sender)
{
    struct client *client = &world->client;

    client_clear(client);
    client_header(client, HEADER_PARTITION_KEY, "['a']");
    if (sender == SENDERS - 1)
        client->header[HEADER_AUTHORIZATION] = world->authorization;
    else if (sender >= KEYS)
        client->header[HEADER_AUTHORIZATION] = slice_of(world->token[sender - KEYS]);
    else if (keys[sender])
        client->key = keys[sender];
    else
        client->unsigned_request = true;
}

static void send_one(struct world *world, enum method method, enum header_id marker, size_t sender)
{
    struct client *client = &world->client;
    int status;

    sign_as(world, sender);
    if (marker != HEADER_COUNT)
        client_header(client, marker, "true");
    status = client_send(client, method, world->target, "{'id':'1','pk':'a','query':'SELECT * FROM c'}");
    world->sent++;
    world->by_class[status / 100]++;
    if (status >= 500 && status != 501) {
        printf("    %d: method %d, marker %d, sender %zu\n", status, method, marker, sender);
        test_failed(__FILE__, __LINE__, world->target);
    }
    if (status < 300 && method == METHOD_DELETE)
        fill(world);
}

/* Tries every method, and a POST with every marker. */
static void send_all(struct world *world, size_t sender)
{
    static const enum header_id markers[] = { HEADER_IS_QUERY_PLAN, HEADER_IS_BATCH, HEADER_IS_QUERY,
                                              HEADER_IS_UPSERT };

    for (int method = METHOD_GET; method <= METHOD_OTHER; method++)
        send_one(world, (enum method)method, HEADER_COUNT, sender);
    for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++)
        send_one(world, METHOD_POST, markers[i], sender);
}

static bool is_first_of_its_shape(size_t route)
{
    for (size_t i = 0; i < route; i++)
        if (strcmp(routes[i].shape, routes[route].shape) == 0)
            return false;
    return true;
}

static size_t count_segments(const char *shape)
{
    size_t count = *shape ? 1 : 0;

    for (; *shape; shape++)
        count += *shape == '/';
    return count;
}

static void open_world(struct world *world)
{
    *world = (struct world){ 0 };
    client_open(&world->client);
    op_init(&world->bearer, world->client.rig.op->env, SIZE_MAX);
    world->authorization =
        issuer_authorization(&world->bearer, issuer_emulator_token(&world->bearer, auth_emulator_key,
                                                                   "{'sub':'a','exp':9000000000}"));
    fill(world);
}

static void close_world(struct world *world)
{
    op_free(&world->bearer);
    client_close(&world->client);
}

TEST_OF_SIZE(no_path_in_any_encoding_by_anybody_ends_the_server_or_gets_a_5xx)
{
    static struct world world;

    open_world(&world);
    for (size_t i = 0; i < route_count; i++)
        for (size_t at = 0; is_first_of_its_shape(i) && at < count_segments(routes[i].shape); at++)
            for (size_t oddity = 0; oddity < ODDITIES; oddity++) {
                target_of(&world, routes[i].shape, at, oddity);
                for (size_t sender = 0; sender < SENDERS; sender++)
                    send_all(&world, sender);
                op_begin(&world.client.keep, INT64_MAX / 2);
            }
    CHECK(world.sent > 100000);
    for (int class = 2; class <= 4; class += 2) /* somebody was let in, and somebody was not */
        CHECK(world.by_class[class] > 1000);
    close_world(&world);
}

/* As the paths that once led into an operation without its owner. */
TEST(an_encoded_slash_in_the_place_of_a_type_is_an_unknown_path)
{
    static const char *const targets[] = {
        "/dbs%2Fx",
        "/dbs%2fd",
        "/dbs/d/colls%2Fx",
        "/dbs/d/colls%2Fx%2Fdocs",
        "/dbs/d/colls%2Fc%2Fdocs/1",
        "/%64bs/d",
        "/dbs/d/%63olls/c",
        "/dbs/d/users%2Fx%2Fpermissions",
        "/dbs/d/users%2Fu0%2Fpermissions/db_all",
        "/dbs/d/colls/c%2Fdocs%2F1/sprocs%2Fx",
        "/offers%2Fx",
        "/media%2Fx",
    };
    static struct world world;

    open_world(&world);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
        for (size_t sender = 0; sender < SENDERS; sender++) {
            int expected = keys[sender < KEYS ? sender : 0] ? 404 : 401;

            sign_as(&world, sender);
            if (client_send(&world.client, METHOD_GET, targets[i], NULL) != expected)
                test_failed(__FILE__, __LINE__, targets[i]);
        }
    close_world(&world);
}
