/* src/geo/ellipsoid.c - distances and areas on WGS-84, along great ellipses. */
#include <assert.h>

#include "geo/ellipsoid.h"

/*
 * The service takes the polar radius to the millimetre, a quarter of one less than WGS-84 has: with it
 * the published distance of 1907 km comes out in 13 digits, and the published area in 11.
 */
static const double equator_metres = 6378137, pole_metres = 6356752.314;
static const double eccentricity2 = 0.006694380066764775; /* 1 less the square of the radii's ratio */

/* No direction at any place has a smaller radius of curvature: north at the equator. */
static const double least_radius_metres = 6335439.3;

/* ------- an arc ------- */

/*
 * The earth scaled along its axis to a sphere: where the place that a direction belongs to lies on it.
 * Great ellipses are great circles there, as they are among directions.
 */
static struct vec on_scaled(struct vec direction)
{
    return vec_unit((struct vec){ direction.x, direction.y, direction.z * (pole_metres / equator_metres) });
}

/*
 * The length of an arc of `angle`, given how its middle m and its tangent there t lie to the axis.
 * At s from the middle the arc is scaled back by sqrt(1 - e2 (t cos s - m sin s)^2), which is
 * sqrt(mean (1 - q cos 2(s + s0))), with q below 0.0034; the root's series in q is integrated term by
 * term. The first term left out, 7/256 q^5, is below 2e-14. P is q^n cos 2n s0, S is sin(n angle):
 * both follow from the two before, and nothing is divided by what may be 0.
 */
static double scaled_back(double t, double m, double angle, double sine, double cosine)
{
    double mean = 1 - eccentricity2 * (t * t + m * m) / 2;
    double q = eccentricity2 * (t * t + m * m) / 2 / mean, q2 = q * q;
    double P1 = eccentricity2 * (t * t - m * m) / 2 / mean, P2 = 2 * P1 * P1 - q2;
    double P3 = 2 * P1 * P2 - q2 * P1, P4 = 2 * P1 * P3 - q2 * P2;
    double S2 = 2 * cosine * sine, S3 = 2 * cosine * S2 - sine, S4 = 2 * cosine * S3 - S2;
    double sum = (1 - q2 / 16 - 15 * q2 * q2 / 1024) * angle;

    sum -= (1 / 2.0 + 3 * q2 / 64) * P1 * sine;
    sum -= (1 / 16.0 + 5 * q2 / 256) * P2 * S2 / 2;
    sum -= 1 / 64.0 * P3 * S3 / 3;
    sum -= 5 / 1024.0 * P4 * S4 / 4;
    return equator_metres * sqrt(mean) * sum;
}

/*
 * Between two places on the scaled sphere. Exchanging them changes nothing but the tangent's sign.
 * Between opposite places any great ellipse goes, and the one over the poles is the shortest.
 */
static double arc_metres(struct vec a, struct vec b)
{
    struct vec d = vec_sub(b, a), sum = vec_add(a, b);
    double chord = vec_length(d), twice = vec_length(sum);

    if (chord == 0)
        return 0;
    if (twice < vec_same)
        return scaled_back(1, 0, M_PI, 0, -1);
    return scaled_back(d.z / chord, sum.z / twice, 2 * atan2(chord, twice), chord * twice / 2,
                       (twice * twice - chord * chord) / 4);
}

/* ------- from a place to an edge ------- */

/* An edge as a path, start cos w + along sin w for w from 0 to length, and the place to measure to. */
struct path {
    struct vec start, along;
    double length;
    double foot; /* the w of the least angle, on the whole circle */
    struct vec to;
};

static struct path path_of(const struct sphere *shape, size_t i, struct vec p)
{
    struct vec start = shape->at[i], along = vec_cross(shape->normal[i], start);

    return (struct path){
        .start = start,
        .along = along,
        .length = 2 * asin(fmin(1, shape->length[i] / 2)),
        .foot = atan2(vec_dot(along, p), vec_dot(start, p)),
        .to = on_scaled(p),
    };
}

static double metres_from(const struct path *path, double w)
{
    struct vec at = vec_add(vec_scale(path->start, cos(w)), vec_scale(path->along, sin(w)));

    return arc_metres(on_scaled(at), path->to);
}

