/* test/unit/keys/epk_test.c - effective partition keys against published values; their 20 bits against their order. */
#include <stdlib.h>

#include "base/encode.h"
#include "base/hash.h"
#include "keys/epk.h"
#include "test.h"

/* The EPK of a key given as the JSON array that clients send; [{}] is undefined. */
static struct epk epk_of(enum epk_version version, struct slice text)
{
    struct partition_key key = { 0 };
    struct json array;
    struct epk epk = { 0 };

    if (json_parse(test_op(), text, &array) != ST_OK)
        abort();
    for (struct json_iter i = json_iter(array); json_next(&i);)
        key.component[key.count++] = i.value;
    epk_compute(version, &key, &epk);
    return epk;
}

static struct slice hex_of(enum epk_version version, struct slice text)
{
    struct epk epk = epk_of(version, text);
    struct buf out;

    buf_init(&out, &test_op()->arena);
    hex_encode_upper(&out, epk_slice(&epk));
    return buf_as_slice(&out);
}

static bool epk_is(enum epk_version version, const char *key, const char *hex)
{
    struct slice got = hex_of(version, slice_of(key));

    if (!slice_is(got, hex))
        printf("%s is %.*s\n", key, SLICE_ARGS(got));
    return slice_is(got, hex);
}

static const struct {
    const char *key, *v1, *v2;
} published[] = {
    { "[\"redmond\"]", "05C1EFE313830C087366656E706F6500", "22E342F38A486A088463DFF7838A5963" },
    { "[\"\"]", "05C1CF33970FF80800", "32E9366E637A71B4E710384B2F4970A0" },
    { "[\"a\"]", "05C1D78593652C086200", "3A5381E1114EB8D3FCC90795045B49B7" },
    { "[\"partitionKey\"]", "05C1E1B3D9CD2608716273756A756A706F4C667A00",
      "013AEFCF77FA271571CF665A58C933F1" },
    { "[\"é日本\"]", "05C1E9835B0D5208C4AAE798A6E79DAD00", "28BF2982FF24981C0D40416F8974D5DD" },
    { "[5]", "05C1D9C1C5517C05C014", "19C08621B135968252FB34B4CF66F811" },
    { "[5.5]", "05C1D7A771716C05C016", "0E2EE47829D1AF775EEFB6540FD1D0ED" },
    { "[-1]", "05C1D1A5BDDF9C054010", "19938E7A936C1C5B9E3AE842BBC16839" },
    { "[0]", "05C1BF6DA11560058000", "155B95BEDAC4B1E9EC1CDC9BB0DDDE58" },
    { "[2]", "05C1D93569113805C000", NULL },
    { "[1e300]", "05C1AB5FCFAF8005FE37F30F918103D738", "1234CB21048B20039B22F11DBB13CD7B" },
    { "[true]", "05C1D7C5A903D803", "0E711127C5B5A8E4726AC6DD306A3E59" },
    { "[false]", "05C1DB857D857C02", "2FE1BE91E90A3439635E0E9E37361EF2" },
    { "[null]", "05C1ED45D7475601", "378867E4430E67857ACE5C908374FE16" },
    { "[{}]", "05C1D529E345DC00", "11622DAA78F835834610ABE56EFF5CB5" },
    { "[[]]", "05C1D529E345DC00", "11622DAA78F835834610ABE56EFF5CB5" },
    { "[]", "", "" },
    { "[5.0,\"redmond\",true,null]", NULL, "3032DECBE2AB1768D8E0AEDEA35881DF" },
    { "[2,true,false,null,{},\"Привет!\"]", "05C1D19581B37C05C0000302010008D1A0D281D1B9D1B3D1B6D2832200",
      NULL },
};

TEST(v1_and_v2_equal_the_published_vectors)
{
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
        CHECK(!published[i].v1 || epk_is(EPK_V1, published[i].key, published[i].v1));
        CHECK(!published[i].v2 || epk_is(EPK_V2, published[i].key, published[i].v2));
    }
}

#define TENANT "0DAE0B8467B011E957BC0B8B0DEB5ACA"
#define USER "236A5BE3329A7AD57D4B998E8602BD7B"
#define SESSION "2924A879AFFF52A411F93F1A83532751"

