/* src/geo/cells.c - cells that cover a box, and the ranges of cells that may meet it. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "geo/bounds.h"
#include "geo/cells.h"
#include "keys/bytes.h"

enum {
    AXIS_BITS = 30,                  /* of a position, on each axis */
    LEVEL_BITS = 2,                  /* of those, from a cell to the next smaller */
    LEVELS = AXIS_BITS / LEVEL_BITS, /* below the cell of everything */
    COVER_SIDE = 4,                  /* a box that is searched is this many squares wide, or one more */
    PIECES_MAX = 2,                  /* of a box that goes over the antimeridian */
};

static const uint32_t axis_max = (1u << AXIS_BITS) - 1;

/* A box in units of the smallest cells; ends are inside. */
struct piece {
    uint32_t x0, y0, x1, y1;
};

/* ------- positions ------- */

/* It never falls, so that what lies between two places lies between their positions. */
static uint32_t on_axis(double at, double low, double high)
{
    double part = high > low ? (at - low) / (high - low) : 0;

    if (!(part > 0))
        return 0;
    return part >= 1 ? axis_max : (uint32_t)(part * (axis_max + 1.0));
}

static uint64_t spread(uint32_t axis)
{
    uint64_t bits = axis;

    bits = (bits | bits << 16) & 0x0000ffff0000ffffu;
    bits = (bits | bits << 8) & 0x00ff00ff00ff00ffu;
    bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0fu;
    bits = (bits | bits << 2) & 0x3333333333333333u;
    return (bits | bits << 1) & 0x5555555555555555u;
}

static uint64_t position(uint32_t x, uint32_t y)
{
    return spread(x) << 1 | spread(y);
}

/* The number of the cell that has the position and sides of 2^bits: twice its first position, and half of its size. */
static uint64_t cell_around(uint64_t at, unsigned bits)
{
    uint64_t size = 1ull << (2 * bits);

    assert(bits <= AXIS_BITS);
    return 2 * (at & ~(size - 1)) + size;
}

static struct piece piece_of(double x0, double y0, double x1, double y1, const double side[4])
{
    return (struct piece){ on_axis(x0, side[0], side[2]), on_axis(y0, side[1], side[3]),
                           on_axis(x1, side[0], side[2]), on_axis(y1, side[1], side[3]) };
}

/* The box in one piece, or in two where it leaves the map and comes in again on the other side. */
static size_t pieces_of(const struct bounds *box, const double *plane, struct piece piece[PIECES_MAX])
{
    static const double earth[4] = { -180, -90, 180, 90 };
    double west, east;

    if (plane) {
        piece[0] = piece_of(box->x0, box->y0, box->x1, box->y1, plane);
        return 1;
    }
    if (box->x1 - box->x0 >= 360) {
        piece[0] = piece_of(-180, box->y0, 180, box->y1, earth);
        return 1;
    }
    west = box->x0 - 360 * floor((box->x0 + 180) / 360);
    east = west + (box->x1 - box->x0);
    piece[0] = piece_of(west, box->y0, east, box->y1, earth);
    if (east < 180)
        return 1;
    piece[1] = piece_of(-180, box->y0, east - 360, box->y1, earth);
    return 2;
}

/* ------- the cells of a geometry ------- */

/* How many bits to leave out, so that the piece is at most one square wider and higher than `squares`. */
static unsigned bits_for(const struct piece *piece, uint32_t squares, unsigned step)
{
    unsigned bits = 0;

    while ((piece->x1 >> bits) - (piece->x0 >> bits) > squares ||
           (piece->y1 >> bits) - (piece->y0 >> bits) > squares)
        bits += step;
    return bits;
}

static size_t add_cells(const struct piece *piece, uint64_t cell[CELLS_MAX])
{
    unsigned bits = bits_for(piece, 1, LEVEL_BITS);
    size_t count = 0;

    for (uint32_t x = piece->x0 >> bits; x <= piece->x1 >> bits; x++)
        for (uint32_t y = piece->y0 >> bits; y <= piece->y1 >> bits; y++)
            cell[count++] = cell_around(position(x << bits, y << bits), bits);
    return count;
}

size_t cells_of(struct json geometry, const double *plane, uint64_t cell[CELLS_MAX])
{
    struct piece piece[PIECES_MAX];
    struct bounds box;
    size_t count = 0, pieces;

    if (!bounds_of(geometry, plane != NULL, &box))
        return 0;
    pieces = pieces_of(&box, plane, piece);
    for (size_t i = 0; i < pieces; i++)
        count += add_cells(&piece[i], cell + count);
    assert(count <= CELLS_MAX);
    return count;
}

/* ------- where others may be ------- */

enum { SQUARES_MAX = PIECES_MAX * (COVER_SIDE + 1) * (COVER_SIDE + 1), PER_SQUARE = 1 + LEVELS };

/* What lies in a square, and each cell that contains it. */
static void add_square(struct cell_ranges *ranges, uint64_t at, unsigned bits)
{
    uint64_t last = at + (1ull << (2 * bits)) - 1;

    assert(ranges->count <= (size_t)(SQUARES_MAX - 1) * PER_SQUARE);
    ranges->range[ranges->count++] = (struct cell_range){ 2 * at + 1, 2 * last + 1 };
    for (unsigned up = 0; up <= AXIS_BITS; up += LEVEL_BITS) {
        uint64_t cell = cell_around(at, up);

        if (up > bits)
            ranges->range[ranges->count++] = (struct cell_range){ cell, cell };
    }
}

static void add_squares(struct cell_ranges *ranges, const struct piece *piece)
{
    unsigned bits = bits_for(piece, COVER_SIDE, 1);

    for (uint32_t x = piece->x0 >> bits; x <= piece->x1 >> bits; x++)
        for (uint32_t y = piece->y0 >> bits; y <= piece->y1 >> bits; y++)
            add_square(ranges, position(x << bits, y << bits), bits);
}

static int by_first(const void *a, const void *b)
{
    const struct cell_range *one = a, *other = b;

    return one->first < other->first ? -1 : one->first > other->first;
}

/* Ranges that overlap or touch become one. */
static void unite(struct cell_ranges *ranges)
{
    size_t kept = 0;

    qsort(ranges->range, ranges->count, sizeof(*ranges->range), by_first);
    for (size_t i = 1; i < ranges->count; i++) {
        struct cell_range *last = &ranges->range[kept], next = ranges->range[i];

        if (next.first > last->last + 1)
            ranges->range[++kept] = next;
        else if (next.last > last->last)
            last->last = next.last;
    }
    ranges->count = ranges->count ? kept + 1 : 0;
}

enum status cells_near(struct op *op, struct json geometry, double reach, const double *plane,
                       struct cell_ranges *ranges)
{
    struct piece piece[PIECES_MAX];
    struct bounds box;
    size_t pieces;

    *ranges = (struct cell_ranges){ 0 };
    if (!bounds_of(geometry, plane != NULL, &box) || !bounds_widen(&box, reach, plane != NULL))
        return ST_OK;
    ranges->range = arena_alloc(&op->arena, (size_t)SQUARES_MAX * PER_SQUARE * sizeof(*ranges->range));
    pieces = pieces_of(&box, plane, piece);
    for (size_t i = 0; i < pieces; i++)
        add_squares(ranges, &piece[i]);
    unite(ranges);
    return ST_OK;
}

void cell_put(uint8_t to[CELL_BYTES], uint64_t cell)
{
    put_be(to, cell, CELL_BYTES);
}
