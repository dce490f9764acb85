/*
 * src/geo/bounds.h - the box around a GeoJSON object.
 * On the earth x is longitude, and may go on past 180 or -180: the box goes over the antimeridian. All of the geometry
 * lies in the box, but the box may be larger than need be.
 */
#pragma once
#include "json/json.h"

struct bounds {
    double x0, y0, x1, y1;
};

/* False when it is no GeoJSON object, or has no position. It may be true of one that is not valid in other ways. */
bool bounds_of(struct json geometry, bool planar, struct bounds *box);

/*
 * Everything that is no farther from something in the box than `reach`, metres on the earth, and a little more, for
 * what rounding may do. False when nothing can be: the reach is below 0.
 */
bool bounds_widen(struct bounds *box, double reach, bool planar);
