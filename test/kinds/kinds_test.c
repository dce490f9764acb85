/* test/kinds/kinds_test.c - every kind of small resource, three made-up ones among them: its row is all that it needs. */
#include "catalog/child.h"
#include "client.h"
#include "resource/child_kind.h"
#include "resource/permission.h"
#include "resource/resource.h"
#include "route/table.h"

/* --- rows --- */

TEST(the_made_up_rows_are_in_the_table)
{
    CHECK(kind_of_path(slice_of("moons")) == &kinds[kind_count - 3]);
    CHECK(kind_of_path(slice_of("comets")) == &kinds[kind_count - 2]);
    CHECK(kind_of_type(RID_TYPE_RING) == &kinds[kind_count - 1]);
}

TEST(no_two_rows_share_what_tells_them_apart)
{
    for (size_t i = 0; i < kind_count; i++)
        for (size_t k = 0; k < i; k++)
            if ((kinds[i].below == kinds[k].below && kinds[i].mark == kinds[k].mark) ||
                strcmp(kinds[i].path, kinds[k].path) == 0 || strcmp(kinds[i].name, kinds[k].name) == 0 ||
                strcmp(kinds[i].collective, kinds[k].collective) == 0)
                test_failed(__FILE__, __LINE__, kinds[i].name);
}

/* Of what a mark may be. */
static bool fits(const struct kind *kind)
{
    if (kind->below == RID_TYPE_DATABASE)
        return kind->mark > 0 || (kind->mark == RID_UNMARKED && kind->type == RID_TYPE_USER);
    return kind->mark >= 0 && kind->mark < 16 &&
           (kind->below == RID_TYPE_USER || (kind->mark != RID_DOCUMENT && kind->mark != RID_RANGE));
}

TEST(every_mark_fits_into_its_rid)
{
    for (size_t i = 0; i < kind_count; i++)
        if (!fits(&kinds[i]))
            test_failed(__FILE__, __LINE__, kinds[i].name);
}

static struct rid some_owner(enum rid_type type)
{
    struct rid database = rid_database(1 + (uint32_t)test_random() / 2);

    if (type == RID_TYPE_CONTAINER)
        return rid_container(&database, (uint32_t)test_random() >> 1);
    return type == RID_TYPE_USER ? rid_make(RID_TYPE_USER, &database, 1 + test_random() % INT32_MAX)
                                 : database;
}

TEST(a_rid_tells_its_kind_and_its_number_and_begins_with_its_owners)
{
    for (size_t i = 0; i < 100 * kind_count; i++) {
        const struct kind *kind = &kinds[i / 100];
        struct rid owner = some_owner(kind->below), back;
        uint64_t number = 1 + test_random() % INT32_MAX;
        struct rid rid = rid_make(kind->type, &owner, number);
        struct buf text;

        buf_init(&text, &test_op()->arena);
        rid_print(&text, &rid);
        if (rid_type(&rid) != kind->type || rid_number(&rid) != number ||
            !rid_parse(buf_as_slice(&text), &back) || !rid_equal(&rid, &back) ||
            memcmp(rid.bytes, owner.bytes, owner.size) != 0)
            test_failed(__FILE__, __LINE__, kind->name);
    }
}

/* --- routes --- */

static const struct {
    const char *what;
    enum method method;
    enum marker marker;
    bool is_list;
    operation *run;
    unsigned flags;
} seven[] = {
    { "create", METHOD_POST, MARK_NONE, true, child_create, 0 },
    { "upsert", METHOD_POST, MARK_UPSERT, true, child_upsert, 0 },
    { "query", METHOD_POST, MARK_QUERY, true, child_query, READS },
    { "list", METHOD_GET, MARK_NONE, true, child_list, 0 },
    { "read", METHOD_GET, MARK_NONE, false, child_read, RUN_INLINE },
    { "replace", METHOD_PUT, MARK_NONE, false, child_replace, 0 },
    { "delete", METHOD_DELETE, MARK_NONE, false, child_delete, 0 },
};

