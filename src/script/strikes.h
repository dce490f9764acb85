/*
 * src/script/strikes.h - which scripts took more than their share several times running, and are not run for a while.
 *     if (strikes_block(strikes, key, now_ms)) ...       before a run
 *     strikes_note(strikes, key, violated, now_ms)       behind it
 * A script is its key, which names one version: a script that was replaced begins anew.
 *
 * Ownership. strikes_open() to strikes_close().
 * Threads. May be shared.
 *
 * Promises
 * 1. A script is blocked after STRIKES_MAX runs in a row that took too much, and by nothing else.
 * 2. One run that took its share clears it. STRIKES_BLOCKED_MS after the last strike it may try again, once.
 * 3. Memory is bounded: of many such scripts those are remembered that were at it last.
 */
#pragma once
#include "script/script.h"

enum { STRIKES_MAX = 6, STRIKES_BLOCKED_MS = 60 * 1000, STRIKES_SCRIPTS_MAX = 256 };

struct strikes;

struct strikes *strikes_open(void); /* NULL when there is no memory for it */
void strikes_close(struct strikes *strikes);

bool strikes_block(struct strikes *strikes, const char *key, int64_t now_ms);
void strikes_note(struct strikes *strikes, const char *key, bool violated, int64_t now_ms);
