/*
 * src/base/env.h - the outside world that differs from run to run: time and randomness.
 * Everything that reads a clock or draws a number does it here, so that a seed replays a
 * run and a test can move the clock past a TTL without sleeping.
 *
 * Threads. The system's env may be shared; a seeded one locks itself.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct env;

/* The machine's clocks and its random source. One per process, never freed. */
struct env *env_system(void);

/* A made-up clock that stands still until it is moved, and numbers that follow from the seed. */
struct env *env_seeded(uint64_t seed, int64_t now_ms);
void env_advance_ms(struct env *env, int64_t ms);
void env_free(struct env *env);

int64_t env_now_ms(struct env *env); /* since 1970, UTC */
int64_t env_monotonic_ms(struct env *env);
int64_t env_monotonic_us(struct env *env);
void env_random(struct env *env, void *bytes, size_t size);
uint64_t env_random_u64(struct env *env);

/* Bytes that nobody can foretell, whatever else they have seen: for keys. The above are only unique. */
void env_secret(struct env *env, void *bytes, size_t size);

enum { GUID_SIZE = 36 };

/* A version 4 GUID in lower case, with a NUL behind it. */
void env_guid(struct env *env, char guid[GUID_SIZE + 1]);