static const char *shape_of(const struct kind *kind, bool is_list)
{
    static char shape[100];

    snprintf(shape, sizeof(shape), "dbs/x%s/%s%s",
             kind->below == RID_TYPE_CONTAINER ? "/colls/x"
             : kind->below == RID_TYPE_USER    ? "/users/x"
                                               : "",
             kind->path, is_list ? "" : "/x");
    return shape;
}

static bool has_route(const struct kind *kind, size_t which)
{
    const struct route *route;
    char name[100];
    unsigned flags = seven[which].flags;
    bool known;

    snprintf(name, sizeof(name), "%s_%s", kind->name, seven[which].what);
    route = route_find(seven[which].method, seven[which].marker,
                       slice_of(shape_of(kind, seven[which].is_list)), &known);
    if (route && !route_writes(route) && kind->flags & KIND_TELLS_TOKENS)
        flags |= TELLS_TOKENS;
    return known && route && strcmp(route->name, name) == 0 && route->run == seven[which].run &&
           route->flags == flags;
}

TEST(every_kind_has_seven_routes)
{
    for (size_t i = 0; i < 7 * kind_count; i++)
        if (!has_route(&kinds[i / 7], i % 7))
            test_failed(__FILE__, __LINE__, kinds[i / 7].name);
}

TEST(a_kind_has_no_routes_but_the_seven_and_procedures_are_executed)
{
    size_t found = 0;

    for (size_t i = 0; i < route_count; i++)
        for (size_t k = 0; k < kind_count; k++)
            found += strcmp(routes[i].shape, shape_of(&kinds[k], true)) == 0 ||
                     strcmp(routes[i].shape, shape_of(&kinds[k], false)) == 0;
    CHECK(found == 7 * kind_count + 1);
}

/* --- requests --- */

/* The database d with the container c and the user u. */
static void open_owners(struct client *client)
{
    client_open_filled(client);
    CHECK(client_send(client, METHOD_POST, "/dbs/d/users", "{'id':'u'}") == 201);
}

static const char *owner_path(const struct kind *kind)
{
    if (kind->below == RID_TYPE_DATABASE)
        return "/dbs/d";
    return kind->below == RID_TYPE_USER ? "/dbs/d/users/u" : "/dbs/d/colls/c";
}

/* Of the list; with a name, of one. */
static const char *path_of(struct client *client, const struct kind *kind, const char *name)
{
    struct buf path;

    buf_init(&path, &client->keep.arena);
    buf_printf(&path, "%s/%s%s%s", owner_path(kind), kind->path, name ? "/" : "", name ? name : "");
    buf_byte(&path, '\0');
    return path.data;
}

/* One that has the property's form; the text of a permission leads to what it is for. */
static void print_value(struct buf *out, const struct child_property *property)
{
    switch (property->form) {
    case PROPERTY_STRING:
        buf_text(out, "'dbs/d/colls/c'");
        return;
    case PROPERTY_ONE_OF:
        buf_printf(out, "'%s'", property->values[0]);
        return;
    case PROPERTY_OBJECT:
        buf_text(out, "{'a':1}");
        return;
    case PROPERTY_ARRAY:
        buf_text(out, "['a']");
        return;
    }
}

/* With all properties but one, which may be NULL. */
static const char *body_without(struct client *client, const struct kind *kind,
                                const struct child_property *without)
{
    struct buf body;

    buf_init(&body, &client->keep.arena);
    buf_text(&body, "{'id':'k'");
    for (const struct child_property *at = child_properties(kind); at->name; at++) {
        if (at == without)
            continue;
        buf_printf(&body, ",'%s':", at->name);
        print_value(&body, at);
    }
    buf_text(&body, ",'_rid':'x','_tails':'x'}");
    buf_byte(&body, '\0');
    return body.data;
}

static int create(struct client *client, const struct kind *kind)
{
    return client_send(client, METHOD_POST, path_of(client, kind, NULL), body_without(client, kind, NULL));
}

