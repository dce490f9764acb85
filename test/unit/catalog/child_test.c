/* test/unit/catalog/child_test.c - users, permissions, scripts, keys, offers: found, listed, changed, dropped, reopened. */
#include "base/limits.h"
#include "catalog/child.h"
#include "catalog/definition.h"
#include "keys/keys.h"
#include "rig.h"
#include "token/token.h"

#define CONTAINER_C "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}"

static struct slice rid_text(struct rig *rig, const struct rid *rid)
{
    struct buf text;

    buf_init(&text, &rig->op->arena);
    rid_print(&text, rid);
    return buf_as_slice(&text);
}

/* As If-Match names it. */
static struct slice etag_of(struct rig *rig, const struct child *child)
{
    struct buf text;

    buf_init(&text, &rig->op->arena);
    etag_print(&text, child->etag, child->ts_ms);
    return buf_as_slice(&text);
}

static const struct slice any_version = { 0 };

static struct child *make(struct rig *rig, enum rid_type type, const struct rid *parent, const char *body)
{
    struct child *child = NULL;

    CHECK(catalog_create_child(rig->op, rig->catalog, type, parent, rig_json(rig->op, body), &child) ==
          ST_OK);
    return child;
}

static enum status try_make(struct rig *rig, enum rid_type type, const struct rid *parent, const char *body)
{
    struct child *child = NULL;
    enum status st =
        catalog_create_child(rig->op, rig->catalog, type, parent, rig_json(rig->op, body), &child);

    child_release(child);
    return st;
}

/* Made and let go. */
static struct rid put(struct rig *rig, enum rid_type type, const struct rid *parent, const char *body)
{
    struct child *child = make(rig, type, parent, body);
    struct rid rid = child ? child->rid : (struct rid){ 0 };

    child_release(child);
    return rid;
}

static bool has(struct rig *rig, enum rid_type type, const struct rid *parent, struct slice name)
{
    struct child *child = catalog_find_child(rig->catalog, type, parent, name);

    child_release(child);
    return child != NULL;
}

/* The ids of what is listed, with a space after each. */
static struct slice listed(struct rig *rig, enum rid_type type, const struct rid *parent,
                           const struct rid *after, size_t limit)
{
    struct child *list[16];
    size_t count = catalog_list_children(rig->catalog, type, parent, after, list, limit);
    struct buf out;

    buf_init(&out, &rig->op->arena);
    for (size_t i = 0; i < count; i++) {
        buf_slice(&out, list[i]->id);
        buf_byte(&out, ' ');
        child_release(list[i]);
    }
    return buf_as_slice(&out);
}

static const struct rid beginning = { 0 };

TEST(a_child_is_found_by_its_id_and_by_its_rid_among_its_own_kind)
{
    static const enum rid_type types[] = { RID_TYPE_PROCEDURE, RID_TYPE_TRIGGER, RID_TYPE_UDF, RID_TYPE_USER,
                                           RID_TYPE_CLIENT_KEY };
    struct container *c;
    struct rig rig;

    rig_open(&rig, false);
    c = rig_container(&rig, CONTAINER_C);
    for (size_t i = 0; i < 5; i++) {
        const struct rid *parent = i < 3 ? &c->rid : &rig.database->rid;
        struct child *child = make(&rig, types[i], parent, "{'id':'x','n':1}");

        CHECK(child->type == types[i] && rid_type(&child->rid) == types[i] && slice_is(child->id, "x"));
        CHECK(rid_equal(&child->parent, parent) && child->etag != 0 && child->ts_ms == 1700000000000);
        CHECK(has(&rig, types[i], parent, slice_of("x")));
        CHECK(has(&rig, types[i], parent, rid_text(&rig, &child->rid)));
        CHECK(!has(&rig, types[(i + 1) % 3], parent, rid_text(&rig, &child->rid)));
        CHECK(!has(&rig, types[i], parent, slice_of("X")) && !has(&rig, types[i], parent, slice_of("")));
        child_release(child);
    }
    rig_close(&rig);
}