TEST(multi_hash_equals_the_published_vectors)
{
    CHECK(epk_is(EPK_MULTI, "[]", ""));
    CHECK(epk_is(EPK_MULTI, "[\"tenant1\"]", TENANT));
    CHECK(epk_is(EPK_MULTI, "[\"tenant1\",\"user1\"]", TENANT USER));
    CHECK(epk_is(EPK_MULTI, "[\"tenant1\",\"user1\",\"s1\"]", TENANT USER SESSION));
    CHECK(epk_is(EPK_MULTI, "[\"a\",null,5]",
                 "3A5381E1114EB8D3FCC90795045B49B7378867E4430E67857ACE5C908374FE16"
                 "19C08621B135968252FB34B4CF66F811"));
}

/* ["<unit><unit>..."] */
static struct slice repeated(const char *unit, size_t count, const char *last)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    buf_text(&out, "[\"");
    for (size_t i = 0; i < count; i++)
        buf_text(&out, unit);
    buf_text(&out, last);
    buf_text(&out, "\"]");
    return buf_as_slice(&out);
}

TEST(v1_keeps_a_hundred_characters_and_v2_all)
{
    struct slice hundred = hex_of(EPK_V1, repeated("x", 100, ""));
    struct buf wanted;

    buf_init(&wanted, &test_op()->arena);
    buf_text(&wanted, "05C1DD45A3938C08");
    for (int i = 0; i < 100; i++)
        buf_text(&wanted, "79");
    buf_text(&wanted, "00");
    CHECK(slice_equal(hundred, buf_as_slice(&wanted)));
    CHECK(slice_equal(hex_of(EPK_V1, repeated("x", 101, "")), hundred));
    CHECK(slice_is(hex_of(EPK_V2, repeated("x", 100, "")), "3F35F33CA8F8DA98DB46E18CDC66A245"));
    CHECK(slice_is(hex_of(EPK_V2, repeated("x", 101, "")), "300C91B3A88EBBFFE4DB4541EA0875FC"));
}

TEST(v1_counts_utf_16_units_and_cuts_the_text_at_101_bytes)
{
    struct slice hundred = hex_of(EPK_V1, repeated("é", 100, ""));
    struct slice pairs = hex_of(EPK_V1, repeated("\xf0\x9f\x98\x80", 50, ""));

    CHECK(slice_equal(hex_of(EPK_V1, repeated("é", 100, "y")), hundred));
    CHECK(!slice_equal(hex_of(EPK_V1, repeated("é", 99, "y")), hundred));
    CHECK(hundred.size == 2 * (7 + 1 + 101)); /* the hash, the type, 101 bytes and no end mark */
    CHECK(slice_equal(hex_of(EPK_V1, repeated("\xf0\x9f\x98\x80", 50, "y")), pairs));
    CHECK(!slice_equal(hex_of(EPK_V1, repeated("\xf0\x9f\x98\x80", 49, "y")), pairs));
}

TEST(v1_hashes_half_a_surrogate_pair_as_a_question_mark)
{
    struct slice halved = hex_of(EPK_V1, repeated("x", 99, "\xf0\x9f\x98\x80"));

    CHECK(slice_equal(halved, hex_of(EPK_V1, repeated("x", 99, "?"))));
}

TEST(the_largest_keys_fit_and_longer_ones_are_hashed_too)
{
    struct partition_key key = { .count = EPK_COMPONENTS_MAX };
    struct json array;
    struct epk epk;

    REQUIRE(json_parse(test_op(), repeated("é", 300000, ""), &array) == ST_OK);
    for (size_t i = 0; i < EPK_COMPONENTS_MAX; i++)
        key.component[i] = json_element(array, 0);
    epk_compute(EPK_V1, &key, &epk);
    CHECK(epk.size <= EPK_BYTES_MAX);
    epk_compute(EPK_V2, &key, &epk);
    CHECK(epk.size == 16);
    epk_compute(EPK_MULTI, &key, &epk);
    CHECK(epk.size == 16 * EPK_COMPONENTS_MAX);
}