/* Empty when the last answer has no such text. */
static struct slice text_of(struct client *client, const char *name)
{
    struct json member = client_member(client, name);

    return json_kind(member) == JSON_STRING ? json_string(member) : slice_of("");
}

static const char *rid_of_answer(struct client *client)
{
    return arena_text(&client->keep.arena, text_of(client, "_rid"));
}

static void print_self(struct buf *out, const struct kind *kind, struct rid rid)
{
    struct rid database = rid, owner = rid;

    database.size = RID_DATABASE_BYTES;
    owner.size = RID_CONTAINER_BYTES;
    buf_text(out, "dbs/");
    rid_print(out, &database);
    if (kind->below != RID_TYPE_DATABASE) {
        buf_text(out, kind->below == RID_TYPE_USER ? "/users/" : "/colls/");
        rid_print(out, &owner);
    }
    buf_printf(out, "/%s/", kind->path);
    rid_print(out, &rid);
    buf_byte(out, '/');
}

static bool is_of_kind(struct client *client, const struct kind *kind)
{
    struct buf self;
    struct rid rid;

    if (!rid_parse(text_of(client, "_rid"), &rid) || rid_type(&rid) != kind->type)
        return false;
    buf_init(&self, &client->keep.arena);
    print_self(&self, kind, rid);
    return slice_equal(text_of(client, "_self"), buf_as_slice(&self));
}

TEST(one_is_created_once_and_read_by_its_id_and_by_its_rid)
{
    for (size_t i = 0; i < kind_count; i++) {
        const struct kind *kind = &kinds[i];
        struct client client;
        const char *rid;

        open_owners(&client);
        CHECK(create(&client, kind) == 201 && is_of_kind(&client, kind));
        rid = rid_of_answer(&client);
        CHECK(create(&client, kind) == 409);
        CHECK(client_send(&client, METHOD_GET, path_of(&client, kind, "k"), NULL) == 200);
        CHECK(strcmp(rid_of_answer(&client), rid) == 0);
        CHECK(client_send(&client, METHOD_GET, path_of(&client, kind, rid), NULL) == 200);
        CHECK(slice_is(text_of(&client, "id"), "k"));
        CHECK(client_send(&client, METHOD_GET, path_of(&client, kind, "none"), NULL) == 404);
        client_close(&client);
    }
}

TEST(a_property_that_is_required_is_required_and_no_other)
{
    for (size_t i = 0; i < kind_count; i++) {
        const struct child_property *at = child_properties(&kinds[i]);
        struct client client;

        open_owners(&client);
        for (; at->name; at++) {
            int status = client_send(&client, METHOD_POST, path_of(&client, &kinds[i], NULL),
                                     body_without(&client, &kinds[i], at));

            if (status != (at->required ? 400 : 201))
                test_failed(__FILE__, __LINE__, at->name);
        }
        client_close(&client);
    }
}

TEST(what_the_service_adds_is_its_own_whatever_a_client_sends)
{
    for (size_t i = 0; i < kind_count; i++) {
        struct client client;
        struct slice added;

        open_owners(&client);
        CHECK(create(&client, &kinds[i]) == 201);
        CHECK(!slice_is(text_of(&client, "_rid"), "x"));
        if (kinds[i].adds[0] == '\0') {
            CHECK(json_kind(client_member(&client, "_tails")) == JSON_UNDEFINED);
        } else {
            added = text_of(&client, kinds[i].adds);
            CHECK(added.size == strlen(kinds[i].adds) && added.data[added.size - 1] == '/' &&
                  memcmp(added.data, kinds[i].adds + 1, added.size - 1) == 0);
        }
        client_close(&client);
    }
}

/* How many the feed of the last answer has by the id k. */
static size_t count_in_feed(struct client *client, const struct kind *kind)
{
    struct json feed = client_member(client, kind->collective);
    size_t count = 0;

    if (json_kind(feed) != JSON_ARRAY)
        return 0;
    for (struct json_iter i = json_iter(feed); json_next(&i);)
        count += slice_is(json_string(json_get(i.value, "id")), "k");
    return count;
}

