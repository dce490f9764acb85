/* src/store/sorted.c - a skip list with a way back on its lowest level. */
#include <assert.h>

#include "base/hash.h"
#include "store/sorted.h"

/* For each level, the links that hold the pointer to the first node at or after a key. */
struct path {
    struct sorted_node **links[SORTED_HEIGHT_MAX];
};

size_t sorted_height(struct slice key)
{
    uint32_t hash = murmur3_32(key.data, key.size);
    size_t height = 1;

    while (height < SORTED_HEIGHT_MAX && (hash & 3) == 0) { /* one node in four rises a level */
        hash >>= 2;
        height++;
    }
    return height;
}

/* Also says which node comes before the key; NULL when none does. */
static struct sorted_node *descend(struct sorted_node **first, struct slice key, struct path *path)
{
    struct sorted_node *before = NULL, **links = first;

    for (size_t level = SORTED_HEIGHT_MAX; level-- > 0;) {
        while (links[level] && slice_compare(links[level]->key, key) < 0) {
            before = links[level];
            links = before->after;
        }
        path->links[level] = links;
    }
    return before;
}

void sorted_insert(struct sorted *sorted, struct sorted_node *node)
{
    size_t height = sorted_height(node->key);
    struct path path;

    node->before = descend(sorted->first, node->key, &path);
    for (size_t level = 0; level < height; level++) {
        node->after[level] = path.links[level][level];
        path.links[level][level] = node;
    }
    assert(!node->after[0] || !slice_equal(node->after[0]->key, node->key)); /* the key was not there yet */
    if (node->after[0])
        node->after[0]->before = node;
    else
        sorted->last = node;
}

void sorted_remove(struct sorted *sorted, struct sorted_node *node)
{
    size_t height = sorted_height(node->key);
    struct path path;

    descend(sorted->first, node->key, &path);
    for (size_t level = 0; level < height; level++) {
        assert(path.links[level][level] == node);
        path.links[level][level] = node->after[level];
    }
    assert(node->after[0] || sorted->last == node);
    if (node->after[0])
        node->after[0]->before = node->before;
    else
        sorted->last = node->before;
}

struct sorted_node *sorted_before(const struct sorted *sorted, struct slice key)
{
    struct path path;

    return descend((struct sorted_node **)sorted->first, key, &path);
}

struct sorted_node *sorted_at_or_after(const struct sorted *sorted, struct slice key)
{
    struct sorted_node *before = sorted_before(sorted, key);

    return before ? before->after[0] : sorted->first[0];
}

struct sorted_node *sorted_find(const struct sorted *sorted, struct slice key)
{
    struct sorted_node *node = sorted_at_or_after(sorted, key);

    return node && slice_equal(node->key, key) ? node : NULL;
}