TEST(an_id_is_taken_once_among_siblings_of_one_type)
{
    struct container *c, *d;
    struct rig rig;

    rig_open(&rig, false);
    c = rig_container(&rig, CONTAINER_C);
    d = rig_container(&rig, "{'id':'d','partitionKey':{'paths':['/pk']}}");
    put(&rig, RID_TYPE_PROCEDURE, &c->rid, "{'id':'x'}");
    CHECK(try_make(&rig, RID_TYPE_PROCEDURE, &c->rid, "{'id':'x'}") == ST_EXISTS);
    CHECK(try_make(&rig, RID_TYPE_UDF, &c->rid, "{'id':'x'}") == ST_OK);
    CHECK(try_make(&rig, RID_TYPE_PROCEDURE, &d->rid, "{'id':'x'}") == ST_OK);
    rig_close(&rig);
}

TEST(what_is_refused_uses_up_no_number)
{
    struct rid first, second;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, CONTAINER_C);
    first = put(&rig, RID_TYPE_USER, &rig.database->rid, "{'id':'u'}");
    for (int i = 0; i < 100; i++)
        CHECK(try_make(&rig, RID_TYPE_USER, &rig.database->rid, "{'id':'u'}") == ST_EXISTS);
    second = put(&rig, RID_TYPE_USER, &rig.database->rid, "{'id':'v'}");
    CHECK(rid_number(&second) == rid_number(&first) + 1);
    rig_close(&rig);
}

static const char *user_called(struct rig *rig, struct slice id)
{
    struct buf text;

    buf_init(&text, &rig->op->arena);
    buf_printf(&text, "{'id':'%.*s'}", SLICE_ARGS(id));
    return arena_text(&rig->op->arena, buf_as_slice(&text));
}

/* Else whoever deletes the user of that name would delete another. */
TEST(no_child_is_named_by_the_rid_of_another_that_is_there_or_to_come)
{
    const struct rid *parent;
    struct slice there, to_come;
    struct child *other, *found, *renamed = NULL;
    struct rid first, next;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, CONTAINER_C);
    parent = &rig.database->rid;
    first = put(&rig, RID_TYPE_USER, parent, "{'id':'victim'}");
    there = rid_text(&rig, &first);
    CHECK(try_make(&rig, RID_TYPE_USER, parent, user_called(&rig, there)) == ST_EXISTS);
    other = make(&rig, RID_TYPE_USER, parent, "{'id':'other'}");
    CHECK(catalog_replace_child(rig.op, rig.catalog, other, rig_json(rig.op, user_called(&rig, there)),
                                any_version, &renamed) == ST_EXISTS);
    next = rid_make(RID_TYPE_USER, parent, rid_number(&other->rid) + 2);
    to_come = rid_text(&rig, &next);
    put(&rig, RID_TYPE_USER, parent, user_called(&rig, to_come));
    put(&rig, RID_TYPE_USER, parent, "{'id':'b'}");
    put(&rig, RID_TYPE_USER, parent, "{'id':'c'}");
    found = catalog_find_child(rig.catalog, RID_TYPE_USER, parent, to_come);
    CHECK(found && slice_equal(found->id, to_come));
    child_release(found);
    child_release(other);
    rig_close(&rig);
}

TEST(siblings_are_listed_in_the_order_of_their_making_from_any_of_them_on)
{
    struct container *c;
    struct rid first = { 0 };
    struct rig rig;

    rig_open(&rig, false);
    c = rig_container(&rig, CONTAINER_C);
    for (int i = 0; i < 300; i++) { /* past the first byte of the little-endian number */
        char body[40];
        struct rid rid;

        snprintf(body, sizeof(body), "{'id':'p%d'}", i);
        rid = put(&rig, RID_TYPE_PROCEDURE, &c->rid, body);
        if (i == 253)
            first = rid;
    }
    CHECK(slice_is(listed(&rig, RID_TYPE_PROCEDURE, &c->rid, &beginning, 3), "p0 p1 p2 "));
    CHECK(slice_is(listed(&rig, RID_TYPE_PROCEDURE, &c->rid, &first, 3), "p254 p255 p256 "));
    CHECK(catalog_count_children(rig.catalog, RID_TYPE_PROCEDURE, &c->rid) == 300);
    rig_close(&rig);
}

