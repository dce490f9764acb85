/* test/unit/keys/bytes_test.c - integers as bytes, beside what the words mean. */
#include "keys/bytes.h"
#include "test.h"

enum { ROUNDS = 2000, PLACES = 8 };

static uint64_t bits(void)
{
    return test_random() >> test_random() % 64;
}

#define CHECK_COUNT(count)                                             \
    do {                                                               \
        uint8_t bytes[PLACES + 1], put[PLACES + 1] = { 0 };            \
        uint64_t big = 0, little = 0, number = bits();                 \
                                                                       \
        for (size_t i = 0; i < sizeof(bytes); i++)                     \
            bytes[i] = (uint8_t)bits();                                \
        for (size_t i = 0; i < (count); i++) {                         \
            big = big << 8 | bytes[i];                                 \
            little |= (uint64_t)bytes[i] << 8 * i;                     \
        }                                                              \
        CHECK(get_be(bytes, count) == big);                            \
        CHECK(get_le(bytes, count) == little);                         \
        put_be(put, number, count);                                    \
        for (size_t i = 0; i < (count); i++)                           \
            CHECK(put[i] == (uint8_t)(number >> 8 * ((count)-1 - i))); \
        put_le(put, number, count);                                    \
        for (size_t i = 0; i < (count); i++)                           \
            CHECK(put[i] == (uint8_t)(number >> 8 * i));               \
        CHECK(put[count] == 0);                                        \
    } while (0)

TEST(numbers_of_every_size_are_put_and_got_in_both_orders)
{
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_COUNT(1);
        CHECK_COUNT(2);
        CHECK_COUNT(3);
        CHECK_COUNT(4);
        CHECK_COUNT(5);
        CHECK_COUNT(6);
        CHECK_COUNT(7);
        CHECK_COUNT(8);
    }
}
