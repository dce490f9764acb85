/*
 * src/query/function/fn_spatial.c - the built-in functions of GeoJSON values.
 * On the earth a shape is a struct sphere, on a plane (eval->planar) a struct geojson. What is not valid
 * GeoJSON gives undefined everywhere but in the two functions that ask, which always answer.
 */
#include "query/function/builtins.h"
#include "query/eval/eval.h"
#include "geo/ellipsoid.h"
#include "geo/planar.h"

struct shape {
    struct geojson flat;
    struct sphere sphere; /* only on the earth, and only if the form is valid */
};

/*
 * What a call remembers from its first row: the arguments, and the shapes they are. An argument that
 * is a constant is found here ever after; one that is not is not tried again.
 */
struct memo {
    struct remembered {
        struct slice bytes;
        const struct shape *shape;
        bool differs;
    } argument[2];
};

static const char *reason_of(const struct shape *shape)
{
    return shape->flat.reason ?: shape->sphere.reason;
}

static enum status read_shape(struct eval *eval, struct arena *memory, struct json object,
                              struct shape *shape)
{
    if (!geojson_read(memory, object, eval->planar, &shape->flat))
        return ST_QUERY_MEMORY;
    if (shape->flat.reason)
        return ST_OK;
    if (eval->planar)
        return planar_check(eval->op, memory, &shape->flat);
    return sphere_make(eval->op, memory, &shape->flat, &shape->sphere);
}

static const struct shape *new_shape(struct eval *eval, struct arena *memory, struct json object)
{
    struct shape *shape = arena_try_alloc(memory, sizeof(*shape));
    enum status st = ST_QUERY_MEMORY;

    if (shape) {
        *shape = (struct shape){ 0 };
        st = read_shape(eval, memory, object, shape);
    }
    if (st == ST_OK)
        return shape;
    eval_fail(eval, st);
    return NULL;
}

static struct memo *memo_of(struct eval *eval)
{
    if (!*eval->memo) {
        *eval->memo = arena_alloc(eval->kept, sizeof(struct memo));
        memset(*eval->memo, 0, sizeof(struct memo));
    }
    return *eval->memo;
}

/* Absent past the limit, which equals nothing. */
static struct slice copy_of(struct arena *memory, struct slice bytes)
{
    char *copy = arena_try_alloc(memory, bytes.size);

    return copy ? slice_make(memcpy(copy, bytes.data, bytes.size), bytes.size) : slice_make(NULL, 0);
}

/* NULL: memory or time is up, which has been recorded. */
static const struct shape *shape_of(struct eval *eval, int index, struct json object)
{
    struct remembered *known = &memo_of(eval)->argument[index];
    struct slice bytes = json_bytes(object);

    if (known->shape && slice_equal(known->bytes, bytes))
        return known->shape;
    if (known->shape || known->differs) {
        known->shape = NULL;
        known->differs = true;
        return new_shape(eval, &eval->op->arena, object);
    }
    known->shape = new_shape(eval, eval->kept, object);
    known->bytes = copy_of(eval->kept, bytes);
    return known->shape;
}

/* NULL when there is no answer but undefined. */
static const struct shape *valid_shape(struct eval *eval, int index, struct value arg)
{
    const struct shape *shape = arg.kind == JSON_OBJECT ? shape_of(eval, index, arg.json) : NULL;

    return shape && !reason_of(shape) ? shape : NULL;
}

static struct value fn_area(struct eval *eval, const struct value *arg, int count)
{
    const struct shape *shape = valid_shape(eval, 0, arg[0]);
    enum status st = ST_OK;
    double area;

    (void)count;
    if (!shape)
        return value_undefined;
    if (eval->planar)
        st = planar_area(eval->op, &shape->flat, &area);
    else
        area = ellipsoid_area(&shape->flat);
    return st == ST_OK ? value_double(area) : eval_fail(eval, st);
}

static struct value fn_distance(struct eval *eval, const struct value *arg, int count)
{
    const struct shape *a = valid_shape(eval, 0, arg[0]), *b = valid_shape(eval, 1, arg[1]);
    enum status st;
    double distance;