TEST(a_replaced_child_keeps_its_rid_and_may_change_its_id)
{
    struct child *old, *new = NULL, *other = NULL;
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, CONTAINER_C);
    old = make(&rig, RID_TYPE_USER, &rig.database->rid, "{'id':'a'}");
    put(&rig, RID_TYPE_USER, &rig.database->rid, "{'id':'taken'}");
    CHECK(catalog_replace_child(rig.op, rig.catalog, old, rig_json(rig.op, "{'id':'b'}"), etag_of(&rig, old),
                                &new) == ST_OK);
    CHECK(rid_equal(&old->rid, &new->rid) && old->etag != new->etag &&slice_is(old->id, "a"));
    CHECK(!has(&rig, RID_TYPE_USER, &rig.database->rid, slice_of("a")) &&
          has(&rig, RID_TYPE_USER, &rig.database->rid, slice_of("b")));
    CHECK(catalog_replace_child(rig.op, rig.catalog, old, rig_json(rig.op, "{'id':'c'}"), etag_of(&rig, old),
                                &other) == ST_PRECONDITION_FAILED);
    CHECK(catalog_replace_child(rig.op, rig.catalog, new, rig_json(rig.op, "{'id':'taken'}"), any_version,
                                &other) == ST_EXISTS);
    CHECK(catalog_drop_child(rig.op, rig.catalog, old, etag_of(&rig, old)) == ST_PRECONDITION_FAILED);
    CHECK(catalog_drop_child(rig.op, rig.catalog, old, any_version) == ST_OK);
    CHECK(catalog_drop_child(rig.op, rig.catalog, old, any_version) == ST_NOT_FOUND);
    CHECK(catalog_replace_child(rig.op, rig.catalog, new, rig_json(rig.op, "{'id':'b'}"), any_version,
                                &other) == ST_NOT_FOUND);
    child_release(old);
    child_release(new);
    rig_close(&rig);
}

static enum status upsert_user(struct rig *rig, const char *body, struct slice if_match, struct child **user,
                               bool *created)
{
    return catalog_upsert_child(rig->op, rig->catalog, RID_TYPE_USER, &rig->database->rid,
                                rig_json(rig->op, body), if_match, user, created);
}

TEST(an_upsert_makes_or_replaces_and_says_which)
{
    struct child *first = NULL, *second = NULL, *third = NULL;
    struct rig rig;
    bool created;

    rig_open(&rig, false);
    rig_container(&rig, CONTAINER_C);
    CHECK(upsert_user(&rig, "{'id':'a'}", any_version, &first, &created) == ST_OK && created);
    CHECK(upsert_user(&rig, "{'id':'a','n':2}", etag_of(&rig, first), &second, &created) == ST_OK &&
          !created);
    CHECK(rid_equal(&first->rid, &second->rid));
    CHECK(upsert_user(&rig, "{'id':'a'}", etag_of(&rig, first), &third, &created) == ST_PRECONDITION_FAILED);
    child_release(first);
    child_release(second);
    rig_close(&rig);
}

/* Whatever the client has seen before: it is the state inside the change that counts. */
TEST(an_upsert_with_a_condition_is_decided_by_what_is_there_when_it_is_done)
{
    struct child *gone = NULL, *made = NULL, *none = NULL;
    struct slice seen;
    struct rig rig;
    bool created;

    rig_open(&rig, false);
    rig_container(&rig, CONTAINER_C);
    CHECK(upsert_user(&rig, "{'id':'a'}", any_version, &gone, &created) == ST_OK);
    seen = etag_of(&rig, gone);
    CHECK(catalog_drop_child(rig.op, rig.catalog, gone, seen) == ST_OK);
    CHECK(upsert_user(&rig, "{'id':'a'}", seen, &made, &created) == ST_OK && created); /* it vanished */
    CHECK(upsert_user(&rig, "{'id':'a'}", seen, &none, &created) ==
          ST_PRECONDITION_FAILED); /* one appeared */
    CHECK(upsert_user(&rig, user_called(&rig, rid_text(&rig, &made->rid)), etag_of(&rig, made), &none,
                      &created) == ST_EXISTS);
    CHECK(!none && has(&rig, RID_TYPE_USER, &rig.database->rid, slice_of("a")));
    child_release(gone);
    child_release(made);
    rig_close(&rig);
}