/* Where in a piece of a path to begin: at the foot or at an end, whichever is nearest. */
static double start_in(const struct path *path, double from, double to)
{
    double here = metres_from(path, from), there = metres_from(path, to);

    if (path->foot > from && path->foot < to && metres_from(path, path->foot) < fmin(here, there))
        return path->foot;
    return here <= there ? from : to;
}

/*
 * The least distance from the path around w, if it can be less than `enough`. At w it is too much by
 * less than 0.002 of it, and the distance's square is nearly a parabola: each step goes to the lowest
 * point of the one through three places, but no farther than twice from one to the next, and these
 * come closer as the steps become small.
 */
static double least_around(const struct path *path, double w, double enough)
{
    enum { STEPS_MAX = 12 };
    double metres = metres_from(path, w);
    double angle = metres / equator_metres, stride = angle / 64 + 1e-6;

    for (int step = 0; step < STEPS_MAX && metres * 0.998 < enough; step++) {
        double low = metres_from(path, w - stride), high = metres_from(path, w + stride);
        double lean = (low - high) * (low + high), bend = low * low - 2 * metres * metres + high * high;
        double shift = fabs(lean) < 4 * bend ? stride * lean / (2 * bend) : copysign(2 * stride, lean);
        double next = fmin(fmax(w + shift, 0), path->length), here = metres_from(path, next);

        if (fabs(next - w) < 1e-7 * angle)
            return fmin(metres, here);
        if (here >= metres || fabs(shift) < stride)
            stride /= 4;
        w = here < metres ? next : w;
        metres = fmin(metres, here);
    }
    return metres;
}

/*
 * Far from p, where the angle hardly changes along an edge, the flattening of the earth can make
 * several places lower than those around them: there the edge is looked at in pieces.
 */
static double distance_to_edge(const struct sphere *shape, size_t i, struct vec p, double enough)
{
    struct path path = path_of(shape, i, p);
    int pieces = sphere_edge_apart(shape, i, p) < 1 ? 1 : 1 + (int)(path.length * 10);

    for (int k = 0; k < pieces; k++) {
        double w = start_in(&path, path.length * k / pieces, path.length * (k + 1) / pieces);

        enough = fmin(enough, least_around(&path, w, enough));
    }
    return enough;
}

/* ------- from a shape to a shape ------- */

/* Cheap, and true of most edges: even the near end of a chord as long as the edge's is too far from p. */
static bool farther(const struct sphere *shape, size_t i, struct vec p, double angle)
{
    return angle < M_PI && vec_apart(shape->at[i], p) - shape->length[i] > 2 * sin(angle / 2);
}

/* The edge at the least angle from p, if there is one at less than `angle`; else the number of positions. */
static size_t nearest_edge(const struct sphere *shape, struct vec p, double angle)
{
    size_t nearest = shape->count;

    for (size_t i = 0; i < shape->count; i++) {
        double here;

        if (shape->length[i] < 0 || farther(shape, i, p, angle))
            continue;
        here = sphere_edge_apart(shape, i, p);
        if (here < angle) {
            angle = here;
            nearest = i;
        }
    }
    return nearest;
}

/*
 * From p to the shape's edges, if that is less than *best. The nearest by angle is nearly the nearest:
 * it is measured first, and of the others only those that the shape of the earth may bring nearer.
 */
static void least_to_edges(const struct sphere *shape, struct vec p, double *best)
{
    size_t nearest = nearest_edge(shape, p, *best / least_radius_metres);

    if (nearest == shape->count)
        return;
    *best = distance_to_edge(shape, nearest, p, *best);
    for (size_t i = 0; i < shape->count; i++) {
        double angle = *best / least_radius_metres;

        if (shape->length[i] >= 0 && i != nearest && !farther(shape, i, p, angle) &&
            sphere_edge_apart(shape, i, p) < angle)
            *best = distance_to_edge(shape, i, p, *best);
    }
}

static enum status least_between(struct op *op, const struct sphere *a, const struct sphere *b, double *best)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < a->count; i++) {
        if (i > 0)
            TRY(op_check(op));
        least_to_edges(b, a->at[i], best);
    }
out:
    return st;
}

enum status ellipsoid_distance(struct op *op, const struct sphere *a, const struct sphere *b, double *metres)
{
    bool meet = false;
    enum status st;