static uint32_t bits_of(enum epk_version version, size_t levels, const char *hex)
{
    struct epk epk = { 0 };
    size_t size;

    if (!hex_decode(slice_of(hex), epk.bytes, sizeof(epk.bytes), &size))
        abort();
    epk.size = (uint16_t)size;
    return epk_number_bits(version, levels, &epk);
}

TEST(the_bits_of_a_number_are_the_first_of_the_hash)
{
    CHECK(bits_of(EPK_V2, 1, "22E342F38A486A088463DFF7838A5963") == 0x22e342 >> 2);
    CHECK(bits_of(EPK_V2, 1, "3FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF") == 0xfffff);
    CHECK(bits_of(EPK_V1, 1, "05C1EFE313830C087366656E706F6500") == murmur3_32("\x08redmond", 9) >> 12);
    CHECK(bits_of(EPK_MULTI, 1, TENANT) == 0x0dae0b >> 2);
    CHECK(bits_of(EPK_MULTI, 2, TENANT USER) == ((0x0dae0bu >> 10) << 8 | 0x236a5bu >> 14));
    CHECK(bits_of(EPK_MULTI, 3, TENANT USER SESSION) ==
          ((0x0dae0bu >> 12) << 10 | (0x236a5bu >> 16) << 4 | 0x2924a8u >> 18));
}

TEST(what_a_bound_lacks_counts_as_zero_and_ff_is_above_all)
{
    CHECK(bits_of(EPK_V1, 1, "") == 0 && bits_of(EPK_V2, 1, "") == 0 && bits_of(EPK_MULTI, 3, "") == 0);
    CHECK(bits_of(EPK_V1, 1, "05") == 0 && bits_of(EPK_V1, 1, "05C1") == 0x20000 >> 12); /* 2^17 */
    CHECK(bits_of(EPK_V1, 1, "FF") == 0xfffff && bits_of(EPK_V2, 1, "FF") == 0xfffff);
    CHECK(bits_of(EPK_V1, 1, "00FF") == 0 && bits_of(EPK_V1, 1, "04FFFF") == 0); /* below every key */
    CHECK(bits_of(EPK_V1, 1, "05FF") == 0xfffff && bits_of(EPK_V1, 1, "05FFFFFF") == 0xfffff);
    CHECK(bits_of(EPK_V2, 1, "10") == 0x100000 >> 2);
    CHECK(bits_of(EPK_MULTI, 3, TENANT) == (0x0dae0bu >> 12) << 10);
    CHECK(bits_of(EPK_MULTI, 3, TENANT "FF") == ((0x0dae0bu >> 12) << 10 | 0x3ff));
    CHECK(bits_of(EPK_MULTI, 2, "FF") == 0xfffff);
}

/* A random key of `count` components, hashed. Keys of few different values, so that levels repeat. */
static struct epk random_epk(enum epk_version version, size_t count)
{
    struct partition_key key = { .count = count };
    struct json_builder builder;
    struct epk epk;
    char text[32];

    for (size_t i = 0; i < count; i++) {
        uint64_t value = version == EPK_MULTI ? test_random() % 1000 : test_random();

        json_builder_init(&builder, &test_op()->arena);
        snprintf(text, sizeof(text), "user-%llu", (unsigned long long)value);
        if (value % 4 == 0)
            json_add_int(&builder, (int64_t)value);
        else
            json_add_string(&builder, slice_of(text));
        key.component[i] = json_built(&builder);
    }
    epk_compute(version, &key, &epk);
    return epk;
}

static void check_bits_follow_order(enum epk_version version, size_t levels)
{
    struct epk a = random_epk(version, levels);

    for (int i = 0; i < 20000; i++) {
        struct epk b = random_epk(version, levels);
        uint32_t bits_a = epk_number_bits(version, levels, &a), bits_b = epk_number_bits(version, levels, &b);
        bool less = slice_compare(epk_slice(&a), epk_slice(&b)) < 0;

        CHECK(bits_a < 1u << NUMBER_EPK_BITS);
        CHECK(less ? bits_a <= bits_b : bits_b <= bits_a);
        a = b;
    }
}

