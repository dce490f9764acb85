/* test/unit/advise/tree_test.c - items become a tree of their members. */
#include <stdio.h>

#include "advise/tree.h"
#include "rig.h"
#include "test.h"

static void add(struct op *op, struct tree *tree, const char *text)
{
    struct json document = rig_json(op, text);
    struct seen_item item = { document, json_string(json_get(document, "id")), json_size(document) };

    CHECK(tree_add(op, tree, &item) == ST_OK);
}

static const struct node *at(const struct tree *tree, const char *path)
{
    struct buf printed;

    for (const struct node *node = tree->root; node; node = node_after(node)) {
        buf_init(&printed, &test_op()->arena);
        node_print_path(&printed, node);
        if (slice_is(buf_as_slice(&printed), path))
            return node;
    }
    return NULL;
}

static struct tree new_tree(struct op *op)
{
    struct tree tree;

    CHECK(tree_init(op, &tree, &op->arena, (struct hash_seed){ 1, 2 }) == ST_OK);
    return tree;
}

TEST(values_are_counted_by_path_and_kind)
{
    struct op *op = test_op();
    struct tree tree = new_tree(op);

    add(op, &tree, "{'id':'1','a':{'b':1},'l':[{'x':true},{'x':false},7]}");
    add(op, &tree, "{'l':[],'a':{'b':'one'},'id':'2'}");
    CHECK(tree.items == 2);
    CHECK(at(&tree, "/a/b")->kind[JSON_NUMBER] == 1 && at(&tree, "/a/b")->kind[JSON_STRING] == 1);
    CHECK(at(&tree, "/l/[]/x")->kind[JSON_TRUE] == 2 && at(&tree, "/l/[]/x")->items == 1);
    CHECK(at(&tree, "/l/[]")->kind[JSON_NUMBER] == 1);
    CHECK(at(&tree, "/l")->lengths.most == 3 && at(&tree, "/l")->lengths.least == 0);
    CHECK(at(&tree, "/l")->empty == 1);
    CHECK(slice_is(at(&tree, "/l")->longest[0].id, "1") && at(&tree, "/l")->longest[1].length == 0);
    CHECK(!at(&tree, "/l/x"));
}

TEST(an_empty_name_is_no_element)
{
    struct op *op = test_op();
    struct tree tree = new_tree(op);

    add(op, &tree, "{'id':'1','m':{'':1}}");
    add(op, &tree, "{'id':'2','m':['a']}");
    CHECK(at(&tree, "/m/[]")->kind[JSON_STRING] == 1 && at(&tree, "/m/[]")->kind[JSON_NUMBER] == 0);
    CHECK(at(&tree, "/m/")->kind[JSON_NUMBER] == 1);
}

TEST(samples_are_of_different_values_and_no_more_than_there_is_room_for)
{
    struct op *op = test_op();
    struct tree tree = new_tree(op);
    char text[80];

    for (int i = 0; i < 4 * NODE_SAMPLES; i++) {
        snprintf(text, sizeof(text), "{'id':'%d','few':'f%d','many':'m%d'}", i, i % 3, i);
        add(op, &tree, text);
    }
    CHECK(at(&tree, "/few")->sample_count == 3);
    CHECK(at(&tree, "/many")->sample_count == NODE_SAMPLES);
    for (size_t i = 1; i < NODE_SAMPLES; i++)
        CHECK(at(&tree, "/many")->sample[i - 1].hash < at(&tree, "/many")->sample[i].hash);
}

TEST(names_without_end_take_bounded_room_and_are_counted)
{
    struct op *op = test_op();
    struct tree tree = new_tree(op);
    char text[80];

    for (int i = 0; i < 3 * NODE_CHILDREN_MAX; i++) {
        snprintf(text, sizeof(text), "{'id':'%d','m':{'n%d':{'deep':%d}}}", i, i, i);
        add(op, &tree, text);
    }
    CHECK(at(&tree, "/m")->child_count == NODE_CHILDREN_MAX);
    CHECK(at(&tree, "/m")->unnamed == 2 * NODE_CHILDREN_MAX);
    CHECK(tree.node_count <= TREE_NODES_MAX);
}

TEST(a_tree_without_memory_says_so)
{
    struct op *op = test_op();
    struct arena small;
    struct tree tree;

    arena_init(&small, 1);
    CHECK(tree_init(op, &tree, &small, (struct hash_seed){ 1, 2 }) == ST_TOO_LARGE);
    arena_free(&small);
}
