/* test/client/argument_test.c - arguments that make no sense: refused in words, before anything is sent. */
#include <orrery.h>

#include "fake.h"
#include "test.h"

#define KEY "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
#define NOT_FOUND "HTTP/1.1 404 No\r\nContent-Length: 22\r\n\r\n{\"message\":\"one\\ntwo\"}"

static const char items[] = "dbs/d/colls/c";
static orrery_client *client;
static const orrery_key key = { .type = ORRERY_KEY_TEXT, .text = "k", .size = 1 };

static void answer_404(void *context, const char *request, struct fake_answer *answer)
{
    (void)context, (void)request;
    answer->bytes = NOT_FOUND;
}

static struct fake *open_fake(void)
{
    struct fake *fake = fake_start(answer_404, NULL);
    orrery_settings settings = { .size = sizeof(settings), .endpoint = fake_url(fake), .key = KEY };

    CHECK(orrery_open(&settings, &client) == ORRERY_OK);
    return fake;
}

/* ---- one call that makes no sense, each; `response` is somebody's pointer that was never NULL */

static orrery_status read_of_database(orrery_response **response)
{
    return orrery_item_read(client, "dbs/d", "1", &key, NULL, response);
}

static orrery_status read_without_id(orrery_response **response)
{
    return orrery_item_read(client, items, NULL, &key, NULL, response);
}

static orrery_status create_without_resolver(orrery_response **response)
{
    return orrery_item_create(client, "dbs/d", "{}", ORRERY_TEXT, NULL, NULL, response);
}

static orrery_status create_without_body(orrery_response **response)
{
    return orrery_create(client, "dbs", NULL, 0, NULL, response);
}

static orrery_status nameless_database(orrery_response **response)
{
    return orrery_database_create(client, "", NULL, response);
}

static orrery_status nameless_container(orrery_response **response)
{
    orrery_container container = { .size = sizeof(container), .partition_key = { "/pk" } };

    return orrery_container_create(client, "dbs/d", &container, NULL, response);
}

static orrery_status container_of_nothing(orrery_response **response)
{
    return orrery_container_create(client, "dbs/d", NULL, NULL, response);
}

static orrery_status procedure_that_is_none(orrery_response **response)
{
    return orrery_procedure_run(client, items, &key, "[]", NULL, response);
}

static orrery_status procedure_without_array(orrery_response **response)
{
    return orrery_procedure_run(client, "dbs/d/colls/c/sprocs/s", &key, "{}", NULL, response);
}

static orrery_status batch_of_nothing(orrery_response **response)
{
    return orrery_batch_run(client, items, &key, NULL, NULL, response);
}

static orrery_status patch_without_path(orrery_response **response)
{
    orrery_patch *patch = NULL;
    orrery_status status;

    orrery_patch_new(&patch);
    orrery_patch_move(patch, NULL, "/a");
    status = orrery_item_patch(client, items, "1", &key, patch, NULL, response);
    orrery_patch_free(patch);
    return status;
}

static orrery_status query_of_nothing(orrery_response **response)
{
    orrery_query *query = (orrery_query *)response;
    orrery_status status = orrery_query_open(client, "nonsense", "SELECT 1", NULL, 0, NULL, NULL, &query);

    CHECK(!query);
    *response = NULL;
    return status;
}

static orrery_status query_without_text(orrery_response **response)
{
    orrery_query *query = NULL;

    *response = NULL;
    return orrery_query_open(client, items, NULL, NULL, 0, NULL, NULL, &query);
}

static orrery_status bulk_of_no_container(orrery_response **response)
{
    orrery_batch *batch = NULL;
    orrery_status status;

    orrery_batch_new(&batch);
    orrery_batch_create(batch, "{}", ORRERY_TEXT, NULL);
    status = orrery_bulk_run(client, "dbs/d/users/u", batch, NULL, response);
    orrery_batch_free(batch);
    return status;
}

struct refused {
    orrery_status (*run)(orrery_response **response);
    orrery_status status;
};

static const struct refused refused_calls[] = {
    { read_of_database, ORRERY_EINVAL },
    { read_without_id, ORRERY_EINVAL },
    { create_without_resolver, ORRERY_ENORESOLVER },
    { create_without_body, ORRERY_EINVAL },
    { nameless_database, ORRERY_EINVAL },
    { nameless_container, ORRERY_EINVAL },
    { container_of_nothing, ORRERY_EINVAL },
    { procedure_that_is_none, ORRERY_EINVAL },
    { procedure_without_array, ORRERY_EJSON },
    { batch_of_nothing, ORRERY_EINVAL },
    { patch_without_path, ORRERY_EINVAL },
    { query_of_nothing, ORRERY_EINVAL },
    { query_without_text, ORRERY_EINVAL },
    { bulk_of_no_container, ORRERY_EINVAL },
};

