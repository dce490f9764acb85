/*
 * test/unit/json/scan_test.c - a block at a time finds what a byte at a time finds.
 * scan_words_test.c runs the same for the way that needs no special instructions.
 */
#include "json/scan.h"
#include "test.h"

enum { TEXT_BYTES = 3 * 16 + 5, GUARD = 0xee };

static size_t plain_by_bytes(const uint8_t *from, const uint8_t *end)
{
    const uint8_t *at = from;

    while (at < end && byte_is_plain(*at))
        at++;
    return (size_t)(at - from);
}

static size_t unescaped_by_bytes(const uint8_t *from, const uint8_t *end)
{
    const uint8_t *at = from;

    while (at < end && !byte_escapes(*at))
        at++;
    return (size_t)(at - from);
}

static void check_scans(const uint8_t *from, const uint8_t *end)
{
    uint8_t copy[TEXT_BYTES + BLOCK];
    size_t plain = plain_by_bytes(from, end);

    CHECK(count_plain(from, end) == plain);
    CHECK(count_unescaped(from, end) == unescaped_by_bytes(from, end));
    memset(copy, GUARD, sizeof(copy));
    CHECK(copy_plain(copy, from, end) == plain);
    CHECK(memcmp(copy, from, plain) == 0);
    for (size_t i = plain + BLOCK; i < sizeof(copy); i++)
        CHECK(copy[i] == GUARD);
}

TEST(every_byte_at_every_place_is_found_or_passed_as_it_is_alone)
{
    for (int byte = 0; byte < 256; byte++)
        for (size_t at = 0; at < TEXT_BYTES; at++) {
            uint8_t text[TEXT_BYTES];

            memset(text, 'a', sizeof(text));
            text[at] = (uint8_t)byte;
            check_scans(text, text + sizeof(text));
            check_scans(text + at % BLOCK, text + sizeof(text)); /* and at every alignment */
        }
}

/* Neighbours of the limits, so that a carry from one byte into the next would show. */
TEST(bytes_around_the_limits_side_by_side_are_told_apart)
{
    static const uint8_t odd[] = {
        0x00, 0x1f, 0x20, 0x21, '"', 0x23, 0x5b, '\\', 0x5d, 0x7f, 0x80, 0x9f, 0xff
    };

    for (int round = 0; round < 20000; round++) {
        uint8_t text[TEXT_BYTES];
        size_t first = test_random() % TEXT_BYTES;

        memset(text, 'a', first);
        for (size_t i = first; i < TEXT_BYTES; i++)
            text[i] = odd[test_random() % sizeof(odd)];
        check_scans(text, text + sizeof(text));
    }
}
