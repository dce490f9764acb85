/* src/store/sorted.c - a skip list with a way back on its lowest level. */
#include <assert.h>

#include "base/hash.h"
#include "store/sorted.h"

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

/* Levels above those that have nodes are not looked at, and their links not set. */
static void descend(const struct sorted *sorted, struct slice key, struct sorted_place *place)
{
    struct sorted_node **links = (struct sorted_node **)sorted->first;

    place->before = NULL;
    for (size_t level = sorted->height; level-- > 0;) {
        while (links[level] && slice_compare(links[level]->key, key) < 0) {
            place->before = links[level];
            links = place->before->after;
        }
        place->links[level] = links;
    }
}

static struct sorted_node *first_behind(const struct sorted *sorted, const struct sorted_place *place)
{
    return place->before ? place->before->after[0] : sorted->first[0];
}

struct sorted_node *sorted_look(const struct sorted *sorted, struct slice key, struct sorted_place *place)
{
    struct sorted_node *node;

    descend(sorted, key, place);
    node = first_behind(sorted, place);
    return node && slice_equal(node->key, key) ? node : NULL;
}

void sorted_insert_at(struct sorted *sorted, struct sorted_node *node, size_t height,
                      struct sorted_place *place)
{
    for (; sorted->height < height; sorted->height++)
        place->links[sorted->height] = sorted->first;
    node->before = place->before;
    for (size_t level = 0; level < height; level++) {
        node->after[level] = place->links[level][level];
        place->links[level][level] = node;
    }
    assert(!node->after[0] || slice_compare(node->after[0]->key, node->key) > 0); /* the key was not there */
    if (node->after[0])
        node->after[0]->before = node;
    else
        sorted->last = node;
}

void sorted_insert(struct sorted *sorted, struct sorted_node *node)
{
    struct sorted_place place;

    descend(sorted, node->key, &place);
    sorted_insert_at(sorted, node, sorted_height(node->key), &place);
}

void sorted_remove(struct sorted *sorted, struct sorted_node *node)
{
    size_t height = sorted_height(node->key);
    struct sorted_place place;

    descend(sorted, node->key, &place);
    for (size_t level = 0; level < height; level++) {
        assert(place.links[level][level] == node);
        place.links[level][level] = node->after[level];
    }
    assert(node->after[0] || sorted->last == node);
    if (node->after[0])
        node->after[0]->before = node->before;
    else
        sorted->last = node->before;
}

struct sorted_node *sorted_before(const struct sorted *sorted, struct slice key)
{
    struct sorted_place place;

    descend(sorted, key, &place);
    return place.before;
}

struct sorted_node *sorted_at_or_after(const struct sorted *sorted, struct slice key)
{
    struct sorted_place place;

    descend(sorted, key, &place);
    return first_behind(sorted, &place);
}

struct sorted_node *sorted_find(const struct sorted *sorted, struct slice key)
{
    struct sorted_place place;

    return sorted_look(sorted, key, &place);
}