TEST(a_call_that_makes_no_sense_sends_nothing_and_forgets_what_the_last_one_said)
{
    struct fake *fake = open_fake();

    for (size_t i = 0; i < sizeof(refused_calls) / sizeof(refused_calls[0]); i++) {
        orrery_response *response = (orrery_response *)client;

        CHECK(orrery_item_read(client, items, "1", &key, NULL, NULL) == ORRERY_ENOTFOUND);
        CHECK(orrery_failed_response(client));
        CHECK(refused_calls[i].run(&response) == refused_calls[i].status && !response);
        CHECK(!orrery_failed_response(client) && *orrery_error(client));
        CHECK(fake_asked(fake) == i + 1);
    }
    orrery_close(client);
    fake_stop(fake);
}

/* Every call that takes options, with options whose size was forgotten, or is no size. */
static orrery_status with_options(size_t which, const orrery_options *options)
{
    static const char document[] = "{\"id\":\"1\"}";
    orrery_container container = { .size = sizeof(container), .id = "c", .partition_key = { "/pk" } };
    orrery_status status = ORRERY_EINVAL;
    orrery_batch *batch = NULL;
    orrery_patch *patch = NULL;
    orrery_query *query = NULL;
    orrery_transaction *transaction = NULL;

    orrery_transaction_new(&transaction);
    orrery_transaction_create(transaction, items, document, ORRERY_TEXT, &key);
    orrery_batch_new(&batch);
    orrery_batch_create(batch, document, ORRERY_TEXT, &key);
    orrery_patch_new(&patch);
    orrery_patch_increment(patch, "/n", 1);
    switch (which) {
    case 0:
        status = orrery_create(client, "dbs", document, ORRERY_TEXT, options, NULL);
        break;
    case 1:
        status = orrery_upsert(client, "dbs/d/users", document, ORRERY_TEXT, options, NULL);
        break;
    case 2:
        status = orrery_read(client, "dbs/d", options, NULL);
        break;
    case 3:
        status = orrery_replace(client, "dbs/d", document, ORRERY_TEXT, options, NULL);
        break;
    case 4:
        status = orrery_delete(client, "dbs/d", options, NULL);
        break;
    case 5:
        status = orrery_database_create(client, "d", options, NULL);
        break;
    case 6:
        status = orrery_container_create(client, "dbs/d", &container, options, NULL);
        break;
    case 7:
        status = orrery_container_replace(client, items, &container, options, NULL);
        break;
    case 8:
        status = orrery_item_create(client, items, document, ORRERY_TEXT, &key, options, NULL);
        break;
    case 9:
        status = orrery_item_upsert(client, items, document, ORRERY_TEXT, &key, options, NULL);
        break;
    case 10:
        status = orrery_item_read(client, items, "1", &key, options, NULL);
        break;
    case 11:
        status = orrery_item_replace(client, items, "1", document, ORRERY_TEXT, &key, options, NULL);
        break;
    case 12:
        status = orrery_item_delete(client, items, "1", &key, options, NULL);
        break;
    case 13:
        status = orrery_item_patch(client, items, "1", &key, patch, options, NULL);
        break;
    case 14:
        status = orrery_batch_run(client, items, &key, batch, options, NULL);
        break;
    case 15:
        status = orrery_bulk_run(client, items, batch, options, NULL);
        break;
    case 16:
        status = orrery_query_open(client, items, "SELECT 1", NULL, 0, NULL, options, &query);
        break;
    case 17:
        status = orrery_list_open(client, items, NULL, options, &query);
        break;
    case 18:
        status = orrery_changes_open(client, items, NULL, ORRERY_FROM_NOW, 0, options, &query);
        break;
    case 19:
        status = orrery_procedure_run(client, "dbs/d/colls/c/sprocs/s", &key, "[]", options, NULL);
        break;
    case 20:
        status = orrery_transaction_run(client, transaction, options, NULL);
        break;
    }
    orrery_transaction_free(transaction);
    CHECK(!query);
    orrery_patch_free(patch);
    orrery_batch_free(batch);
    return status;
}

TEST(options_that_do_not_say_their_size_are_refused_by_every_call)
{
    struct fake *fake = open_fake();
    orrery_options options = { .if_match = "\"old\"" };

    for (size_t i = 0; i < 21; i++) {
        options.size = 0;
        CHECK(with_options(i, &options) == ORRERY_EINVAL && strstr(orrery_error(client), ".size = sizeof("));
        options.size = (size_t)&options; /* the first member was taken for another */
        CHECK(with_options(i, &options) == ORRERY_EINVAL && *orrery_error(client));
    }
    CHECK(fake_asked(fake) == 0);
    orrery_close(client);
    fake_stop(fake);
}