/* --- what goes with its owner, and what stays --- */

struct family {
    struct container *c, *d;
    struct rid user, permission;
};

/* db has two containers with scripts and offers, two users with a permission each, and a key. */
static void raise(struct rig *rig, struct family *family)
{
    struct container *paid = NULL;
    struct json definition;
    struct rid other;

    family->c = rig_container(rig, CONTAINER_C);
    put(rig, RID_TYPE_PROCEDURE, &family->c->rid, "{'id':'p'}");
    put(rig, RID_TYPE_TRIGGER, &family->c->rid, "{'id':'t'}");
    put(rig, RID_TYPE_UDF, &family->c->rid, "{'id':'f'}");
    family->d = rig_container(rig, "{'id':'d','partitionKey':{'paths':['/pk']}}");
    put(rig, RID_TYPE_PROCEDURE, &family->d->rid, "{'id':'p'}");
    family->user = put(rig, RID_TYPE_USER, &rig->database->rid, "{'id':'u'}");
    family->permission = put(rig, RID_TYPE_PERMISSION, &family->user, "{'id':'r'}");
    other = put(rig, RID_TYPE_USER, &rig->database->rid, "{'id':'v'}");
    put(rig, RID_TYPE_PERMISSION, &other, "{'id':'r'}");
    put(rig, RID_TYPE_CLIENT_KEY, &rig->database->rid, "{'id':'k'}");
    CHECK(container_define(rig->op, rig_json(rig->op, "{'id':'paid','partitionKey':{'paths':['/pk']}}"),
                           (struct define_options){ 0 }, &definition) == ST_OK);
    CHECK(catalog_create_container_with_offer(rig->op, rig->catalog, rig->database, definition, 1,
                                              rig_json(rig->op, "{'content':{'offerThroughput':500}}"),
                                              &paid) == ST_OK);
    container_release(paid);
}

enum {
    FAMILY_ROWS = 1 + 1 + 3 + 4 + 2 + 2 + 1 + 1
}; /* head, db, containers, scripts, users, ..., an offer */

TEST(a_dropped_container_takes_its_scripts_and_its_offer_along)
{
    struct family family;
    struct container *paid;
    struct child *offer;
    struct rig rig;

    rig_open(&rig, false);
    raise(&rig, &family);
    CHECK(rig_rows(&rig, 0) == FAMILY_ROWS);
    paid = catalog_find_container(rig.catalog, rig.database, slice_of("paid"));
    offer = catalog_find_offer(rig.catalog, &paid->rid);
    CHECK(offer && rid_type(&offer->rid) == RID_TYPE_OFFER && rid_equal(&offer->parent, &paid->rid));
    CHECK(catalog_drop_container(rig.op, rig.catalog, paid, false) == ST_OK);
    CHECK(!catalog_find_offer(rig.catalog, &paid->rid) && !catalog_find_child_at(rig.catalog, &offer->rid));
    CHECK(catalog_drop_container(rig.op, rig.catalog, family.c, false) == ST_OK);
    CHECK(!has(&rig, RID_TYPE_PROCEDURE, &family.c->rid, slice_of("p")));
    CHECK(!has(&rig, RID_TYPE_TRIGGER, &family.c->rid, slice_of("t")));
    CHECK(has(&rig, RID_TYPE_PROCEDURE, &family.d->rid, slice_of("p")));
    CHECK(has(&rig, RID_TYPE_PERMISSION, &family.user, slice_of("r")));
    CHECK(try_make(&rig, RID_TYPE_UDF, &family.c->rid, "{'id':'late'}") == ST_OWNER_NOT_FOUND);
    CHECK(rig_rows(&rig, 0) == FAMILY_ROWS - 2 - 3 - 1 + 2); /* two notes of a drop */
    child_release(offer);
    container_release(paid);
    rig_close(&rig);
}

