/*
 * test/client/dispatch_test.c - links of databases: where documents go and in which order collections are read, as was recorded
 * of the npm package documentdb 1.15.3; where ours differs the row says why. And a resolver's state in an item.
 */
#include <orrery.h>
#include <stdlib.h>

#include "fake.h"
#include "test.h"

#define KEY "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

static const char *const links[] = { "dbs/db/colls/coll0", "dbs/db/colls/coll1", "dbs/db/colls/coll2" };
static const orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };

struct place {
    struct fake *fake;
    orrery_client *client;
    const char *const *pages; /* of each collection: ids with commas, pages with bars; NULL: 500 */
    char fetches[128];        /* "0 0:1 1": a collection, and the page that it was asked for */
    char text[2048], item[1024];
};

/* The nth page, and whether there is another. */
static int page_of(const char *pages, int number, const char **page)
{
    while (number-- > 0 && strchr(pages, '|'))
        pages = strchr(pages, '|') + 1;
    *page = pages;
    return (int)strcspn(pages, "|");
}

static void answer_page(struct place *place, const char *request)
{
    int collection = atoi(strstr(request, "coll") + strlen("colls/coll"));
    const char *asked = strstr(request, "x-ms-continuation: page:"), *page = NULL;
    int number = asked ? atoi(asked + strlen("x-ms-continuation: page:")) : 0, size;
    char body[256] = "{\"Documents\":[", next[64] = "";
    size_t used = strlen(place->fetches);

    snprintf(place->fetches + used, sizeof(place->fetches) - used, asked ? "%s%d:%d" : "%s%d",
             used ? " " : "", collection, number);
    size = page_of(place->pages[collection], number, &page);
    for (int i = 0; i < size; i++)
        if (page[i] != ',')
            snprintf(body + strlen(body), sizeof(body) - strlen(body), "%s{\"id\":\"%c\"}", i ? "," : "",
                     page[i]);
    strcat(body, "]}");
    if (page[size] == '|')
        snprintf(next, sizeof(next), "x-ms-continuation: page:%d\r\n", number + 1);
    snprintf(place->text, sizeof(place->text), "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n%s",
             page[0] == '!' ? "500 No" : "200 OK", next, strlen(body), body);
}

/* Writes are kept as the item that is read later. */
static void answer(void *context, const char *request, struct fake_answer *answer)
{
    struct place *place = context;

    if (strncmp(request, "POST ", 5) == 0)
        snprintf(place->item, sizeof(place->item), "%s", strstr(request, "\r\n\r\n") + 4);
    if (place->pages)
        answer_page(place, request);
    else
        snprintf(place->text, sizeof(place->text), "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s",
                 *place->item ? "200 OK" : "404 No", strlen(place->item), place->item);
    answer->bytes = place->text;
}

static void place_open(struct place *place)
{
    orrery_settings settings = { .size = sizeof(settings), .key = KEY, .retries_max = -1 };

    place->fake = fake_start(answer, place);
    settings.endpoint = fake_url(place->fake);
    CHECK(orrery_open(&settings, &place->client) == ORRERY_OK);
}

static void place_close(struct place *place)
{
    orrery_close(place->client);
    fake_stop(place->fake);
}

/* ---- where documents go */

static const struct routing {
    const char *registered, *used, *document;
    orrery_status set, sent;
    const char *request; /* its beginning; NULL: none */
} routings[] = {
    { "dbs/db", "dbs/db", "{\"id\":\"J1\"}", ORRERY_OK, ORRERY_OK, "POST /dbs/db/colls/coll0/docs HTTP" },
    { "dbs/db/", "dbs/db/", "{\"id\":\"J1\"}", ORRERY_OK, ORRERY_OK, "POST /dbs/db/colls/coll0/docs HTTP" },
    /* the SDK takes a slash more for another database, and sends the document to the database itself */
    { "dbs/db", "dbs/db/", "{\"id\":\"J1\"}", ORRERY_OK, ORRERY_OK, "POST /dbs/db/colls/coll0/docs HTTP" },
    { "/dbs/db", "dbs/db", "{\"id\":\"J1\"}", ORRERY_OK, ORRERY_OK, "POST /dbs/db/colls/coll0/docs HTTP" },
    /* and so it does here: ours says that there is no resolver */
    { "dbs/db", "dbs/DB", "{\"id\":\"J1\"}", ORRERY_OK, ORRERY_ENORESOLVER, NULL },
    /* any text may be registered there */
    { "anything", "anything", "{\"id\":\"J1\"}", ORRERY_ELINK, ORRERY_EINVAL, NULL },
    /* an id that is generated comes too late for a resolver that goes by it */
    { "dbs/db", "dbs/db", "{\"name\":\"J1\"}", ORRERY_OK, ORRERY_ENOKEY, NULL },
};

static void check_routing(const struct routing *row, int is_upsert)
{
    struct place place = { .pages = NULL };
    orrery_resolver *resolver = NULL;
    orrery_key key = orrery_key_text("k");
    orrery_status status;

    place_open(&place);
    CHECK(orrery_resolver_hash(&by_id, links, 1, NULL, &resolver) ==
          ORRERY_OK); /* which of several is for resolver_hash_test.c to say */
    CHECK(orrery_client_set_resolver(place.client, row->registered, resolver) == row->set);
    orrery_resolver_unref(resolver);
    status = (is_upsert ? orrery_item_upsert : orrery_item_create)(place.client, row->used, row->document,
                                                                   ORRERY_TEXT, &key, NULL, NULL);
    CHECK(status == row->sent && fake_asked(place.fake) == (row->request != NULL));
    if (row->request && fake_asked(place.fake) == 1)
        CHECK(strncmp(fake_request(place.fake, 0), row->request, strlen(row->request)) == 0);
    place_close(&place);
}

