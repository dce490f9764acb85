/* src/geo/bounds.c - the box around a GeoJSON object, on a plane and on the earth. */
#include <assert.h>
#include <math.h>

#include "geo/bounds.h"
#include "geo/geojson.h"

static const double radians = M_PI / 180;

/* No direction at any place of the earth has a smaller radius of curvature: north at the equator, WGS-84. */
static const double least_radius_metres = 6335439;

/*
 * A tenth of a metre: rounding, here or in exact tests, is less. Nearer to a pole than this, every longitude
 * counts.
 */
static const double slack_degrees = 1e-6, polar_degrees = 89.99;

/* Edges whose ends differ by this much in longitude may go either way round. */
static const double opposite_degrees = 179.999;

/* An area is a difference of sums. Where it is less than this part of them, its sign is not to be relied on. */
static const double least_area = 1e-12;

struct reader {
    bool planar, has_area;
    bool any;        /* a point has been met */
    bool everywhere; /* on the earth: it cannot be bounded */
    struct bounds box;

    /* The run of edges that is being read. On the earth its longitudes may go on past 180. */
    struct bounds run;
    bool begun;
    double first_x;
    double x, y;             /* the last point */
    double area, area_terms; /* to the left of the run, and the sum of what that is the difference of */
};

/* ------- edges on the earth ------- */

static void widen_run(struct reader *reader, double x, double y0, double y1)
{
    struct bounds *run = &reader->run;

    run->x0 = fmin(run->x0, x);
    run->x1 = fmax(run->x1, x);
    run->y0 = fmin(run->y0, y0);
    run->y1 = fmax(run->y1, y1);
}

/*
 * The highest latitude that an arc can reach when its ends are no higher than this. An arc between two places of one
 * latitude is highest in its middle if it lies in the north, and at its ends if it lies in the south.
 */
static double highest(double latitude, double across)
{
    if (latitude <= 0)
        return latitude;
    return atan(tan(latitude * radians) / cos(across / 2 * radians)) / radians;
}

/* The area between an arc and the equator; the sum around a ring is what the ring encloses, clockwise. */
static double area_below(double y0, double y1, double across)
{
    double a = tan(y0 / 2 * radians), b = tan(y1 / 2 * radians);

    return 2 * atan2(tan(across / 2 * radians) * (a + b), 1 + a * b);
}

static void add_edge(struct reader *reader, double x, double y)
{
    double across = x - reader->x, low = fmin(y, reader->y), high = fmax(y, reader->y), below;

    across -= 360 * round(across / 360);
    if (fabs(across) > opposite_degrees) {
        reader->everywhere = true;
        return;
    }
    below = area_below(reader->y, y, across);
    reader->area -= below;
    reader->area_terms += fabs(below);
    reader->x += across;
    reader->y = y;
    widen_run(reader, reader->x, -highest(-low, across), highest(high, across));
}

static void begin_run(void *self, bool hole)
{
    struct reader *reader = self;

    assert(!hole);
    reader->begun = false;
    reader->area = reader->area_terms = 0;
}

/* Adds the run to the box of all runs, moved round the earth to where the box stays narrowest. */
static void add_run(struct reader *reader)
{
    struct bounds *box = &reader->box, run = reader->run;
    double apart = (run.x0 + run.x1) / 2 - (box->x0 + box->x1) / 2, turn;

    if (!reader->any) {
        *box = run;
        reader->any = true;
        return;
    }
    turn = reader->planar ? 0 : 360 * round(apart / 360);
    box->x0 = fmin(box->x0, run.x0 - turn);
    box->x1 = fmax(box->x1, run.x1 - turn);
    box->y0 = fmin(box->y0, run.y0);
    box->y1 = fmax(box->y1, run.y1);
}

/*
 * A ring that certainly runs counter-clockwise, and around no pole, bounds what lies in its box. Any other ring may
 * bound anything.
 */
static void end_run(void *self)
{
    struct reader *reader = self;

    if (!reader->begun)
        return;
    if (!reader->planar && reader->has_area &&
        (fabs(reader->x - reader->first_x) > 180 || !(reader->area > least_area * reader->area_terms)))
        reader->everywhere = true;
    add_run(reader);
}

/* ------- reading ------- */

static bool add_point(void *self, struct geo_point p)
{
    struct reader *reader = self;

    if (!reader->planar && (fabs(p.x) > 180 || fabs(p.y) > 90))
        return false;
    if (!reader->begun) {
        reader->run = (struct bounds){ p.x, p.y, p.x, p.y };
        reader->begun = true;
        reader->x = reader->first_x = p.x;
        reader->y = p.y;
    } else if (reader->planar) {
        widen_run(reader, p.x, p.y, p.y);
    } else {
        add_edge(reader, p.x, p.y);
    }
    return true;
}

/* Holes only take away, so of a polygon's rings the first is enough. */
bool bounds_of(struct json geometry, bool planar, struct bounds *box)
{
    static const struct geojson_visitor visitor = {
        .outlines_only = true, .ring_begins = begin_run, .point = add_point, .ring_ends = end_run
    };
    struct reader reader = { .planar = planar };
    enum geojson_kind kind;

    if (!geojson_find_kind(geometry, &kind))
        return false;
    reader.has_area = kind >= GEOJSON_POLYGON;
    if (!geojson_walk(geometry, kind, &visitor, &reader) || !reader.any)
        return false;
    *box = reader.everywhere ? (struct bounds){ -180, -90, 180, 90 } : reader.box;
    return true;
}

/* ------- widening ------- */

static void widen_on_earth(struct bounds *box, double reach)
{
    double degrees = reach / least_radius_metres / radians * 1.0001 + slack_degrees;
    double farthest = fmax(fabs(box->y0), fabs(box->y1)), across = 180;

    box->y0 = fmax(-90, box->y0 - degrees);
    box->y1 = fmin(90, box->y1 + degrees);
    if (degrees < 90 && farthest + degrees < polar_degrees)
        across = asin(sin(degrees * radians) / cos(farthest * radians)) / radians * 1.0001;
    box->x0 -= across;
    box->x1 += across;
}

bool bounds_widen(struct bounds *box, double reach, bool planar)
{
    if (!(reach >= 0))
        return false;
    if (!planar) {
        widen_on_earth(box, reach);
        return true;
    }
    reach += 1e-9 * (reach + fabs(box->x0) + fabs(box->x1) + fabs(box->y0) + fabs(box->y1));
    box->x0 -= reach;
    box->x1 += reach;
    box->y0 -= reach;
    box->y1 += reach;
    return true;
}