TEST(a_dropped_user_takes_its_own_permissions_along)
{
    struct family family;
    struct child *user;
    struct rig rig;

    rig_open(&rig, false);
    raise(&rig, &family);
    user = catalog_find_child_at(rig.catalog, &family.user);
    CHECK(catalog_drop_child(rig.op, rig.catalog, user, any_version) == ST_OK);
    CHECK(!has(&rig, RID_TYPE_PERMISSION, &family.user, slice_of("r")));
    CHECK(has(&rig, RID_TYPE_USER, &rig.database->rid, slice_of("v")));
    CHECK(has(&rig, RID_TYPE_CLIENT_KEY, &rig.database->rid, slice_of("k")));
    CHECK(rig_rows(&rig, 0) == FAMILY_ROWS - 2);
    CHECK(try_make(&rig, RID_TYPE_PERMISSION, &family.user, "{'id':'late'}") == ST_OWNER_NOT_FOUND);
    child_release(user);
    rig_close(&rig);
}

TEST(a_dropped_database_takes_everything_along_and_nothing_comes_back_with_a_restart)
{
    struct family family;
    struct rig rig;
    struct rid db;

    rig_open(&rig, false);
    raise(&rig, &family);
    db = rig.database->rid;
    CHECK(catalog_drop_database(rig.op, rig.catalog, rig.database) == ST_OK);
    CHECK(catalog_count_children(rig.catalog, RID_TYPE_USER, &db) == 0);
    CHECK(rig_rows(&rig, 0) == 1 + 3); /* the head, and notes of three drops */
    rig_reopen(&rig);
    CHECK(catalog_count_children(rig.catalog, RID_TYPE_USER, &db) == 0);
    CHECK(slice_is(listed(&rig, RID_TYPE_OFFER, &db, &beginning, 16), ""));
    rig_close(&rig);
}

TEST(children_are_the_same_after_a_restart)
{
    struct child *before, *after;
    struct container *paid;
    struct family family;
    struct rid offer, db;
    struct rig rig;

    rig_open(&rig, false);
    raise(&rig, &family);
    db = rig.database->rid;
    before = catalog_find_child_at(rig.catalog, &family.permission);
    CHECK(before != NULL);
    paid = catalog_find_container(rig.catalog, rig.database, slice_of("paid"));
    after = catalog_find_offer(rig.catalog, &paid->rid);
    offer = after->rid;
    child_release(after);
    container_release(paid);
    rig_reopen(&rig);
    after = catalog_find_child_at(rig.catalog, &family.permission);
    CHECK(after && after != before && after->etag == before->etag && after->ts_ms == before->ts_ms &&
          json_equal(after->body, before->body));
    child_release(before);
    child_release(after);
    after = catalog_find_child_at(rig.catalog, &offer);
    CHECK(after && json_int(json_get(json_get(after->body, "content"), "offerThroughput")) == 500);
    child_release(after);
    CHECK(slice_is(listed(&rig, RID_TYPE_USER, &db, &beginning, 16), "u v "));
    CHECK(rig_rows(&rig, 0) == FAMILY_ROWS);
    rig_close(&rig);
}

TEST(an_offer_is_replaced_in_its_place)
{
    struct child *offer, *new = NULL;
    struct container *paid;
    struct family family;
    struct rid owner, rid;
    struct rig rig;

    rig_open(&rig, false);
    raise(&rig, &family);
    paid = catalog_find_container(rig.catalog, rig.database, slice_of("paid"));
    owner = paid->rid;
    container_release(paid);
    offer = catalog_find_offer(rig.catalog, &owner);
    CHECK(catalog_find_child(rig.catalog, RID_TYPE_OFFER, &beginning, rid_text(&rig, &offer->rid)) == offer);
    child_release(offer);
    CHECK(catalog_replace_child(rig.op, rig.catalog, offer,
                                rig_json(rig.op, "{'content':{'offerThroughput':900}}"), etag_of(&rig, offer),
                                &new) == ST_OK);
    rid = new->rid;
    CHECK(rid_equal(&new->rid, &offer->rid) && rig_rows(&rig, 0) == FAMILY_ROWS);
    child_release(new);
    child_release(offer);
    rig_reopen(&rig);
    offer = catalog_find_offer(rig.catalog, &owner);
    CHECK(offer && json_int(json_get(json_get(offer->body, "content"), "offerThroughput")) == 900);
    CHECK(offer && rid_equal(&offer->rid, &rid));
    child_release(offer);
    rig_close(&rig);
}