TEST(it_is_listed_and_queried_under_its_collective_name)
{
    for (size_t i = 0; i < kind_count; i++) {
        const struct kind *kind = &kinds[i];
        struct client client;

        open_owners(&client);
        CHECK(create(&client, kind) == 201);
        CHECK(client_send(&client, METHOD_GET, path_of(&client, kind, NULL), NULL) == 200);
        CHECK(count_in_feed(&client, kind) == 1);
        client_header(&client, HEADER_IS_QUERY, "true");
        CHECK(client_send(&client, METHOD_POST, path_of(&client, kind, NULL),
                          "{'query':'SELECT * FROM r'}") == 200);
        CHECK(count_in_feed(&client, kind) == 1);
        client_close(&client);
    }
}

TEST(it_is_replaced_upserted_and_deleted)
{
    for (size_t i = 0; i < kind_count; i++) {
        const struct kind *kind = &kinds[i];
        struct client client;
        const char *body;

        open_owners(&client);
        body = body_without(&client, kind, NULL);
        client_header(&client, HEADER_IS_UPSERT, "true");
        CHECK(create(&client, kind) == 201);
        CHECK(create(&client, kind) == 200);
        client_header(&client, HEADER_IS_UPSERT, NULL);
        CHECK(client_send(&client, METHOD_PUT, path_of(&client, kind, "k"), body) == 200);
        CHECK(is_of_kind(&client, kind));
        CHECK(client_send(&client, METHOD_DELETE, path_of(&client, kind, "k"), NULL) == 204);
        CHECK(client_send(&client, METHOD_GET, path_of(&client, kind, "k"), NULL) == 404);
        client_close(&client);
    }
}

/* As a server does after a restart. */
static void reopen(struct client *client)
{
    rig_reopen(&client->rig);
    client->service.store = client->rig.store;
    client->service.catalog = client->rig.catalog;
    client->service.locks = client->rig.locks;
}

TEST(it_is_there_after_a_restart_and_goes_with_its_owner)
{
    for (size_t i = 0; i < kind_count; i++) {
        const struct kind *kind = &kinds[i];
        struct client client;
        struct rid rid;

        open_owners(&client);
        CHECK(create(&client, kind) == 201);
        CHECK(rid_parse(slice_of(rid_of_answer(&client)), &rid));
        reopen(&client);
        CHECK(client_send(&client, METHOD_GET, path_of(&client, kind, "k"), NULL) == 200);
        CHECK(is_of_kind(&client, kind));
        CHECK(client_send(&client, METHOD_DELETE, owner_path(kind), NULL) == 204);
        CHECK(!catalog_find_child_at(client.rig.catalog, &rid));
        reopen(&client);
        CHECK(!catalog_find_child_at(client.rig.catalog, &rid));
        client_close(&client);
    }
}

TEST(requests_are_counted_by_its_name)
{
    for (size_t i = 0; i < kind_count; i++) {
        struct client client;
        struct slice page;
        char line[100];

        open_owners(&client);
        CHECK(create(&client, &kinds[i]) == 201);
        CHECK(client_send(&client, METHOD_GET, "/_orrery/metrics", NULL) == 200);
        page = buf_as_slice(&client.exchange.answer.body);
        snprintf(line, sizeof(line), "orrery_requests_total{operation=\"%s_create\",status=\"2xx\"}",
                 kinds[i].name);
        CHECK(memmem(page.data, page.size, line, strlen(line)));
        client_close(&client);
    }
}

TEST(one_below_a_container_can_be_what_a_permission_is_for)
{
    for (size_t i = 0; i < kind_count; i++) {
        struct resource_link link;
        char text[100];

        snprintf(text, sizeof(text), "dbs/d/colls/c/%s/k", kinds[i].path);
        CHECK(resource_link_parse(slice_of(text), &link) == (kinds[i].below == RID_TYPE_CONTAINER));
    }
}
