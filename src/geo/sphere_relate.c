/* src/geo/sphere_relate.c - two shapes on the earth: whether they meet, whether one holds the other. */
#include <assert.h>

#include "geo/sphere.h"

static bool has_edge(const struct sphere *shape, size_t i)
{
    return shape->length[i] >= 0;
}

/* Two edges are too far apart to meet when their starts are. Cheap, and true of nearly all pairs. */
static bool far_apart(const struct sphere *a, size_t i, const struct sphere *b, size_t j)
{
    double reach = a->length[i] + b->length[j] + vec_same;
    struct vec d = vec_sub(a->at[i], b->at[j]);

    return vec_dot(d, d) > reach * reach;
}

static bool any_edge_meets(const struct sphere *a, size_t i, const struct sphere *b)
{
    struct vec at[2];
    bool crossing;

    for (size_t j = 0; j < b->count; j++)
        if (has_edge(b, j) && !far_apart(a, i, b, j) && sphere_edges_meet(a, i, b, j, at, &crossing))
            return true;
    return false;
}

/* Whether some ring of a begins in b: when no edges meet, the rest of the ring is where its beginning is. */
static bool any_ring_in(const struct sphere *a, const struct sphere *b)
{
    for (size_t r = 0; r < a->ring_count; r++)
        if (sphere_place(b, a->at[a->ring[r].first]) != SPHERE_OUTSIDE)
            return true;
    return false;
}

enum status sphere_intersects(struct op *op, const struct sphere *a, const struct sphere *b, bool *yes)
{
    enum status st = ST_OK;

    assert(!a->reason);
    assert(!b->reason);
    *yes = any_ring_in(a, b) || any_ring_in(b, a);
    for (size_t i = 0; i + 1 < a->count && !*yes; i++) {
        TRY(op_check(op));
        *yes = has_edge(a, i) && any_edge_meets(a, i, b);
    }
out:
    return st;
}

/* ------- within ------- */

/* An edge of one shape, cut wherever it meets an edge of the other. */
struct cuts {
    struct vec start;
    struct cut {
        struct vec at;
        double apart; /* from the start */
    } * cut;
    size_t count;
};

static void add_cut(struct cuts *cuts, struct vec at)
{
    cuts->cut[cuts->count++] = (struct cut){ at, vec_apart(cuts->start, at) };
}

static int by_apart(const void *a, const void *b)
{
    const struct cut *x = a, *y = b;

    return (x->apart > y->apart) - (x->apart < y->apart);
}

static void cut_edge(const struct sphere *a, size_t i, const struct sphere *b, struct cuts *cuts)
{
    struct vec at[2];
    bool crossing;

    cuts->start = a->at[i];
    cuts->count = 0;
    add_cut(cuts, a->at[i]);
    add_cut(cuts, a->at[i + 1]);
    for (size_t j = 0; j < b->count; j++)
        if (has_edge(b, j) && !far_apart(a, i, b, j))
            for (int n = sphere_edges_meet(a, i, b, j, at, &crossing); n > 0; n--)
                add_cut(cuts, at[n - 1]);
    qsort(cuts->cut, cuts->count, sizeof(*cuts->cut), by_apart);
}

/*
 * Where a's edges lie in b: seen[place] becomes true for each place some piece of them is in. A piece
 * between two cuts lies where its middle does. Stops at the first piece in `enough`.
 */
static enum status edges_in(struct op *op, const struct sphere *a, const struct sphere *b,
                            enum sphere_place enough, bool seen[SPHERE_INSIDE + 1])
{
    struct cuts cuts = { .cut = arena_try_alloc(&op->arena, (2 * b->count + 2) * sizeof(struct cut)) };
    enum status st = ST_OK;

    if (!cuts.cut)
        return ST_QUERY_MEMORY;
    for (size_t i = 0; i + 1 < a->count && !seen[enough]; i++) {
        TRY(op_check(op));
        if (!has_edge(a, i))
            continue;
        cut_edge(a, i, b, &cuts);
        for (size_t k = 1; k < cuts.count; k++)
            if (vec_apart(cuts.cut[k - 1].at, cuts.cut[k].at) > 2 * vec_same)
                seen[sphere_place(b, vec_middle(cuts.cut[k - 1].at, cuts.cut[k].at))] = true;
    }
out:
    return st;
}

/* Each polygon's inside is in one piece, and no boundary of b runs through it: one point of it tells. */
static bool insides_in(const struct sphere *a, const struct sphere *b)
{
    for (size_t r = 0; r < a->ring_count; r++)
        if (!a->ring[r].hole && sphere_place(b, a->ring[r].inside) != SPHERE_INSIDE)
            return false;
    return true;
}

static int dimension(const struct sphere *shape)
{
    return shape->kind == GEOJSON_POINT ? 0 : shape->kind == GEOJSON_LINE ? 1 : 2;
}

enum status sphere_within(struct op *op, const struct sphere *a, const struct sphere *b, bool *yes)
{
    bool a_in_b[SPHERE_INSIDE + 1] = { false }, b_in_a[SPHERE_INSIDE + 1] = { false };
    enum status st = ST_OK;

    assert(!a->reason);
    assert(!b->reason);
    *yes = false;
    if (dimension(a) > dimension(b) || a->count == 0)
        return ST_OK;
    if (a->kind == GEOJSON_POINT) {
        *yes = sphere_place(b, a->at[0]) == SPHERE_INSIDE;
        return ST_OK;
    }
    TRY(edges_in(op, a, b, SPHERE_OUTSIDE, a_in_b));
    if (dimension(a) == 1) {
        *yes = !a_in_b[SPHERE_OUTSIDE] && a_in_b[SPHERE_INSIDE];
    } else if (!a_in_b[SPHERE_OUTSIDE]) {
        TRY(edges_in(op, b, a, SPHERE_INSIDE, b_in_a));
        *yes = !b_in_a[SPHERE_INSIDE] && insides_in(a, b);
    }
out:
    return st;
}