TEST(documents_are_routed_as_was_recorded_or_a_row_says_why_not)
{
    for (size_t i = 0; i < 2 * sizeof(routings) / sizeof(routings[0]); i++)
        check_routing(&routings[i / 2], i % 2);
}

/* ---- in which order collections are read */

static const struct walk {
    const char *pages[3], *fetches, *ids, *key;
    size_t count; /* of links */
    orrery_status status;
} walks[] = {
    { { "a,b", "c", "d,e" }, "0 1 2", "abcde", NULL, 3, ORRERY_DONE },
    { { "a|b|c", "d|e", "f" }, "0 0:1 0:2 1 1:1 2", "abcdef", NULL, 3, ORRERY_DONE },
    { { "", "|x|", "|" }, "0 1 1:1 1:2 2 2:1", "x", NULL, 3, ORRERY_DONE },
    { { "", "", "" }, "0 1 2", "", NULL, 3, ORRERY_DONE },
    { { "a", "b", "c|d" }, "2 2:1", "cd", "k", 3, ORRERY_DONE },
    { { "a", "!", "c" }, "0 1", "a", NULL, 3, ORRERY_ESERVER },
};

/* The recorded key led to the third collection; which keys do is for resolver_hash_test.c to say. */
static orrery_status to_the_third(void *self, const orrery_key *key, orrery_links *found)
{
    const size_t *count = self;
    orrery_status status = ORRERY_OK;

    if (key->type != ORRERY_KEY_NONE)
        return orrery_links_add(found, links[2]);
    for (size_t i = 0; i < *count && status == ORRERY_OK; i++)
        status = orrery_links_add(found, links[i]);
    return status;
}

static orrery_status no_key(void *self, orrery_value document, orrery_held_key *key)
{
    (void)self, (void)document, (void)key;
    return ORRERY_ENOKEY;
}

static void check_walk(const struct walk *walk)
{
    orrery_resolver_vtbl calls = { .size = sizeof(calls), no_key, to_the_third, to_the_third, NULL, NULL };
    struct place place = { .pages = walk->pages };
    orrery_key key = orrery_key_text(walk->key);
    size_t count = walk->count, told = 0;
    orrery_resolver *resolver = NULL;
    orrery_query *query = NULL;
    orrery_status status;
    char ids[16] = "";

    place_open(&place);
    CHECK(orrery_resolver_custom(&calls, &count, &resolver) == ORRERY_OK);
    CHECK(orrery_client_set_resolver(place.client, "dbs/db", resolver) == ORRERY_OK);
    orrery_resolver_unref(resolver);
    CHECK(orrery_list_open(place.client, "dbs/db", walk->key ? &key : NULL, NULL, &query) == ORRERY_OK);
    while ((status = orrery_query_step(query)) == ORRERY_ROW && told < sizeof(ids) - 1)
        ids[told++] = *orrery_value_text(orrery_value_member(orrery_query_value(query), "id"), NULL);
    CHECK(status == walk->status && strcmp(ids, walk->ids) == 0 && strcmp(place.fetches, walk->fetches) == 0);
    orrery_query_close(query);
    place_close(&place);
}

TEST(collections_are_read_one_after_another_as_was_recorded)
{
    for (size_t i = 0; i < sizeof(walks) / sizeof(walks[0]); i++)
        check_walk(&walks[i]);
}

/* ---- a resolver's state in an item */

TEST(a_resolver_is_kept_in_an_item_and_comes_back)
{
    struct place place = { .pages = NULL };
    orrery_resolver *resolver = NULL, *back = NULL;
    char *before = NULL, *after = NULL;

    place_open(&place);
    CHECK(orrery_resolver_load_item(place.client, links[0], "r", NULL, &back) == ORRERY_ENOTFOUND && !back);
    CHECK(orrery_resolver_hash(&by_id, links, 3, NULL, &resolver) == ORRERY_OK);
    CHECK(orrery_resolver_save_item(resolver, place.client, links[0], "r") == ORRERY_OK);
    CHECK(strstr(place.item, "{\"id\":\"r\",\"resolver\":{") == place.item);
    CHECK(strstr(fake_request(place.fake, 1), "x-ms-documentdb-partitionkey: [\"r\"]\r\n"));
    CHECK(orrery_resolver_load_item(place.client, links[0], "r", NULL, &back) == ORRERY_OK);
    CHECK(orrery_resolver_save(resolver, &before) == ORRERY_OK &&
          orrery_resolver_save(back, &after) == ORRERY_OK);
    CHECK(before && after && strcmp(before, after) == 0);
    orrery_free(before);
    orrery_free(after);
    orrery_resolver_unref(resolver);
    orrery_resolver_unref(back);
    place_close(&place);
}

TEST(an_item_that_has_no_state_of_a_resolver_is_refused)
{
    static const char *const wrong[] = { "{\"id\":\"r\"}", "{\"id\":\"r\",\"resolver\":7}", "[]",
                                         "{\"id\":\"r\",\"resolver\":{\"Type\":\"Wrong\"}}", "no json" };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct place place = { .pages = NULL };
        orrery_resolver *back = NULL;

        place_open(&place);
        snprintf(place.item, sizeof(place.item), "%s", wrong[i]);
        CHECK(orrery_resolver_load_item(place.client, links[0], "r", NULL, &back) == ORRERY_ESTATE && !back);
        CHECK(*orrery_error(place.client));
        place_close(&place);
    }
}