    (void)count;
    if (!a || !b)
        return value_undefined;
    if (eval->planar)
        st = planar_distance(eval->op, &a->flat, &b->flat, &distance);
    else
        st = ellipsoid_distance(eval->op, &a->sphere, &b->sphere, &distance);
    if (st != ST_OK)
        return eval_fail(eval, st);
    return isfinite(distance) ? value_double(distance) : value_undefined; /* no distance to nothing */
}

/* A question about two shapes: how a plane answers it, and how the earth does. */
struct relation {
    enum status (*planar)(struct op *op, const struct geojson *a, const struct geojson *b, bool *yes);
    enum status (*sphere)(struct op *op, const struct sphere *a, const struct sphere *b, bool *yes);
};

static struct value relate(struct eval *eval, const struct value *arg, const struct relation *relation)
{
    const struct shape *a = valid_shape(eval, 0, arg[0]), *b = valid_shape(eval, 1, arg[1]);
    enum status st;
    bool yes;

    if (!a || !b)
        return value_undefined;
    if (eval->planar)
        st = relation->planar(eval->op, &a->flat, &b->flat, &yes);
    else
        st = relation->sphere(eval->op, &a->sphere, &b->sphere, &yes);
    return st == ST_OK ? value_bool(yes) : eval_fail(eval, st);
}

static struct value fn_intersects(struct eval *eval, const struct value *arg, int count)
{
    static const struct relation intersects = { planar_intersects, sphere_intersects };

    (void)count;
    return relate(eval, arg, &intersects);
}

static struct value fn_within(struct eval *eval, const struct value *arg, int count)
{
    static const struct relation within = { planar_within, sphere_within };

    (void)count;
    return relate(eval, arg, &within);
}

static struct value fn_isvalid(struct eval *eval, const struct value *arg, int count)
{
    const struct shape *shape;

    (void)count;
    if (arg[0].kind != JSON_OBJECT)
        return value_bool(false);
    shape = shape_of(eval, 0, arg[0].json);
    return shape ? value_bool(!reason_of(shape)) : value_undefined;
}

static struct value detailed(struct eval *eval, const char *reason)
{
    struct json_builder out;

    json_builder_init(&out, &eval->op->arena);
    json_begin_object(&out);
    json_add_name(&out, slice_of("valid"));
    json_add_bool(&out, !reason);
    if (reason) {
        json_add_name(&out, slice_of("reason"));
        json_add_string(&out, slice_of(reason));
    }
    json_end(&out);
    return eval_built(eval, &out);
}

static struct value fn_isvaliddetailed(struct eval *eval, const struct value *arg, int count)
{
    const struct shape *shape;

    (void)count;
    if (arg[0].kind != JSON_OBJECT)
        return detailed(eval, GEOJSON_UNKNOWN);
    shape = shape_of(eval, 0, arg[0].json);
    return shape ? detailed(eval, reason_of(shape)) : value_undefined;
}

static const struct builtin rows[] = {
    /* name, fewest and most arguments; then what is not as usual */
    { "ST_AREA", 1, 1, .code = fn_area, .flags = SPATIAL | TAKES_LONG },
    { "ST_DISTANCE", 2, 2, .code = fn_distance, .flags = SPATIAL | TAKES_LONG | ORDERS,
      .claim = { CLAIM_DISTANCE } },
    { "ST_INTERSECTS", 2, 2, .code = fn_intersects, .flags = SPATIAL | TAKES_LONG,
      .claim = { CLAIM_TOUCHES } },
    { "ST_ISVALID", 1, 1, .code = fn_isvalid, .flags = SPATIAL | TAKES_LONG | TAKES_UNDEFINED },
    { "ST_ISVALIDDETAILED", 1, 1, .code = fn_isvaliddetailed,
      .flags = SPATIAL | TAKES_LONG | TAKES_UNDEFINED },
    { "ST_WITHIN", 2, 2, .code = fn_within, .flags = SPATIAL | TAKES_LONG, .claim = { CLAIM_TOUCHES } },
};

const struct builtin_family builtins_spatial = { rows, sizeof(rows) / sizeof(rows[0]) };