    if (a->kind == GEOJSON_POINT && b->kind == GEOJSON_POINT) {
        bool same = vec_apart(a->at[0], b->at[0]) < vec_same; /* a pole has every longitude */

        *metres = same ? 0 : arc_metres(on_scaled(a->at[0]), on_scaled(b->at[0]));
        return ST_OK;
    }
    *metres = INFINITY;
    TRY(sphere_intersects(op, a, b, &meet));
    if (meet) {
        *metres = 0;
        goto out;
    }
    TRY(least_between(op, a, b, metres)); /* two arcs that do not cross are nearest at an end of one */
    TRY(least_between(op, b, a, metres));
out:
    return st;
}

/* ------- area ------- */

/*
 * Tangent of half the authalic latitude: on the sphere of the earth's area, equal areas stay equal. The
 * latitude's sine is q / q_pole; `lack` is what that lacks to 1, which says more near a pole.
 */
static double half_authalic(double sine)
{
    double e2 = eccentricity2, e = sqrt(e2), s = fmin(fabs(sine), 1);
    double q = (1 - e2) * (s / (1 - e2 * s * s) + atanh(e * s) / e);
    double q_pole = 1 + (1 - e2) * atanh(e) / e;
    double lack =
        ((1 - s) * (1 + e2 * s) / (1 - e2 * s * s) + (1 - e2) * atanh(e * (1 - s) / (1 - e2 * s)) / e) /
        q_pole;

    return copysign(q / q_pole / (1 + sqrt(lack * (2 - lack))), sine);
}

static double authalic_radius_squared(void)
{
    double e2 = eccentricity2, e = sqrt(e2);

    return equator_metres * equator_metres * (1 + (1 - e2) * atanh(e) / e) / 2;
}

/*
 * What lies above an arc, up to the north pole: the lune between its ends' longitudes, less what is
 * between arc and equator.
 */
static double above_arc(double half_a, double half_b, double longitudes)
{
    return longitudes - 2 * atan2(tan(longitudes / 2) * (half_a + half_b), 1 + half_a * half_b);
}

static double above_short_edge(struct geo_point a, struct geo_point b)
{
    double longitudes =
        remainder(b.x - a.x, 360) * (M_PI / 180); /* exact before it is scaled: small areas need it */

    return above_arc(half_authalic(sin(a.y * (M_PI / 180))), half_authalic(sin(b.y * (M_PI / 180))),
                     longitudes);
}

/* An edge is no great circle on the authalic sphere, but a piece of a degree is one to all digits that count. */
static double above_edge(struct geo_point start, struct geo_point end)
{
    struct vec a = vec_of_degrees(start.x, start.y), b = vec_of_degrees(end.x, end.y), from = a;
    double angle = 2 * asin(fmin(1, vec_apart(a, b) / 2)), sum = 0;
    int pieces = 1 + (int)(angle * (180 / M_PI));

    if (pieces == 1)
        return above_short_edge(start, end);
    for (int i = 1; i <= pieces; i++) {
        double t = (double)i / pieces * angle;
        struct vec to = vec_unit(vec_add(vec_scale(a, sin(angle - t)), vec_scale(b, sin(t))));
        double longitudes = atan2(from.x * to.y - from.y * to.x, from.x * to.x + from.y * to.y);

        sum += above_arc(half_authalic(from.z), half_authalic(to.z), longitudes);
        from = to;
    }
    return sum;
}

/* To the left of a ring, in steradians: all that is above its edges, but for whole spheres. */
static double area_of(const struct geojson *shape, const struct geojson_ring *ring)
{
    double sum = 0;

    for (size_t i = ring->first; i + 1 < (size_t)ring->first + ring->count; i++)
        sum += above_edge(shape->at[i], shape->at[i + 1]);
    sum = fmod(sum, 4 * M_PI);
    return sum < 0 ? sum + 4 * M_PI : sum;
}

double ellipsoid_area(const struct geojson *shape)
{
    double sum = 0;

    assert(!shape->reason);
    if (!geojson_has_area(shape))
        return 0;
    for (size_t i = 0; i < shape->ring_count; i++) {
        double area = area_of(shape, &shape->ring[i]);

        sum += shape->ring[i].hole ? -fmin(area, 4 * M_PI - area) : area;
    }
    return sum * authalic_radius_squared();
}
