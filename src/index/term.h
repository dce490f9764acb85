/*
 * src/index/term.h - a term: which path, and what value it has there. The index is a set of (term, number).
 *
 *     range term      path id 8, value (keys/ordered.h)
 *     composite term  path id 8, a value for each path; the value of a descending path has every bit inverted
 *     spatial term    path id 8, cell (geo/cells.h)
 *     text term       path id 8, a stem and where it stands (index/text_terms.h)
 *
 * A path's id is a hash of its steps and of the kind of its terms, so that documents need no dictionary of paths. Names
 * are hashed with a seed of the policy's own. Otherwise somebody could make a name whose entries lie among those of
 * another path, and be counted with them.
 * Array elements share one step: /tags/[] holds every tag. A member step and an array step never have the same id.
 * Terms sort by memcmp as their values sort, and tell where they end, so that a number may follow
 * (key_index in keys/keys.h).
 */
#pragma once
#include "base/hash.h"
#include "keys/ordered.h"

enum term_kind { TERM_RANGE = 1, TERM_COMPOSITE, TERM_TUPLE, TERM_SPATIAL, TERM_COMPUTED, TERM_TEXT };

enum { TERM_PATH_BYTES = 8 };

typedef uint64_t path_id;

/* From the root downward: path_element(path_member(seed, path_root(TERM_RANGE), "tags")). */
path_id path_root(enum term_kind kind);
path_id path_element(path_id parent);

/* Without a seed, as programs before 0.2 wrote it, the name's hash is murmur3_128(). */
path_id path_member(struct hash_seed seed, path_id parent, struct slice name);

/*
 * The id for cells of geometries at a path, made of the path's id for ranges. `plane` is NULL for geometries on the
 * earth, or the box of a plane.
 */
path_id path_spatial(path_id range, const double *plane);

/* The id for words of texts at a path, made of the path's id for ranges, and of how words are made. */
path_id path_text(path_id range, uint32_t rules, uint32_t language);

/* The same for words as they were written. */
path_id path_forms(path_id range, uint32_t rules, uint32_t language);

/*
 * The id of several paths in one term, made step by step: the id so far, the next part's id, and the part's
 * direction.
 */
path_id path_join(path_id so_far, path_id part, bool descending);

/* The size of the value at the front of a composite term's bytes, which may be inverted; 0 when it is no value. */
size_t term_value_size(struct slice bytes, bool descending);

/* Writes the value to `out`, which has room for ORDERED_BYTES_MAX. Gives back how many bytes it took. */
size_t term_put_value(uint8_t *out, struct json value, bool descending);

/* The same for an array or an object whose json_hash() is known already. */
size_t term_put_hashed(uint8_t *out, enum json_kind kind, struct hash128 hash, bool descending);

/*
 * Writes a time of writing. TERM_TIME_UNKNOWN stands for the time of a commit that is still to come: a number above
 * all times.
 */
size_t term_put_time(uint8_t *out, int64_t ts_ms, bool descending); /* as _ts: whole seconds */
enum { TERM_TIME_BYTES = 10 };
enum { TERM_TIME_UNKNOWN = -1 }; /* for ts_ms */

/* The prefix of all terms of a path. */
void term_put_path(uint8_t out[TERM_PATH_BYTES], path_id path);
