/* test/unit/source/narrow_test.c - a filter on the partition key narrows what is read, and never too much. */
#include "shelf.h"
#include "source/narrow.h"

/* The ids of the items that the filter leaves in the scope. */
static const char *left_by(struct rig *rig, const struct container *container, const char *filter,
                           struct partition_scope *scope)
{
    struct query_options options = { 0 };
    struct item_source *items = NULL;
    struct query *query = NULL;
    const char *ids = "failed";
    struct buf text;

    buf_init(&text, &rig->op->arena);
    buf_printf(&text, "SELECT * FROM c WHERE %s", filter);
    *scope = (struct partition_scope){ 0 };
    CHECK(query_compile(rig->op, rig_quoted(rig->op, arena_text(&rig->op->arena, buf_as_slice(&text))),
                        json_undefined, &options, &query) == ST_OK);
    CHECK(narrow_scope(rig->op, container, query, scope) == ST_OK);
    CHECK(item_source_open(rig->op, container, scope, &items) == ST_OK);
    ids = shelf_ids(rig, item_source_rows(items));
    item_source_close(items);
    return ids;
}

/* Promise 4. */
TEST(a_scope_keeps_to_the_keys_that_the_filter_can_match)
{
    struct partition_scope scope;
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    shelf_add(&rig, container, "{'id':'1','pk':'a'}");
    shelf_add(&rig, container, "{'id':'2','pk':'b'}");
    shelf_add(&rig, container, "{'id':'3','pk':'c'}");
    CHECK(strcmp(left_by(&rig, container, "c.pk = 'b'", &scope), "2") == 0 && scope.point_count == 1);
    CHECK(strlen(left_by(&rig, container, "c.pk IN ('a', 'c')", &scope)) == 2 && scope.point_count == 2);
    CHECK(strlen(left_by(&rig, container, "c.pk = 'a' OR c.x = 1", &scope)) == 3 && !scope.points);
    CHECK(strlen(left_by(&rig, container, "c.id = '1'", &scope)) == 3 && !scope.points);
    rig_close(&rig);
}

TEST(a_filter_that_nothing_can_pass_leaves_no_point_and_no_row)
{
    struct partition_scope scope;
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    shelf_add(&rig, container, "{'id':'1','pk':'a'}");
    CHECK(strcmp(left_by(&rig, container, "c.pk = 'a' AND c.pk = 'b'", &scope), "") == 0);
    CHECK(scope.points && scope.point_count == 0);
    rig_close(&rig);
}

TEST(a_hierarchical_key_has_all_its_paths)
{
    struct container *container;
    struct query_key key;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(
        &rig, "{'id':'c','partitionKey':{'paths':['/a','/b/c'],'kind':'MultiHash','version':2}}");
    key = narrow_key(container);
    CHECK(key.version == EPK_MULTI && !key.system && key.path_count == 2);
    CHECK(key.path[0].count == 1 && key.path[1].count == 2 && slice_is(key.path[1].segment[1], "c"));
    rig_close(&rig);
}