TEST_OF_SIZE(there_is_a_limit_to_siblings)
{
    struct rig rig;

    rig_open(&rig, false);
    rig_container(&rig, CONTAINER_C);
    for (int i = 0; i < CATALOG_CHILDREN_MAX; i++) {
        char body[40];

        op_begin(rig.op, 1000);
        snprintf(body, sizeof(body), "{'id':'u%d'}", i);
        if (try_make(&rig, RID_TYPE_USER, &rig.database->rid, body) != ST_OK)
            CHECK(false);
    }
    CHECK(try_make(&rig, RID_TYPE_USER, &rig.database->rid, "{'id':'more'}") == ST_FORBIDDEN);
    CHECK(try_make(&rig, RID_TYPE_CLIENT_KEY, &rig.database->rid, "{'id':'more'}") == ST_OK);
    rig_close(&rig);
}

static enum status create_script(struct rig *rig, const struct rid *container, int number, size_t bytes)
{
    struct child *child = NULL;
    struct json body;
    struct buf text;
    enum status st;

    op_begin(rig->op, INT64_MAX / 2);
    buf_init(&text, &rig->op->arena);
    buf_printf(&text, "{\"id\":\"p%d\",\"body\":\"", number);
    memset(buf_reserve(&text, bytes), 'x', bytes);
    text.size += bytes;
    buf_text(&text, "\"}");
    CHECK(json_parse(rig->op, buf_as_slice(&text), &body) == ST_OK);
    st = catalog_create_child(rig->op, rig->catalog, RID_TYPE_PROCEDURE, container, body, &child);
    child_release(child);
    return st;
}

TEST(there_is_a_limit_to_the_bytes_of_scripts_below_one_container)
{
    struct container *container;
    struct rig rig;
    int count = 0;

    rig_open(&rig, true);
    container = rig_container(&rig, CONTAINER_C);
    while (count < 100 && create_script(&rig, &container->rid, count, 2000000) == ST_OK)
        count++;
    CHECK(count == 8); /* of 2,000,000 bytes, in 16 MB */
    CHECK(create_script(&rig, &container->rid, 99, 2000000) == ST_FORBIDDEN);
    CHECK(strstr(rig.op->error, "16 MB together"));
    CHECK(create_script(&rig, &container->rid, 99, 1000) == ST_OK); /* what fits goes on */
    rig_close(&rig);
}

/* ---- bodies, which stay in the store ---- */

TEST(a_script_s_body_is_in_the_store_alone_and_a_permission_s_in_memory_too)
{
    struct child *script, *user, *permission;
    struct container *c;
    struct json body;
    struct rig rig;

    rig_open(&rig, false);
    c = rig_container(&rig, CONTAINER_C);
    script = make(&rig, RID_TYPE_UDF, &c->rid, "{'id':'f','body':'x => x'}");
    CHECK(json_kind(script->body) == JSON_UNDEFINED && slice_is(script->id, "f"));
    CHECK(child_read_body(rig.op, rig.catalog, &script, &body) == ST_OK);
    CHECK(slice_is(json_string(json_get(body, "body")), "x => x"));
    user = make(&rig, RID_TYPE_USER, &rig.database->rid, "{'id':'u'}");
    permission = make(&rig, RID_TYPE_PERMISSION, &user->rid, "{'id':'p','resource':'dbs/db'}");
    CHECK(slice_is(json_string(json_get(permission->body, "resource")), "dbs/db"));
    child_release(script);
    child_release(user);
    child_release(permission);
    rig_close(&rig);
}

