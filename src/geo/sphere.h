/*
 * src/geo/sphere.h - shapes on the earth: what lies in what, and what meets.
 * A position is the direction with its longitude and latitude, a unit vector; an edge is the
 * shorter arc of the great circle between two of them. Scaling the axis of the earth keeps planes
 * through its centre planes, so these arcs are the great ellipses of WGS-84, and no map projection
 * is needed: poles and the antimeridian are places like any other.
 *
 * A ring bounds what lies to its left: counter-clockwise it is a polygon, clockwise the rest of the
 * earth. So a hole runs clockwise: what is left of all rings is the polygon.
 *
 * Ownership. A shape lies in the arena it was made in.
 * Threads. Nothing here has state.
 */
#pragma once
#include "geo/geojson.h"
#include "geo/vec.h"

struct sphere_ring {
    uint32_t first, count; /* of sphere.at; in a polygon the last repeats the first */
    uint32_t part;
    bool hole;
    struct vec inside; /* a point to the left of the ring, and of its polygon's inside */
    struct vec centre; /* nothing to the left is farther from here: dot(centre, p) >= reach */
    double reach;
};

struct sphere {
    enum geojson_kind kind;
    struct vec *at;
    struct vec *normal; /* of the edge from at[i] to at[i + 1]; it points to the left */
    double *length;     /* of that edge's chord; below 0 where no edge starts, at the end of a ring */
    struct sphere_ring *ring;
    size_t count, ring_count, part_count;
    const char *reason; /* why it is not valid; NULL when it is */
};

/* The form has been found valid. Looks at pairs of edges, so it may also run out of time. */
enum status sphere_make(struct op *op, struct arena *memory, const struct geojson *flat,
                        struct sphere *shape);

enum sphere_place { SPHERE_OUTSIDE, SPHERE_BOUNDARY, SPHERE_INSIDE };

enum sphere_place sphere_place(const struct sphere *shape, struct vec p);

/* Whether they have a point in common, boundaries included. */
enum status sphere_intersects(struct op *op, const struct sphere *a, const struct sphere *b, bool *yes);

/* Whether all of a lies in b, and not just in b's boundary. */
enum status sphere_within(struct op *op, const struct sphere *a, const struct sphere *b, bool *yes);

/* For the files that share the work: edges are named by the position they start from. */

/* The points where two edges meet: none, one, or the two ends of what they share. */
int sphere_edges_meet(const struct sphere *a, size_t i, const struct sphere *b, size_t j, struct vec at[2],
                      bool *crossing);

/* The angle from p to the nearest point of an edge. */
double sphere_edge_apart(const struct sphere *shape, size_t i, struct vec p);

enum sphere_place sphere_ring_place(const struct sphere *shape, const struct sphere_ring *ring, struct vec p);

/* Whether the smaller side of a ring lies to its left. */
bool sphere_runs_left(const struct sphere *shape, const struct sphere_ring *ring);

/* Sets `reason` when edges meet where they may not (sphere_check.c): those of a line may cross, and not overlap. */
enum status sphere_check_edges(struct op *op, struct arena *memory, struct sphere *shape);

/* The same for rings that lie in the wrong place as a whole. */
enum status sphere_check_rings(struct op *op, struct arena *memory, struct sphere *shape);
