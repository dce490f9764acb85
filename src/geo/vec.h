/* src/geo/vec.h - vectors of three doubles, for directions from the centre of the earth. */
#pragma once
#include <math.h>

struct vec {
    double x, y, z;
};

/* Two directions closer than this are one: 60 nanometres on the ground, and far above rounding. */
static const double vec_same = 1e-14;

static inline struct vec vec_add(struct vec a, struct vec b)
{
    return (struct vec){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static inline struct vec vec_sub(struct vec a, struct vec b)
{
    return (struct vec){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static inline struct vec vec_scale(struct vec a, double by)
{
    return (struct vec){ a.x * by, a.y * by, a.z * by };
}

static inline double vec_dot(struct vec a, struct vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* a x b, written so that near vectors lose nothing to rounding. Half its length is the chord between
   them as long as they are near. */
static inline struct vec vec_cross(struct vec a, struct vec b)
{
    struct vec s = vec_add(a, b), d = vec_sub(b, a);

    return (struct vec){ (s.y * d.z - s.z * d.y) / 2, (s.z * d.x - s.x * d.z) / 2,
                         (s.x * d.y - s.y * d.x) / 2 };
}

static inline double vec_length(struct vec a)
{
    return sqrt(vec_dot(a, a));
}

static inline double vec_apart(struct vec a, struct vec b)
{
    return vec_length(vec_sub(a, b));
}

static inline struct vec vec_unit(struct vec a)
{
    return vec_scale(a, 1 / vec_length(a));
}

static inline struct vec vec_middle(struct vec a, struct vec b)
{
    return vec_unit(vec_add(a, b));
}

static inline struct vec vec_of_degrees(double longitude, double latitude)
{
    double lon = longitude * (M_PI / 180), lat = latitude * (M_PI / 180);

    return (struct vec){ cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat) };
}
