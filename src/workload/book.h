/*
 * src/workload/book.h - the record itself, for the files of this folder. Whoever calls anything here holds its lock.
 * All of its memory is one arena with a limit, on the account; book_take() says no past it. Records of one kind have one size,
 * and one that nobody wants is used again.
 */
#pragma once
#include "base/sketch.h"
#include "query/outline.h"
#include "workload/workload.h"

enum {
    BOOK_SLACK_BYTES = 2 * 1024 * 1024, /* that an arena's chunks have more than is used of them */
    BOOK_CONTAINERS_MAX = 256,
    BOOK_QUERIES_MAX = 64,      /* of a container */
    BOOK_PATHS_MAX = 200,       /* likewise */
    BOOK_TEXT_BYTES_MAX = 1500, /* of an outline */
    BOOK_EXAMPLE_BYTES_MAX = 1500,
    BOOK_EXAMPLES = 2,       /* of a query */
    BOOK_KEYS_EXACT = 10000, /* requests of a container whose keys are all counted; then one in: */
    BOOK_KEYS_PART = 8,
    BOOK_RECENT = 1024, /* reads that a query may follow */
    BOOK_RECENT_MS = 10 * 1000,
};

enum { PATH_USES = 7 };

struct tally {
    uint64_t count, failed, charge, bytes, took_us; /* charges in hundredths of a request unit */
};

struct path_record {
    uint64_t hash;
    uint64_t use[PATH_USES]; /* by the bits of enum path_use: queries that were executed */
    uint64_t changed;        /* writes that changed a value there */
    uint64_t alone; /* writes whose changes all lie there or below, and below no single member of it */
    char path[OUTLINE_PATH_BYTES_MAX + 1];
};

struct query_path {
    uint16_t path; /* of the container's */
    uint16_t use;
};

/* Reads of items whose ids a query was then asked with. */
struct after_reads {
    struct rid container;
    uint16_t path; /* that must equal the id */
    uint64_t count;
};

struct query_record {
    uint64_t hash;
    uint64_t executed, requests, single, charge, rows, scanned, ranges, bytes, took_us;
    bool reads_whole, aggregates, is_partial;
    struct query_path path[OUTLINE_PATHS_MAX];
    size_t path_count;
    struct after_reads after;
    char text[BOOK_TEXT_BYTES_MAX + 1];
    char example[BOOK_EXAMPLES]
                [BOOK_EXAMPLE_BYTES_MAX + 1]; /* {"query":...,"parameters":[...],"key":[...]}, or nothing */
};

struct container_record {
    struct rid rid;
    char *link;
    struct tally tally[WORK_KINDS];
    uint64_t ranges_most;
    struct sketch *keys;
    struct path_record *path[BOOK_PATHS_MAX]; /* behind the last there may be some that are used again */
    size_t path_count;
    struct query_record *query[BOOK_QUERIES_MAX]; /* likewise */
    size_t query_count;
    uint64_t keys_named;               /* requests that named one */
    uint64_t changes;                  /* writes that replaced an item, and whose changes are known */
    uint64_t left_queries, left_paths; /* that found no room */
    uint64_t read_ids;                 /* reads of items by id that went well */
    struct container_record *next_dropped;
};

struct recent_read {
    uint64_t hash; /* of the id */
    struct rid container;
    int64_t at_ms;
};

struct book {
    struct hash_seed seed; /* from opening on always the same: it may be read without the lock */
    struct claim claim;
    struct arena memory;
    int64_t since_ms;
    struct container_record *container[BOOK_CONTAINERS_MAX];
    size_t container_count;
    struct container_record *dropped; /* to be used again */
    uint64_t left_containers;
    bool is_changed;
    struct recent_read recent[BOOK_RECENT];
};

extern const struct sketch_shape book_keys_shape;
extern const char *const path_use_names[PATH_USES];

void book_init(struct book *book, struct account *account, struct env *env);
void book_clear(struct book *book, struct env *env);
void book_free(struct book *book);

/* NULL: there is no room. Zeroed. */
void *book_take(struct book *book, size_t bytes);

/* NULL when there is no room for another. */
struct container_record *book_container(struct book *book, const struct rid *rid, struct slice link);
/* Those of a database, or of one container. */
void book_drop(struct book *book, const struct rid *rid);

struct path_record *book_path(struct book *book, struct container_record *container, struct slice path,
                              uint16_t *index);
struct query_record *book_query_of(struct book *book, struct container_record *container, struct slice text);

/* One action on an item, as it waits in a list. */
struct waiting {
    struct container_record *container;
    enum work_kind kind;
    bool failed;
    struct noted_key key;
    uint32_t ranges_there, charge, bytes, took_us;
    uint64_t id_hash; /* of the id that was read; 0: of none */
    int64_t at_ms;
};

void book_action(struct book *book, const struct waiting *waiting);
void book_changes(struct book *book, struct container_record *container, const struct noted_action *action);
void book_query(struct book *book, struct container_record *container, const struct workload_told *told);
uint64_t book_hash(const struct book *book, struct slice text);

/* Of an id that was read, or that a query asks with. Made with every read, so it is a cheap one; two that are one make a figure wrong. */
uint64_t book_id_hash(const struct book *book, struct slice id);

/* print.c: the head, then each container, then "]}". */
void book_print_head(const struct book *book, struct buf *out, enum workload_form form, bool records);
void book_print_container(const struct book *book, struct buf *out, enum workload_form form, size_t index);

/* read.c */
enum status book_read(struct op *op, struct book *book, struct slice text);