TEST(the_bits_follow_the_order_of_effective_partition_keys)
{
    check_bits_follow_order(EPK_V1, 1);
    check_bits_follow_order(EPK_V2, 1);
    check_bits_follow_order(EPK_MULTI, 1);
}

TEST(the_bits_follow_the_order_of_effective_partition_keys_level_by_level)
{
    static const int first_bits[] = { 20, 12, 10 };

    for (size_t levels = 2; levels <= 3; levels++)
        for (int i = 0; i < 20000; i++) {
            struct epk a = random_epk(EPK_MULTI, levels), b = a, other = random_epk(EPK_MULTI, levels);
            size_t level = test_random() % levels; /* equal above it, so this level decides */
            uint32_t bits_a, bits_b;

            memcpy(b.bytes + 16 * level, other.bytes + 16 * level, 16);
            bits_a = epk_number_bits(EPK_MULTI, levels, &a);
            bits_b = epk_number_bits(EPK_MULTI, levels, &b);
            CHECK(slice_compare(epk_slice(&a), epk_slice(&b)) < 0 ? bits_a <= bits_b : bits_b <= bits_a);
            CHECK(level == 0 ||
                  bits_a >> (20 - first_bits[levels - 1]) == bits_b >> (20 - first_bits[levels - 1]));
        }
}

/* 100,000 keys: 1,562 expected in each bucket, standard deviation 39, so 20 % is eight of them away. */
static void check_spread(enum epk_version version)
{
    int count[64] = { 0 };
    const int keys = 100000;

    for (int i = 0; i < keys; i++) {
        struct epk epk = random_epk(version, 1);

        count[epk_number_bits(version, 1, &epk) >> 14]++;
    }
    for (int i = 0; i < 64; i++)
        CHECK(count[i] > keys / 64 * 8 / 10 && count[i] < keys / 64 * 12 / 10);
}

TEST(a_hundred_thousand_keys_fill_64_buckets_within_a_fifth)
{
    check_spread(EPK_V1);
    check_spread(EPK_V2);
}

TEST(a_number_gives_back_its_parts)
{
    uint64_t number = number_make(0xfffff, (1ull << 40) - 2);

    CHECK(number < 1ull << 60);
    CHECK(number_epk_bits(number) == 0xfffff && number_counter(number) == (1ull << 40) - 2);
}

static bool cut_is(enum epk_version version, uint32_t index, uint32_t count, const char *hex)
{
    struct epk cut;
    struct buf out;

    epk_cut(version, index, count, &cut);
    buf_init(&out, &test_op()->arena);
    hex_encode_upper(&out, epk_slice(&cut));
    if (!slice_is(buf_as_slice(&out), hex))
        printf("part %u of %u begins at %.*s\n", index, count, SLICE_ARGS(buf_as_slice(&out)));
    return slice_is(buf_as_slice(&out), hex);
}

/* As in the routing map tests of the Python, JavaScript and Java SDKs, which have them from real containers. */
TEST(keys_are_cut_where_the_service_cuts_them)
{
    CHECK(cut_is(EPK_V1, 1, 2, "05C1DFFFFFFFFC"));
    CHECK(cut_is(EPK_V1, 1, 5, "05C1C9CD673398"));
    CHECK(cut_is(EPK_V1, 2, 5, "05C1D9CD673398"));
    CHECK(cut_is(EPK_V1, 3, 5, "05C1E399CD6732"));
    CHECK(cut_is(EPK_V1, 4, 5, "05C1E9CD673398"));
    CHECK(cut_is(EPK_V2, 1, 2, "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"));
    CHECK(cut_is(EPK_V2, 1, 3, "15555555555555555555555555555555"));
    CHECK(cut_is(EPK_MULTI, 2, 3, "2AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"));
    CHECK(cut_is(EPK_V2, 3, 5, "26666666666666666666666666666664"));
    CHECK(cut_is(EPK_V2, 4, 5, "33333333333333333333333333333330"));
    CHECK(cut_is(EPK_V2, 99, 100, "3F5C28F5C28F5C28F5C28F5C28F5C250"));
}
