/* test/unit/base/hash_test.c - published vectors, and that every way to cut the input gives the same sum. */
#include "base/hash.h"
#include "test.h"

static uint32_t crc_of(const char *text)
{
    return crc32c(0, text, strlen(text));
}

TEST(crc32c_equals_the_published_vectors)
{
    uint8_t zeros[32] = { 0 }, ones[32], rising[32];

    memset(ones, 0xff, sizeof(ones));
    for (int i = 0; i < 32; i++)
        rising[i] = (uint8_t)i;
    CHECK(crc_of("") == 0);
    CHECK(crc_of("123456789") == 0xe3069283);
    CHECK(crc32c(0, zeros, 32) == 0x8a9136aa); /* RFC 3720, B.4 */
    CHECK(crc32c(0, ones, 32) == 0x62a8ab43);
    CHECK(crc32c(0, rising, 32) == 0x46dd794e);
}

/* One bit at a time: the definition, slow and without a table. */
static uint32_t crc_by_bit(const uint8_t *at, size_t size)
{
    uint32_t crc = ~0u;

    for (; size; size--) {
        crc ^= *at++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

TEST(crc32c_equals_its_definition_at_every_size_and_alignment)
{
    uint8_t bytes[80];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)test_random();
    for (size_t from = 0; from < 9; from++)
        for (size_t size = 0; from + size <= sizeof(bytes); size++)
            CHECK(crc32c(0, bytes + from, size) == crc_by_bit(bytes + from, size));
}

TEST(crc32c_is_the_same_by_table_as_by_processor)
{
    uint8_t bytes[80];
    uint32_t before = (uint32_t)test_random();

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)test_random();
    for (size_t size = 0; size <= sizeof(bytes); size++)
        CHECK(crc32c_by_table(before, bytes, size) == crc32c(before, bytes, size));
}

/* Long ones are made of parts that go on side by side. */
TEST(crc32c_of_long_bytes_equals_its_definition)
{
    uint8_t bytes[2500];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)test_random();
    for (size_t size = 0; size <= sizeof(bytes); size += 1 + (size > 1000) * 13)
        CHECK(crc32c(0, bytes + size % 3, size - size % 3) == crc_by_bit(bytes + size % 3, size - size % 3));
    for (size_t size = 0; size <= sizeof(bytes); size += 17)
        CHECK(crc32c_by_table((uint32_t)size, bytes, size) == crc32c((uint32_t)size, bytes, size));
}

TEST(crc32c_continues_where_it_stopped)
{
    uint8_t bytes[40];
    uint32_t whole;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)test_random();
    whole = crc32c(0, bytes, sizeof(bytes));
    for (size_t cut = 0; cut <= sizeof(bytes); cut++)
        CHECK(crc32c(crc32c(0, bytes, cut), bytes + cut, sizeof(bytes) - cut) == whole);
}

TEST(murmur3_32_equals_the_published_vectors)
{
    static const struct {
        const char *text;
        uint32_t hash;
    } rows[] = {
        { "", 0 },
        { "a", 0x3c2569b2 },
        { "ab", 0x9bbfd75f },
        { "abc", 0xb3dd93fa },
        { "abcd", 0x43ed676a },
        { "test", 0xba6bd213 },
        { "Hello, world!", 0xc0363e43 },
        { "The quick brown fox jumps over the lazy dog", 0x2e4ff723 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK(murmur3_32(rows[i].text, strlen(rows[i].text)) == rows[i].hash);
}

TEST(murmur3_128_equals_the_published_vectors)
{
    static const struct {
        const char *text;
        uint64_t h1, h2;
    } rows[] = {
        { "", 0, 0 },
        { "hello", 0xcbd8a7b341bd9b02, 0x5b1e906a48ae1d19 },
        { "The quick brown fox jumps over the lazy dog", 0xe34bbc7bbc071b6c, 0x7a433ca9c49a9347 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hash128 hash = murmur3_128(rows[i].text, strlen(rows[i].text));

        CHECK(hash.h1 == rows[i].h1 && hash.h2 == rows[i].h2);
    }
}

TEST(murmur3_tells_runs_of_zeros_of_different_sizes_apart)
{
    uint8_t bytes[64] = { 0 };
    uint64_t seen128[64];
    uint32_t seen32[64];

    for (size_t size = 1; size < 64; size++) {
        seen32[size] = murmur3_32(bytes, size);
        seen128[size] = murmur3_128(bytes, size).h1;
        for (size_t other = 1; other < size; other++)
            CHECK(seen32[other] != seen32[size] && seen128[other] != seen128[size]);
    }
}

TEST(murmur3_of_pieces_is_that_of_the_whole)
{
    uint8_t bytes[80];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 37);
    for (size_t size = 0; size <= sizeof(bytes); size++)
        for (size_t cut = 0; cut <= size; cut++) {
            struct hash128 whole = murmur3_128(bytes, size), hash;
            struct murmur3 murmur3 = { 0 };

            murmur3_add(&murmur3, bytes, cut);
            murmur3_add(&murmur3, bytes + cut, size - cut);
            hash = murmur3_end(&murmur3);
            CHECK(hash.h1 == whole.h1 && hash.h2 == whole.h2);
        }
}

/* The vectors of the reference implementation, as OpenSSL gives them too: the key 00 01 .. 0f, the text 00 01 .. */
TEST(siphash_equals_the_published_vectors)
{
    static const struct hash_seed seed = { 0x0706050403020100u, 0x0f0e0d0c0b0a0908u };
    static const struct {
        size_t size;
        struct hash128 hash;
    } vectors[] = {
        { 0, { 0xe6a825ba047f81a3u, 0x930255c71472f66du } },
        { 8, { 0x61f55862baa9623bu, 0xb49714f364e2830fu } },
        { 15, { 0x11a8b03399e99354u, 0xd9c3cf970fec087eu } },
    };
    uint8_t text[16];

    for (int i = 0; i < 16; i++)
        text[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        struct hash128 hash = siphash_128(seed, text, vectors[i].size);

        CHECK(hash.h1 == vectors[i].hash.h1 && hash.h2 == vectors[i].hash.h2);
    }
}
