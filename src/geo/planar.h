/*
 * src/geo/planar.h - shapes on a plane, for containers whose geospatialConfig.type is Geometry.
 * The work is done by GEOS, whose library is loaded when the first shape needs it. Shapes whose
 * boxes are apart are answered without it.
 *
 * Threads. May be called from any.
 */
#pragma once
#include "geo/geojson.h"

/* Sets `reason` when edges overlap, rings cross or lie in the wrong place. The form has been found valid. */
enum status planar_check(struct op *op, struct arena *memory, struct geojson *shape);

/* For planar.c (planar_check.c): what is wrong with edges; and with rings, where something is. */
enum status planar_check_edges(struct op *op, struct arena *memory, struct geojson *shape);
void planar_check_rings(struct arena *memory, struct geojson *shape);

enum status planar_area(struct op *op, const struct geojson *shape, double *area);
enum status planar_distance(struct op *op, const struct geojson *a, const struct geojson *b,
                            double *distance);
enum status planar_intersects(struct op *op, const struct geojson *a, const struct geojson *b, bool *yes);
enum status planar_within(struct op *op, const struct geojson *a, const struct geojson *b, bool *yes);
