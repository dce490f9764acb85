/* src/base/gate.c - a crowd of those inside, and a list of the operations that wait before it. */
#include <assert.h>

#include "base/gate.h"
#include "base/thread.h"

struct gate_waiter {
    struct gate_waiter *next;
    struct op *op;
};

void gate_init(struct gate *gate)
{
    crowd_init(&gate->inside);
    crowd_spread(&gate->inside);
    gate->emptied = false;
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->left, NULL);
    gate->first = NULL;
    gate->last = &gate->first;
}

void gate_free(struct gate *gate)
{
    assert(!gate->first);
    crowd_gather(&gate->inside);
    assert(crowd_count(&gate->inside) <= 1); /* the gate's own, if it is open */
    pthread_cond_destroy(&gate->left);
    pthread_mutex_destroy(&gate->lock);
}

/* The gate is opened under the lock, so an operation that finds it closed there will be found in the list. */
static bool enter_or_wait(struct gate *gate, struct gate_waiter *waiter)
{
    bool entered;

    pthread_mutex_lock(&gate->lock);
    entered = crowd_more_while_spread(&gate->inside);
    if (!entered) {
        *gate->last = waiter;
        gate->last = &waiter->next;
    }
    pthread_mutex_unlock(&gate->lock);
    return entered;
}

enum status gate_enter(struct gate *gate, struct op *op)
{
    struct gate_waiter *waiter;

    if (crowd_more_while_spread(&gate->inside))
        return ST_OK;
    assert(op->resume);
    waiter = arena_alloc(&op->arena, sizeof(*waiter));
    *waiter = (struct gate_waiter){ .op = op };
    return enter_or_wait(gate, waiter) ? ST_OK : ST_PENDING;
}

bool gate_try_enter(struct gate *gate)
{
    return crowd_more_while_spread(&gate->inside);
}

void gate_leave(struct gate *gate)
{
    if (!crowd_less(&gate->inside))
        return;
    pthread_mutex_lock(&gate->lock);
    assert(!gate->emptied);
    gate->emptied = true;
    pthread_cond_signal(&gate->left);
    pthread_mutex_unlock(&gate->lock);
}

void gate_close(struct gate *gate)
{
    thread_assert_may_block();
    crowd_gather(&gate->inside);
    if (crowd_less(&gate->inside)) /* the gate's own: nobody was inside */
        return;
    pthread_mutex_lock(&gate->lock);
    while (!gate->emptied)
        pthread_cond_wait(&gate->left, &gate->lock);
    gate->emptied = false;
    pthread_mutex_unlock(&gate->lock);
}

/*
 * A waiter lies in its operation's memory, which may be gone once it has been resumed. Each is told that it is the last:
 * those that wait may belong to several servers, and each would have to be told of its own.
 */
void gate_open(struct gate *gate)
{
    struct gate_waiter *waiter, *next;

    pthread_mutex_lock(&gate->lock);
    assert(crowd_count(&gate->inside) == 0);
    crowd_init(&gate->inside);
    crowd_spread(&gate->inside);
    waiter = gate->first;
    gate->first = NULL;
    gate->last = &gate->first;
    pthread_mutex_unlock(&gate->lock);
    for (; waiter; waiter = next) {
        next = waiter->next;
        waiter->op->resume(waiter->op, true);
    }
}
