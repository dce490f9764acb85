/*
 * src/index/policy.h - an indexing policy, read once: which paths of a document have entries.
 *
 * Precedence is the service's: the longest path that matches decides; /? means the value there, a star everything
 * below as well, /[] every element of an array. System properties are paths too: /id and /_ts have entries
 * whatever the paths say, the others (_rid, _self, _etag, _attachments) never do. A computed property has entries
 * only where a path names it, and then its name stands for nothing that is stored.
 *
 * Ownership. A policy lies in the arena it was read into, points into the JSON it was read from, and never changes.
 * Threads. May be shared.
 */
#pragma once
#include "base/op.h"
#include "index/term.h"
#include "json/json.h"

struct index_policy;

/* A path of a filter or of ORDER BY: steps from the root. */
struct index_step {
    bool element;      /* any element of an array */
    struct slice name; /* of a member */
};

struct index_path {
    const struct index_step *step;
    size_t count;
};

struct index_computed {
    struct json value; /* undefined when there is none */
    bool unknown;      /* there is one, and JSON cannot say it: not a number, or too much to be computed */
};

/*
 * The value of a computed property of a document, the same whenever it is asked for. Asked for that of an
 * undefined document it says whether it can do it at all: not ST_OK where the value depends on more than the
 * document, such as system properties.
 */
typedef enum status index_compute(struct op *op, struct json computed, size_t which, struct json document,
                                  struct index_computed *result);

struct index_policy_source {
    struct json policy;     /* indexingPolicy, defaults filled in */
    struct json computed;   /* computedProperties, or undefined */
    bool planar;            /* geospatialConfig.type is Geometry */
    index_compute *compute; /* NULL: computed properties have no entries */
};

/* The policy has been checked: it does not fail but for memory. */
enum status index_policy_read(struct op *op, struct arena *arena, const struct index_policy_source *source,
                              struct index_policy **policy);

/* Mode none, or nothing that could have entries. */
bool index_policy_is_empty(const struct index_policy *policy);

/* automatic: false. Only items whose writer asks for it are indexed. */
bool index_policy_is_manual(const struct index_policy *policy);

/* Whether stored values at the path have entries: a scalar, null, and also an array or object as a whole. */
bool index_policy_has_values(const struct index_policy *policy, const struct index_path *path);

path_id index_path_id(const struct index_path *path);

/*
 * The same for the values of a computed property with this query. Their path's id is of the query and not of the
 * name: what has the name in another version of the policy may be something else. An item whose value is not known
 * has an entry there all the same, in which it is undefined.
 */
bool index_policy_computes(const struct index_policy *policy, struct slice name, struct slice query,
                           path_id *path);

/* The query of the computed property with this name; data is NULL when there is none. */
struct slice index_policy_query(const struct index_policy *policy, struct slice name);

enum { INDEX_PARTS_MAX = 8 };

/* Several paths in one entry: a composite index, or a tuple of paths below one array (an entry for each element). */
struct index_joined {
    path_id id;
    struct index_path prefix; /* of a tuple: the path up to and with the array's element; empty otherwise */
    size_t part_count;
    struct index_path part[INDEX_PARTS_MAX]; /* of a tuple: below the element */
    bool descending[INDEX_PARTS_MAX];
};

/* Every document has exactly one entry in each composite index, undefined where it lacks the path. */
const struct index_joined *index_policy_composites(const struct index_policy *policy, size_t *count);
const struct index_joined *index_policy_tuples(const struct index_policy *policy, size_t *count);

/* Geometries at the path have cells (geo/cells.h). */
struct index_spatial {
    path_id id;
    bool planar;
    double box[4]; /* Geometry: min x, min y, max x, max y */
};

bool index_policy_spatial(const struct index_policy *policy, const struct index_path *path,
                          struct index_spatial *spatial);
