/*
 * examples/todo.c - a list of things to do: items, queries, patches, and what happens when two people change one.
 *     cc examples/todo.c $(pkg-config --cflags --libs orrery) -o todo && ./todo http://localhost:8081 KEY
 */
#include "example.h"

static const char things[] = "dbs/todo/colls/things";

static void make_container(void)
{
    orrery_container container = { .size = sizeof(container), .id = "things", .partition_key = { "/list" } };

    orrery_delete(client, "dbs/todo", NULL, NULL); /* from an earlier run */
    must(orrery_database_create(client, "todo", NULL, NULL));
    must(orrery_container_create(client, "dbs/todo", &container, NULL, NULL));
}

static void add(const char *id, const char *list, const char *what, int minutes)
{
    orrery_writer *writer = NULL;

    must(orrery_writer_new(&writer));
    orrery_write_object(writer);
    orrery_write_name(writer, "id");
    orrery_write_string(writer, id, ORRERY_TEXT);
    orrery_write_name(writer, "list");
    orrery_write_string(writer, list, ORRERY_TEXT);
    orrery_write_name(writer, "what");
    orrery_write_string(writer, what, ORRERY_TEXT);
    orrery_write_name(writer, "minutes");
    orrery_write_int(writer, minutes);
    orrery_write_name(writer, "done");
    orrery_write_bool(writer, 0);
    orrery_write_end(writer);
    /* No key is given: the library takes it out of the document. */
    must(orrery_item_create(client, things, orrery_writer_text(writer, NULL), ORRERY_TEXT, NULL, NULL, NULL));
    orrery_writer_free(writer);
}

static void print_open(const char *list)
{
    orrery_key key = orrery_key_text(list);
    orrery_parameter parameters[] = { { "@done", "false" } };
    orrery_query *query = NULL;
    orrery_status status;

    printf("%s:\n", list);
    must(orrery_query_open(client, things,
                           "SELECT c.what, c.minutes FROM c WHERE c.done = @done ORDER BY c.minutes",
                           parameters, 1, &key, NULL, &query));
    while ((status = orrery_query_step(query)) == ORRERY_ROW) {
        orrery_value row = orrery_query_value(query);

        printf("  %s (%d min)\n", orrery_value_text(orrery_value_member(row, "what"), NULL),
               (int)orrery_value_int(orrery_value_member(row, "minutes")));
    }
    must(status);
    orrery_query_close(query);
}

static void finish(const char *id, const char *list)
{
    orrery_key key = orrery_key_text(list);
    orrery_patch *patch = NULL;

    must(orrery_patch_new(&patch));
    orrery_patch_set(patch, "/done", "true");
    must(orrery_item_patch(client, things, id, &key, patch, NULL, NULL));
    orrery_patch_free(patch);
}

/* Two people read the same thing; the second to write is told that it has changed. */
static void change_at_once(const char *id, const char *list)
{
    orrery_key key = orrery_key_text(list);
    orrery_response *mine = NULL;
    orrery_options unchanged = { .size = sizeof(unchanged) };
    orrery_status status;

    must(orrery_item_read(client, things, id, &key, NULL, &mine));
    finish(id, list); /* somebody else is faster */
    unchanged.if_match = orrery_response_etag(mine);
    status = orrery_item_replace(client, things, id, orrery_response_body(mine, NULL), ORRERY_TEXT, &key,
                                 &unchanged, NULL);
    printf("the second one: %s\n", orrery_status_text(status));
    orrery_response_free(mine);
}

static void print_total(void)
{
    orrery_query *query = NULL;

    must(orrery_query_open(client, things, "SELECT VALUE SUM(c.minutes) FROM c WHERE NOT c.done", NULL, 0,
                           NULL, NULL, &query));
    if (orrery_query_step(query) == ORRERY_ROW)
        printf("%s minutes to go\n", orrery_query_row(query, NULL));
    orrery_query_close(query);
}

int main(int argc, char **argv)
{
    open_client(argc, argv);
    make_container();
    add("1", "house", "water the plants", 10);
    add("2", "house", "mend the tap", 45);
    add("3", "garden", "cut the hedge", 90);
    add("4", "house", "buy bread", 5);
    print_open("house");
    finish("4", "house");
    change_at_once("1", "house");
    print_open("house");
    print_total();
    must(orrery_delete(client, "dbs/todo", NULL, NULL));
    orrery_close(client);
    return 0;
}
