/* src/vector/code.c - vectors to codes and back to scores. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "vector/code.h"

enum { CODE_MAX = 127 };

/* ---- types ---- */

static bool is_whole(double x, double low, double high)
{
    return x >= low && x <= high && x == nearbyint(x);
}

/* Eleven binary digits; below 2^-14 those that are less than 2^-24 are then cut off, as the service does it. */
static double half_of(float x)
{
    static const double least = 0x1p-24;
    double step, half;
    int exponent;

    frexpf(x, &exponent);
    step = ldexp(1, exponent - 11);
    half = nearbyint(x / step) * step;
    return trunc(half / least) * least;
}

static bool are_whole(const double *x, size_t count, double low, double high)
{
    bool whole = true;

    for (size_t i = 0; i < count; i++)
        whole &= is_whole(x[i], low, high);
    return whole;
}

static bool hold_floats(double *x, size_t count)
{
    bool finite = true;

    for (size_t i = 0; i < count; i++) {
        x[i] = (float)x[i];
        finite &= fabs(x[i]) <= FLT_MAX;
    }
    return finite;
}

/* Made of floats, as the service makes them. */
static bool hold_halves(double *x, size_t count)
{
    static const double half_max = 65504;

    if (!hold_floats(x, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        x[i] = half_of((float)x[i]);
        if (fabs(x[i]) > half_max)
            return false;
    }
    return true;
}

bool vector_hold(enum vector_type type, double *x, size_t count)
{
    switch (type) {
    case VECTOR_INT8:
        return are_whole(x, count, INT8_MIN, INT8_MAX);
    case VECTOR_UINT8:
        return are_whole(x, count, 0, UINT8_MAX);
    case VECTOR_FLOAT16:
        return hold_halves(x, count);
    case VECTOR_FLOAT32:
        break;
    }
    return hold_floats(x, count);
}

/* ---- codes ---- */

size_t vector_code_bytes(size_t dimensions)
{
    return (dimensions + VECTOR_LANE_BYTES - 1) / VECTOR_LANE_BYTES * VECTOR_LANE_BYTES;
}

/* The next float above, so that what is rounded is no less than it was. */
static float above(double value)
{
    return nextafterf((float)value, FLT_MAX);
}

bool vector_encode(const double *x, size_t dimensions, int8_t *code, struct vector_measure *measure)
{
    double largest = 0, square = 0, missed = 0, scale;

    memset(code, 0, vector_code_bytes(dimensions));
    *measure = (struct vector_measure){ 0 };
    for (size_t i = 0; i < dimensions; i++) {
        if (!isfinite(x[i]))
            return false;
        largest = fmax(largest, fabs(x[i]));
        square += x[i] * x[i];
    }
    if (largest == 0)
        return true;
    if (!(square < 1e30) || square < 1e-30) /* a product of two must be well within floats */
        return false;
    measure->scale = (float)(largest / CODE_MAX);
    scale = measure->scale;
    for (size_t i = 0; i < dimensions; i++) {
        double whole = fmax(-CODE_MAX, fmin(CODE_MAX, nearbyint(x[i] / scale)));

        code[i] = (int8_t)whole;
        missed += (x[i] - scale * whole) * (x[i] - scale * whole);
    }
    measure->length = (float)sqrt(square);
    measure->error = above(sqrt(missed / square));
    return true;
}

/* So many times what the sum of independent errors is on average. */
static const float likely = 3;

float vector_score_likely(enum vector_function function, const struct vector_measure *x,
                          const struct vector_measure *query, size_t dimensions, float score)
{
    float error = sqrtf((x->error * x->error + query->error * query->error) / (float)dimensions);

    if (function != VECTOR_COSINE)
        error *= x->length * query->length;
    return score + (function == VECTOR_EUCLIDEAN ? 2 : 1) * likely * error;
}

double vector_score_of(enum vector_function function, double distance)
{
    return function == VECTOR_EUCLIDEAN ? -distance * distance : distance;
}
