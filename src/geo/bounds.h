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

/*
 * False when it is no GeoJSON object, or has no point. It is also true of some that geojson_read() finds not valid: it
 * does not look at a polygon's holes, and asks neither whether rings are closed nor how many points they have.
 * It allocates nothing: every write of an indexed geometry asks it.
 */
bool bounds_of(struct json geometry, bool planar, struct bounds *box);

/*
 * Makes the box hold everything that is no farther from something in it than `reach` (metres on the earth), and a
 * little more, because of rounding. False when nothing can be that near: the reach is below 0.
 */
bool bounds_widen(struct bounds *box, double reach, bool planar);
