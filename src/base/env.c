/* src/base/env.c - the machine's clock and randomness, or a seeded stand-in for both. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"

struct env {
    bool seeded;
    pthread_mutex_t mutex; /* guards what follows, which only a seeded env has */
    uint64_t state;
    int64_t now_ms, elapsed_ms;
};

static struct env system_env;

struct env *env_system(void)
{
    return &system_env;
}

struct env *env_seeded(uint64_t seed, int64_t now_ms)
{
    struct env *env = calloc(1, sizeof(*env));

    if (!env)
        abort();
    *env = (struct env){ .seeded = true, .state = seed, .now_ms = now_ms };
    pthread_mutex_init(&env->mutex, NULL);
    return env;
}

void env_advance_ms(struct env *env, int64_t ms)
{
    assert(env->seeded);
    pthread_mutex_lock(&env->mutex);
    env->now_ms += ms;
    if (ms > 0) /* a wall clock may be set back; the monotonic one never goes back */
        env->elapsed_ms += ms;
    pthread_mutex_unlock(&env->mutex);
}

void env_free(struct env *env)
{
    if (!env || !env->seeded)
        return;
    pthread_mutex_destroy(&env->mutex);
    free(env);
}

static int64_t clock_us(clockid_t which)
{
    struct timespec now;

    clock_gettime(which, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t seeded_ms(struct env *env, const int64_t *which)
{
    int64_t ms;

    pthread_mutex_lock(&env->mutex);
    ms = *which;
    pthread_mutex_unlock(&env->mutex);
    return ms;
}

int64_t env_now_ms(struct env *env)
{
    return env->seeded ? seeded_ms(env, &env->now_ms) : clock_us(CLOCK_REALTIME) / 1000;
}

int64_t env_monotonic_us(struct env *env)
{
    return env->seeded ? 1000 * seeded_ms(env, &env->elapsed_ms) : clock_us(CLOCK_MONOTONIC);
}

int64_t env_monotonic_ms(struct env *env)
{
    return env_monotonic_us(env) / 1000;
}

/* splitmix64: any seed is a good one. */
static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The kernel seeds each thread once: identifiers must be unique, not secret; env_secret() is for keys. */
static uint64_t *thread_state(void)
{
    static _Thread_local uint64_t state;
    static _Thread_local bool seeded;

    if (!seeded) {
        if (getrandom(&state, sizeof(state), 0) != (ssize_t)sizeof(state))
            abort();
        seeded = true;
    }
    return &state;
}

uint64_t env_random_u64(struct env *env)
{
    uint64_t number;

    if (!env->seeded)
        return next(thread_state());
    pthread_mutex_lock(&env->mutex);
    number = next(&env->state);
    pthread_mutex_unlock(&env->mutex);
    return number;
}

void env_random(struct env *env, void *bytes, size_t size)
{
    for (size_t done = 0; done < size; done += sizeof(uint64_t)) {
        uint64_t number = env_random_u64(env);
        size_t left = size - done;

        memcpy((char *)bytes + done, &number, left < sizeof(number) ? left : sizeof(number));
    }
}

void env_secret(struct env *env, void *bytes, size_t size)
{
    if (env->seeded)
        env_random(env, bytes, size);
    else if (getentropy(bytes, size) != 0) /* up to 256 bytes: a key's size */
        abort();
}

void env_guid(struct env *env, char guid[GUID_SIZE + 1])
{
    static const char hex[] = "0123456789abcdef";
    uint8_t random[16];
    char *at = guid;

    env_random(env, random, sizeof(random));
    random[6] = (uint8_t)(0x40 | (random[6] & 0x0f));
    random[8] = (uint8_t)(0x80 | (random[8] & 0x3f));
    for (size_t i = 0; i < sizeof(random); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        *at++ = hex[random[i] >> 4];
        *at++ = hex[random[i] & 15];
    }
    *at = '\0';
}
