/*
 * src/geo/ellipsoid.h - distances and areas on the earth, the ellipsoid WGS-84.
 * A distance is the length of the great ellipse's arc: the section of the ellipsoid by the plane
 * through its centre and both places. Edges run along such arcs, and the service measures so too. The
 * service adds up some arcs from few points, which gives up to 1e-7 too much or too little; we do not.
 * A geodesic is shorter by less than a millionth up to 7000 km, by a hundred-thousandth up to 16000 km,
 * and by no more than 0.2 % anywhere.
 *
 * Threads. May be called from any.
 */
#pragma once
#include "geo/sphere.h"

/* The least distance in metres: 0 when the shapes meet, infinite when one is empty. */
enum status ellipsoid_distance(struct op *op, const struct sphere *a, const struct sphere *b, double *metres);

/* In square metres; 0 for points and lines. */
double ellipsoid_area(const struct geojson *shape);
