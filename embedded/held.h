/*
 * embedded/held.h - a database that clients of this process hold, from the inside: errand.h is what others see.
 */
#pragma once
#include <signal.h>

#include "http/pool.h"
#include "main/engine.h"

struct held;

struct router *held_router(struct held *held);
struct account *held_account(struct held *held);

/* A thread of the pool does it. False: there are too many already, or no memory. */
bool held_submit(struct held *held, struct pool_task *task);

/* Threads that are made in between take no signals: those are the program's. */
void held_block_signals(sigset_t *before);
void held_unblock_signals(const sigset_t *before);
