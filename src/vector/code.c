/* src/vector/code.c - vectors to codes and back to scores. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "vector/code.h"

enum { CODE_MAX = 127 };

/* What floats lose on the way from a product of codes to a score, of what is added up. */
static const float rounding = 4e-6f;

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

float vector_score(enum vector_function function, const struct vector_measure *x,
                   const struct vector_measure *query, int32_t dot)
{
    float product = x->scale * query->scale * (float)dot;
    float lengths = x->length * query->length;

    if (function == VECTOR_COSINE)
        return lengths == 0 ? 0 : product / lengths;
    if (function == VECTOR_DOT_PRODUCT)
        return product;
    return 2 * product - x->length * x->length - query->length * query->length;
}

float vector_score_most(enum vector_function function, const struct vector_measure *x,
                        const struct vector_measure *query, int32_t dot)
{
    float score = vector_score(function, x, query, dot);
    float part = query->error + x->error * (1 + query->error) + rounding;
    float lengths = x->length * query->length;

    if (function == VECTOR_COSINE)
        return score + part;
    if (function == VECTOR_DOT_PRODUCT)
        return score + part * lengths;
    return score + 2 * part * lengths + rounding * (x->length * x->length + query->length * query->length);
}

double vector_score_of(enum vector_function function, double distance)
{
    return function == VECTOR_EUCLIDEAN ? -distance * distance : distance;
}
