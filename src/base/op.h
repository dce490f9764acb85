/*
 * src/base/op.h - one operation: what it may allocate, when it began, how it failed.
 * It begins when a request arrives and ends when the reply is sent. It is the first
 * argument of every function that can fail.
 */
#pragma once
#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/env.h"
#include "base/hash.h"

/* errors.def has one row per error: what a client sees, whether to retry. */
enum [[nodiscard]] status{
    /* the compiler complains wherever one is dropped */
    ST_OK = 0,
#define ERROR(name, http, sub, code, retry, wrapped, text) ST_##name,
#include "base/errors.def"
#undef ERROR
};

struct error_row {
    const char *name;
    int http, sub;
    const char *code;
    bool retry;
    int wrapped;
    const char *text; /* NULL: op_fail() tells it each time */
};

const struct error_row *error_row(enum status status);

/* Counted work. Charges, metrics and the slow-request log come from here and nowhere else. */
struct work {
    uint64_t documents_read, document_bytes_read;       /* by their keys, for the client */
    uint64_t documents_scanned, document_bytes_scanned; /* looked at by queries and lists */
    uint64_t documents_written, documents_removed;      /* versions: a replace writes one and removes one */
    uint64_t document_bytes_written;                    /* of both */
    uint64_t entries_read, entries_written;             /* of the index and of unique keys */
    uint64_t codes_read;                                /* of vectors */
    uint64_t queries, scripts;                          /* begun */
    uint64_t bytes_read, bytes_written;                 /* of the store, for whatever reason */
    uint64_t round_trips; /* calls that a remote store would answer with a message */
};

/* A document counts as a kilobyte at least, as on the service, so that charges of parts add up to that of the whole. */
static inline uint64_t work_document_bytes(uint64_t bytes)
{
    return bytes < 1024 ? 1024 : bytes;
}

static inline void work_read(struct work *work, uint64_t bytes)
{
    work->documents_read++;
    work->document_bytes_read += work_document_bytes(bytes);
}

static inline void work_scanned(struct work *work, uint64_t bytes)
{
    work->documents_scanned++;
    work->document_bytes_scanned += bytes;
}

static inline void work_wrote(struct work *work, uint64_t bytes)
{
    work->documents_written++;
    work->document_bytes_written += work_document_bytes(bytes);
}

static inline void work_removed(struct work *work, uint64_t bytes)
{
    work->documents_removed++;
    work->document_bytes_written += work_document_bytes(bytes);
}

/* Told by query metrics, charged by nothing: all 0 unless somebody asks, because looking at the clock takes time, too. */
struct spent {
    bool is_measured;
    int64_t index_us; /* opening and reading cursors of the index */
    int64_t load_us;  /* reading blocks of documents */
};

enum { ACTIVITY_ID_SIZE = 36 };

struct noted;

struct op {
    struct arena arena; /* given back whole when the op ends */
    struct claim claim; /* what it holds of the account, in all of its arenas */
    size_t memory_limit_bytes;
    size_t index_bytes; /* that entries of the index took, which do not count against the limit */
    struct env *env;
    int64_t now_ms;        /* one request sees one time: read when it begins, and again when it has waited */
    int64_t deadline_ms;   /* on the monotonic clock */
    bool may_block;        /* false on a loop thread: store calls answer ST_WOULD_BLOCK instead of waiting */
    uint32_t steps_left;   /* of what a loop thread may do for it: op_spend() */
    atomic_bool cancelled; /* the client has gone, or the server is stopping */

    /*
     * Where it is set and `may_block` is not, a commit need not be waited for: it is ST_PENDING, and when it is done
     * another thread calls this, once. `last` is false when it is about to call another operation's.
     */
    void (*resume)(struct op *op, bool last);
    char activity_id[ACTIVITY_ID_SIZE + 1];
    struct work work;
    struct spent spent;
    struct hash_seed seed; /* of the hashes by which a query tells values apart */
    struct noted *noted; /* what the record of the workload is told of it (workload/noted.h); NULL: nothing */
    const char
        *error; /* for the client, in the arena; or the row's; written by op_fail() and op_fail_as() only */
    struct slice error_info; /* what goes out beside the error, for programs; no data: nothing */
    int sub_status;          /* of a script's own choice; 0: the error's row has it */
    int64_t retry_after_ms;  /* what a client that is told to come back should wait; 0: as usual */
};

void op_init(struct op *op, struct env *env, size_t memory_limit_bytes);

/* From here on what it allocates is on the account, which outlives it. The op stays where it is. */
void op_join_account(struct op *op, struct account *account);

/* A further arena of the operation, on the same account. */
void op_arena(struct op *op, struct arena *arena, size_t limit_bytes);

/* Starts the next operation in the same memory: every pointer of the last one ends here. */
void op_begin(struct op *op, int64_t timeout_ms);
void op_free(struct op *op);

/* It has no more time than this from now on. */
void op_hurry(struct op *op, int64_t timeout_ms);

/* What was allocated since the mark is given back, and what entries of the index took of it. For what is done anew. */
struct op_mark {
    struct arena_mark arena;
    size_t limit_bytes, index_bytes;
};

struct op_mark op_mark(const struct op *op);
void op_rewind(struct op *op, struct op_mark mark);

/* After a wait for a thread or a lock, before anything is looked at: what has expired meanwhile has expired. */
void op_renew_time(struct op *op);

/* For the client; op_fail() is how it is used. */
__attribute__((format(printf, 2, 3))) void op_set_error(struct op *op, const char *fmt, ...);

/* Records the reason and gives back the status: return op_fail(op, ST_CONFLICT, "..."). A macro, so
   that compilers and analysers see that it is never ST_OK. */
#define op_fail(op, why, ...) (op_set_error((op), __VA_ARGS__), (why))

/* The same in the words of the error's row. */
void op_set_row_error(struct op *op, enum status why);
#define op_fail_as(op, why) (op_set_row_error((op), (why)), (why))

/*
 * What a failure is to its client: what was too large for the memory that is left now may fit in a moment. Asked once, when
 * the operation is about to tell how it ended.
 */
enum status op_explain_memory(struct op *op, enum status why);

/* Asked before what waits or takes long: ST_WOULD_BLOCK on a loop thread, and a thread that may wait does all of it again. */
enum status op_may_take_long(struct op *op);

/*
 * The same, before so many steps: a step takes as long as looking at a small document, 0.4 us or so. A loop thread does a few
 * hundred of them for an operation. The second is told of what was done, and is op_check() elsewhere; the third is for what comes
 * often, and does not look at the clock elsewhere. Who is told that it was too much has none left.
 */
enum status op_may_spend(struct op *op, double steps);
enum status op_spend(struct op *op, uint64_t steps);
enum status op_spend_often(struct op *op, uint64_t steps);

/* The clock by which the operation's parts are measured; 0 where nobody asks how long they take. */
int64_t op_clock_us(const struct op *op);

/* ST_TIMEOUT, ST_UNAVAILABLE or ST_NO_MEMORY when the operation should stop; long loops ask now and then. */
enum status op_check(struct op *op);

/* The only macro that moves control. It needs a local `st` and a label `out`. */
#define TRY(call)        \
    do {                 \
        st = (call);     \
        if (st != ST_OK) \
            goto out;    \
    } while (0)
