/* test/unit/base/env_test.c - a seed replays a run; the machine's own clock and numbers do not stand still. */
#include "base/env.h"
#include "test.h"

TEST(the_same_seed_gives_the_same_times_numbers_and_ids)
{
    struct env *a = env_seeded(7, 1000), *b = env_seeded(7, 1000), *other = env_seeded(8, 1000);
    char guid_a[GUID_SIZE + 1], guid_b[GUID_SIZE + 1];
    uint8_t bytes_a[13], bytes_b[13];
    bool differs = false;

    for (int i = 0; i < 100; i++) {
        uint64_t number = env_random_u64(a);

        CHECK(number == env_random_u64(b));
        differs |= number != env_random_u64(other);
    }
    CHECK(differs);
    env_random(a, bytes_a, sizeof(bytes_a));
    env_random(b, bytes_b, sizeof(bytes_b));
    CHECK(memcmp(bytes_a, bytes_b, sizeof(bytes_a)) == 0);
    env_guid(a, guid_a);
    env_guid(b, guid_b);
    CHECK(strcmp(guid_a, guid_b) == 0);
    CHECK(env_now_ms(a) == env_now_ms(b));
    env_free(a);
    env_free(b);
    env_free(other);
}

TEST(a_seeded_clock_stands_still_until_it_is_moved)
{
    struct env *env = env_seeded(1, 5000);

    CHECK(env_now_ms(env) == 5000 && env_now_ms(env) == 5000);
    env_advance_ms(env, 250);
    CHECK(env_now_ms(env) == 5250 && env_monotonic_ms(env) == 250 && env_monotonic_us(env) == 250000);
    env_free(env);
}

TEST(setting_the_wall_clock_back_leaves_the_monotonic_one)
{
    struct env *env = env_seeded(1, 5000);

    env_advance_ms(env, 100);
    env_advance_ms(env, -3000);
    CHECK(env_now_ms(env) == 2100 && env_monotonic_ms(env) == 100);
    env_free(env);
}

TEST(a_guid_is_version_4_in_lower_case)
{
    struct env *env = env_seeded(3, 0);
    char guid[GUID_SIZE + 1];

    for (int i = 0; i < 100; i++) {
        env_guid(env, guid);
        CHECK(strlen(guid) == GUID_SIZE);
        CHECK(strspn(guid, "0123456789abcdef-") == GUID_SIZE);
        CHECK(guid[8] == '-' && guid[13] == '-' && guid[18] == '-' && guid[23] == '-');
        CHECK(guid[14] == '4' && strchr("89ab", guid[19]));
    }
    env_free(env);
}

TEST(secret_bytes_differ_each_time_and_follow_only_from_a_seed)
{
    struct env *a = env_seeded(5, 0), *b = env_seeded(5, 0);
    uint8_t one[64] = { 0 }, other[64] = { 0 };

    env_secret(a, one, sizeof(one));
    env_secret(b, other, sizeof(other));
    CHECK(memcmp(one, other, sizeof(one)) == 0);
    env_secret(env_system(), one, sizeof(one));
    env_secret(env_system(), other, sizeof(other));
    for (size_t i = 0; i < sizeof(one); i += 8)
        CHECK(memcmp(one + i, other + i, 8) != 0);
    env_free(a);
    env_free(b);
}

TEST(the_system_env_has_a_clock_and_numbers_that_differ)
{
    struct env *env = env_system();
    int64_t before = env_monotonic_us(env);

    CHECK(env_now_ms(env) > 1600000000000);
    CHECK(env_monotonic_us(env) >= before);
    CHECK(env_random_u64(env) != env_random_u64(env));
    env_free(env); /* harmless */
    env_free(NULL);
}