TEST(who_found_an_older_version_reads_the_version_and_the_body_of_one_commit)
{
    struct child *found, *now = NULL;
    struct container *c;
    struct json body;
    struct rig rig;

    rig_open(&rig, false);
    c = rig_container(&rig, CONTAINER_C);
    found = make(&rig, RID_TYPE_PROCEDURE, &c->rid, "{'id':'p','body':'1'}");
    CHECK(catalog_replace_child(rig.op, rig.catalog, found, rig_json(rig.op, "{'id':'p','body':'2'}"),
                                any_version, &now) == ST_OK);
    CHECK(found->etag != now->etag);
    CHECK(child_read_body(rig.op, rig.catalog, &found, &body) == ST_OK);
    CHECK(slice_is(json_string(json_get(body, "body")), "2"));
    CHECK(found->etag == now->etag && found->ts_ms == now->ts_ms && slice_is(found->id, "p"));
    CHECK(catalog_drop_child(rig.op, rig.catalog, now, any_version) == ST_OK);
    CHECK(child_read_body(rig.op, rig.catalog, &found, &body) == ST_NOT_FOUND);
    child_release(found);
    child_release(now);
    rig_close(&rig);
}

TEST(what_definitions_take_in_memory_is_on_the_account_and_does_not_grow_with_their_bodies)
{
    struct account account;
    struct container *c;
    struct rig rig;
    atomic_size_t *held = &account.held_bytes[HOLDER_DEFINITIONS];
    size_t before;

    account_init(&account, 0);
    rig_open(&rig, true);
    c = rig_container(&rig, CONTAINER_C);
    put(&rig, RID_TYPE_UDF, &c->rid, "{'id':'before'}");
    catalog_join_account(rig.catalog, &account);
    before = atomic_load(held);
    CHECK(before > 0); /* what was there already */
    for (int i = 0; i < 8; i++)
        CHECK(create_script(&rig, &c->rid, i, 2000000) == ST_OK);
    CHECK(atomic_load(held) > before);
    CHECK(atomic_load(held) < before + 16 * 1024);
    CHECK(catalog_drop_container(rig.op, rig.catalog, c, false) == ST_OK);
    CHECK(atomic_load(held) == 0);
    rig_close(&rig);
}

TEST(beyond_the_part_of_the_account_no_definition_is_made_and_what_is_deleted_makes_room)
{
    struct claim others = { .holder = HOLDER_STORE };
    struct account account;
    struct child *list[4];
    struct rig rig;
    int count = 0;
    enum status st = ST_OK;

    account_init(&account, 8 * 1024 * 1024); /* of which a tenth is for definitions */
    others.account = &account;
    rig_open(&rig, false);
    rig_container(&rig, CONTAINER_C);
    catalog_join_account(rig.catalog, &account);
    for (; st == ST_OK && count < CATALOG_CHILDREN_MAX; count++) {
        char body[400];

        op_begin(rig.op, 1000);
        snprintf(body, sizeof(body), "{'id':'%0255d'}", count);
        st = try_make(&rig, RID_TYPE_USER, &rig.database->rid, body);
    }
    CHECK(st == ST_FORBIDDEN);
    CHECK(count > 500 && count < 5000);
    CHECK(catalog_list_children(rig.catalog, RID_TYPE_USER, &rig.database->rid, &beginning, list, 4) == 4);
    for (int i = 0; i < 4; i++) {
        CHECK(catalog_drop_child(rig.op, rig.catalog, list[i], any_version) == ST_OK);
        child_release(list[i]);
    }
    CHECK(try_make(&rig, RID_TYPE_USER, &rig.database->rid, "{'id':'more'}") == ST_OK);
    claim_anyway(&others, 7 * 1024 * 1024 + 512 * 1024); /* a server that has other things in memory */
    CHECK(try_make(&rig, RID_TYPE_USER, &rig.database->rid, "{'id':'later'}") != ST_OK);
    claim_less(&others, 7 * 1024 * 1024 + 512 * 1024);
    rig_close(&rig);
}
