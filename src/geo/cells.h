/*
 * src/geo/cells.h - where on the earth, or on a plane, a geometry lies, as numbers that sort.
 *
 * Longitude and latitude, or x and y, are halved again and again; the halves chosen, in turn, are the bits of a
 * position. A cell is what has the first 4, 8, 12 ... bits in common. Its number has those bits, a 1 and zeros, so
 * that it lies in the middle of the numbers of what it contains. A geometry has the few cells that cover the box
 * around it, and meets another only if a cell of one contains a cell of the other.
 *
 * On the earth an edge is an arc of a great circle, and a ring bounds what lies to its left (geo/sphere.h). What
 * would be hard to bound, such as a polygon around a pole, has the one cell of everything.
 *
 * Threads. Nothing here has state.
 *
 * Promises
 * 1. Whatever ST_DISTANCE, ST_WITHIN and ST_INTERSECTS accept is among what cells_near() gives.
 */
#pragma once
#include "base/op.h"
#include "json/json.h"

enum { CELLS_MAX = 8, CELL_BYTES = 8 };

/*
 * Writes the cells of a GeoJSON object and returns how many they are; none when it has no box (geo/bounds.h).
 * `plane` is min x, min y, max x, max y, and what lies outside counts as lying at the edge. NULL: on the earth.
 */
size_t cells_of(struct json geometry, const double *plane, uint64_t cell[CELLS_MAX]);

/* Numbers of cells: [first, last]. In order, and apart from one another. */
struct cell_range {
    uint64_t first, last;
};

struct cell_ranges {
    struct cell_range *range;
    size_t count;
};

/*
 * Where to look for cells of geometries that meet this one, or are no farther from it than `reach` (metres on the
 * earth). None when this one has no box. In the op's arena.
 */
enum status cells_near(struct op *op, struct json geometry, double reach, const double *plane,
                       struct cell_ranges *ranges);

/* As the value of a term. */
void cell_put(uint8_t to[CELL_BYTES], uint64_t cell);
