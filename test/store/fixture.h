/*
 * test/store/fixture.h - runs each test of the contract over every store.
 *     CONTRACT(a_sentence) { CHECK(... f->bucket ...); }
 * ORRERY_TEST_STORE=rocksdb runs only the stores whose names contain that.
 */
#pragma once
#include "faulty.h"
#include "keys/keys.h"
#include "store/view.h"
#include "test.h"

enum { TEST_BUCKET = 7 << BUCKET_BITS };

struct fixture {
    const char *store_name;
    bool durable; /* what was written is there after fixture_reopen() */
    bool faulty;  /* `controls` have an effect */
    bool threads;
    bool remote; /* in another process: a loop thread is told to wait */
    char directory[512], schema[64];
    struct faulty_controls controls;
    struct op *op;
    struct store *store;
    struct bucket *bucket;
};

/* `packed`: over those as well whose index is packed. */
void over_each_store(void (*body)(struct fixture *f), bool threads, bool packed);

/* As after a restart of the process. Only for a durable store. */
void fixture_reopen(struct fixture *f);

/* Brings the bucket to another database of a cluster. False: there is none. */
bool fixture_moves_bucket(struct fixture *f);

#define CONTRACT_WITH(sentence, threads, packed)               \
    static void contract_##sentence(struct fixture *f);        \
    TEST(sentence)                                             \
    {                                                          \
        over_each_store(contract_##sentence, threads, packed); \
    }                                                          \
    static void contract_##sentence(struct fixture *f)

#define CONTRACT(sentence) CONTRACT_WITH(sentence, false, false)
#define CONTRACT_THREADS(sentence) CONTRACT_WITH(sentence, true, false)
#define CONTRACT_INDEX(sentence) CONTRACT_WITH(sentence, false, true)
#define CONTRACT_INDEX_THREADS(sentence) CONTRACT_WITH(sentence, true, true)

/* Short ways to say common things. Keys are document keys of the fixture's bucket. */
struct slice key_of(struct fixture *f, uint64_t number);
struct range range_of(struct fixture *f, uint64_t from, uint64_t to, bool reverse);
struct batch *batch_putting(struct fixture *f, uint64_t number, const char *text);
enum status put(struct fixture *f, uint64_t number, const char *text, struct commit_stamp *stamp);

/* As a new reader sees it; data is NULL when absent. */
struct slice get(struct fixture *f, uint64_t number);

/* A record or change of the least size that can be stamped. */
uint8_t *stampable(struct fixture *f, size_t *size);
