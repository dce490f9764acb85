/*
 * src/index/policy.h - an indexing policy, read once: which paths of a document have entries.
 *
 * Precedence is the service's: the longest path that matches decides. /? means the value there, a star everything
 * below as well, /[] every element of an array. System properties are paths too: /id and /_ts have entries whatever
 * the paths say; the others (_rid, _self, _etag, _attachments) never have any. A computed property has entries only
 * where a path names it. A stored property of the same name then has none.
 *
 * Ownership. A policy lies in the arena it was read into, points into the JSON it was read from, and never changes.
 * Threads. May be shared.
 */
#pragma once
#include "base/op.h"
#include "index/term.h"
#include "json/json.h"
#include "text/language.h"

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

bool index_path_equal(const struct index_path *a, const struct index_path *b);

struct index_computed {
    struct json value; /* undefined when there is none */
    bool unknown;      /* there is a value, but JSON cannot hold it, or it is too much to be computed */
};

/*
 * Computes the value of a computed property of a document; the value is the same at every call. For an undefined
 * document the function says whether it can compute the property at all. It cannot when the value depends on more
 * than the document, such as system properties: then the status is not ST_OK.
 */
typedef enum status index_compute(struct op *op, struct json computed, size_t which, struct json document,
                                  struct index_computed *result);

struct index_policy_source {
    struct json policy;     /* indexingPolicy, defaults filled in */
    struct json computed;   /* computedProperties, or undefined */
    struct json full_text;  /* fullTextPolicy, or undefined */
    bool has_texts;         /* fullTextIndexes have entries: not of items that older programs wrote, */
    bool has_forms;         /* and words as they were written have some, too */
    bool planar;            /* geospatialConfig.type is Geometry */
    index_compute *compute; /* NULL: computed properties have no entries */
    struct hash_seed seed;  /* of its paths' ids */
};

/* The policy has been checked before, so only lack of memory makes this fail. */
enum status index_policy_read(struct op *op, struct arena *arena, const struct index_policy_source *source,
                              struct index_policy **policy);

/* Mode none, or nothing that could have entries. */
bool index_policy_is_empty(const struct index_policy *policy);

/* automatic: false. Only items whose writer asks for it are indexed. */
bool index_policy_is_manual(const struct index_policy *policy);

/* Whether stored values at the path have entries: a scalar, null, and also an array or object as a whole. */
bool index_policy_has_values(const struct index_policy *policy, const struct index_path *path);

path_id index_path_id(const struct index_policy *policy, const struct index_path *path);

/* Whether both give a path the same id. */
bool index_policy_shares_ids(const struct index_policy *a, const struct index_policy *b);

/*
 * The same for the values of a computed property with this query. The id of their path comes from the query and not
 * from the name, because another version of the policy may give the name to another query. An item whose value is not
 * known has an entry too: its value there is undefined.
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

/*
 * Every document has exactly one entry in each composite index. A path that the document lacks counts as undefined.
 */
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

/* Words of strings at the path have entries (index/text_terms.h). */
struct index_text {
    path_id id, forms;
    enum text_language language;
    bool has_forms; /* not of items that older programs wrote */
};

bool index_policy_text(const struct index_policy *policy, const struct index_path *path,
                       struct index_text *text);
