/* test/unit/keys/bytes_test.c - integers as bytes, beside loops over the bytes. */
#include "keys/bytes.h"
#include "test.h"

static const uint64_t numbers[] = { 0, 1, 0x80, 0x0102030405060708, 0xfedcba9876543210, UINT64_MAX };

/* `count` is a constant in each place, as it is elsewhere. */
#define CHECK_COUNT(count)                                                                 \
    do {                                                                                   \
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {                \
            uint64_t number = numbers[i], kept = number & UINT64_MAX >> 8 * (8 - (count)); \
            uint8_t be[10] = { [0 ... 9] = 0x5a }, le[10] = { [0 ... 9] = 0x5a };          \
                                                                                           \
            put_be(be + 1, number, count);                                                 \
            put_le(le + 1, number, count);                                                 \
            for (size_t at = 0; at < (count); at++) {                                      \
                CHECK(be[1 + at] == (uint8_t)(number >> 8 * ((count)-1 - at)));            \
                CHECK(le[1 + at] == (uint8_t)(number >> 8 * at));                          \
            }                                                                              \
            CHECK(be[0] == 0x5a && be[1 + (count)] == 0x5a); /* and nothing beside them */ \
            CHECK(le[0] == 0x5a && le[1 + (count)] == 0x5a);                               \
            CHECK(get_be(be + 1, count) == kept && get_le(le + 1, count) == kept);         \
        }                                                                                  \
    } while (0)

TEST(integers_of_every_size_are_as_many_bytes_and_come_back)
{
    CHECK_COUNT(1);
    CHECK_COUNT(2);
    CHECK_COUNT(3);
    CHECK_COUNT(4);
    CHECK_COUNT(5);
    CHECK_COUNT(6);
    CHECK_COUNT(7);
    CHECK_COUNT(8);
}