TEST(a_container_that_does_not_say_its_size_is_refused)
{
    struct fake *fake = open_fake();
    orrery_container container = { .id = "c", .partition_key = { "/pk" }, .indexing_policy = "{}" };

    CHECK(orrery_container_create(client, "dbs/d", &container, NULL, NULL) == ORRERY_EINVAL);
    CHECK(orrery_container_replace(client, items, &container, NULL, NULL) == ORRERY_EINVAL);
    CHECK(fake_asked(fake) == 0);
    orrery_close(client);
    fake_stop(fake);
}

TEST(a_request_may_have_as_many_headers_as_its_caller_wants)
{
    struct fake *fake = open_fake();
    char lines[60][32];
    const char *headers[61] = { NULL };
    orrery_options options = { .size = sizeof(options), .headers = headers };

    for (int i = 0; i < 60; i++) {
        snprintf(lines[i], sizeof(lines[i]), "x-own-%d: %d", i, i);
        headers[i] = lines[i];
    }
    CHECK(orrery_item_read(client, items, "1", &key, &options, NULL) == ORRERY_ENOTFOUND);
    CHECK(strstr(fake_request(fake, 0), "x-own-0: 0\r\n") &&
          strstr(fake_request(fake, 0), "x-own-59: 59\r\n"));
    orrery_close(client);
    fake_stop(fake);
}

TEST(of_a_message_over_several_lines_the_first_is_told)
{
    struct fake *fake = open_fake();

    CHECK(orrery_read(client, items, NULL, NULL) == ORRERY_ENOTFOUND);
    CHECK(strcmp(orrery_error(client), "404: one") == 0);
    orrery_close(client);
    fake_stop(fake);
}

TEST(a_cursor_may_be_told_what_the_last_failed_answer_had)
{
    struct fake *fake = open_fake();
    orrery_options options = { .size = sizeof(options) };
    orrery_query *query = NULL;

    CHECK(orrery_read(client, items, NULL, NULL) == ORRERY_ENOTFOUND);
    options.session_token =
        orrery_response_body(orrery_failed_response(client), NULL); /* its memory is what matters */
    CHECK(orrery_query_open(client, items, "SELECT 1", NULL, 0, NULL, &options, &query) == ORRERY_OK);
    orrery_query_close(query);
    orrery_close(client);
    fake_stop(fake);
}

TEST(nowhere_to_put_a_result_is_refused)
{
    const char *links[] = { "dbs/d/colls/a" };
    orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };
    orrery_resolver *resolver = NULL;

    CHECK(orrery_resolver_hash(&by_id, links, 1, NULL, NULL) == ORRERY_EINVAL);
    CHECK(orrery_resolver_hash(&by_id, links, 1, NULL, &resolver) == ORRERY_OK);
    CHECK(orrery_resolver_key(resolver, "{}", ORRERY_TEXT, NULL) == ORRERY_EINVAL);
    CHECK(orrery_resolve_create(resolver, &key, NULL) == ORRERY_EINVAL);
    CHECK(orrery_resolve_read(resolver, &key, NULL) == ORRERY_EINVAL);
    CHECK(orrery_resolve_document(resolver, "{}", ORRERY_TEXT, NULL) == ORRERY_EINVAL);
    CHECK(orrery_resolver_save(resolver, NULL) == ORRERY_EINVAL);
    CHECK(orrery_links_new(NULL) == ORRERY_EINVAL && orrery_links_add(NULL, links[0]) == ORRERY_EINVAL);
    CHECK(orrery_held_key_put(NULL, &key) == ORRERY_EINVAL && !orrery_held_key_get(NULL));
    orrery_resolver_unref(resolver);
    resolver = NULL;
    CHECK(orrery_resolver_managed(NULL, "dbs/d", &by_id, NULL, &resolver) == ORRERY_EINVAL && !resolver);
    CHECK(orrery_manager_count(NULL) == 0 && orrery_manager_begin(NULL, 2) == ORRERY_EINVAL);
}

/* As a program has them that was compiled before the last members were there. */
TEST(structs_of_an_older_program_are_shorter_and_welcome)
{
    const char *links[] = { "dbs/d/colls/a" };
    struct {
        size_t size;
        const char *property;
    } by_id = { .size = sizeof(by_id), "id" };
    struct {
        size_t size;
        const orrery_hash *hash;
    } md5 = { .size = sizeof(md5), &orrery_hash_md5 };
    orrery_hash_options no_size = { .hash = NULL };
    orrery_resolver *resolver = NULL;

    CHECK(orrery_resolver_hash((const orrery_extractor *)&by_id, links, 1, (const orrery_hash_options *)&md5,
                               &resolver) == ORRERY_OK);
    orrery_resolver_unref(resolver);
    CHECK(orrery_resolver_hash((const orrery_extractor *)&by_id, links, 1, &no_size, &resolver) ==
          ORRERY_EINVAL);
}
