/* test/unit/packed/packed_long_test.c - terms whose numbers fill many pages: bounds, seeks, both ways. */
#include <stdlib.h>

#include "keys/bytes.h"
#include "keys/keys.h"
#include "packed/packed.h"
#include "store/backend.h"
#include "test.h"

enum { TERMS = 3, NUMBERS = 4000, BUCKET = 9 << BUCKET_BITS, KEY_ROOM = 64, FLUSHES = 5 };

struct long_terms {
    struct packed *packed;
    struct backend *backend;
    struct packed_pin *pin;
    uint64_t lsn;
    bool has[TERMS][NUMBERS];
};

static uint64_t draw(uint64_t below)
{
    return test_random() % below;
}

static uint64_t number_of(size_t number)
{
    return number * 1000003u + 1;
}

static struct slice term_key(uint8_t *to, size_t term)
{
    put_be(to, BUCKET, BUCKET_KEY_BYTES);
    to[BUCKET_KEY_BYTES] = KEY_INDEX;
    memcpy(to + BUCKET_KEY_BYTES + 1, "pathpath\x06", 9);
    to[BUCKET_KEY_BYTES + 10] = (uint8_t)('a' + term);
    to[BUCKET_KEY_BYTES + 11] = 0;
    return slice_make(to, BUCKET_KEY_BYTES + 12);
}

static void turn_some(struct long_terms *all, size_t one_in)
{
    struct packed_entry *entry = malloc(TERMS * NUMBERS * sizeof(*entry));
    uint8_t(*key)[KEY_ROOM] = malloc(TERMS * NUMBERS * sizeof(*key));
    size_t count = 0;

    for (size_t i = 0; i < TERMS * NUMBERS; i++) {
        bool *has = &all->has[i / NUMBERS][i % NUMBERS];
        struct slice term;

        if (draw(one_in) != 0)
            continue;
        term = term_key(key[count], i / NUMBERS);
        put_be(key[count] + term.size, number_of(i % NUMBERS), 8);
        *has = !*has;
        entry[count] = (struct packed_entry){ slice_make(term.data, term.size + 8), *has };
        count++;
    }
    CHECK(packed_append(test_op(), all->packed, BUCKET, ++all->lsn, entry, count) == ST_OK);
    packed_committed(all->packed);
    free(entry);
    free(key);
}

struct plan {
    size_t first, last, seek_term, seek_number;
    bool reverse, seeks;
};

static bool is_passed_over(const struct plan *plan, size_t term, size_t number)
{
    if (number < plan->first || number > plan->last)
        return true;
    if (!plan->seeks)
        return false;
    if (term != plan->seek_term)
        return plan->reverse ? term > plan->seek_term : term < plan->seek_term;
    return plan->reverse ? number > plan->seek_number : number < plan->seek_number;
}

static bool follow(struct long_terms *all, struct packed_cursor *cursor, const struct plan *plan)
{
    struct packed_block block = { 0 };
    size_t at = 0;

    for (size_t i = 0; i < TERMS * NUMBERS; i++) {
        size_t place = plan->reverse ? TERMS * NUMBERS - 1 - i : i, term = place / NUMBERS,
               number = place % NUMBERS;

        if (!all->has[term][number] || is_passed_over(plan, term, number))
            continue;
        if (at == block.count) {
            at = 0;
            if (packed_cursor_next(test_op(), cursor, &block) != ST_OK || block.count == 0)
                return false;
        }
        if (block.term.data[9] != (char)('a' + term) || block.number[at++] != number_of(number))
            return false;
    }
    return at == block.count && packed_cursor_next(test_op(), cursor, &block) == ST_OK && block.count == 0;
}

static bool walk(struct long_terms *all, const struct plan *plan)
{
    uint8_t from[KEY_ROOM], to[KEY_ROOM], target[KEY_ROOM];
    struct packed_walk walk = {
        term_key(from, 0), term_key(to, TERMS), number_of(plan->first), number_of(plan->last),
        all->lsn,          plan->reverse
    };
    struct packed_cursor *cursor;
    bool same = true;

    if (packed_cursor_open(test_op(), all->packed, all->pin, &walk, &cursor) != ST_OK)
        return false;
    if (plan->seeks)
        same = packed_cursor_seek(test_op(), cursor,
                                  slice_after(term_key(target, plan->seek_term), BUCKET_KEY_BYTES + 1),
                                  number_of(plan->seek_number)) == ST_OK;
    same = same && follow(all, cursor, plan);
    packed_cursor_end(cursor);
    return same;
}

static void check_walks(struct long_terms *all)
{
    all->pin = packed_pin(all->packed);
    for (int i = 0; i < 60; i++) {
        struct plan plan = { .last = NUMBERS - 1,
                             .seek_term = draw(TERMS),
                             .seek_number = draw(NUMBERS),
                             .reverse = draw(2),
                             .seeks = draw(2) };

        if (draw(2)) {
            plan.first = draw(NUMBERS);
            plan.last = plan.first + draw(NUMBERS - plan.first);
        }
        CHECK(walk(all, &plan));
    }
    packed_unpin(all->packed, all->pin);
}

TEST(numbers_of_a_long_term_are_found_across_its_pages)
{
    const struct packed_options options = {
        .delta_bytes = SIZE_MAX, .filter_bytes = 1 << 20, .page_bytes = 1 << 18, .merge_runs = 4
    };
    struct long_terms *all = calloc(1, sizeof(*all));

    all->backend = memory_backend();
    REQUIRE(packed_open(test_op(), all->backend->runs, &options, &all->packed) == ST_OK);
    for (int i = 0; i < FLUSHES; i++) {
        turn_some(all, i ? 9 : 2);
        check_walks(all);
        CHECK(packed_flush(test_op(), all->packed) == ST_OK);
        check_walks(all);
    }
    packed_close(all->packed);
    all->backend->ops->close(all->backend);
    free(all);
}
