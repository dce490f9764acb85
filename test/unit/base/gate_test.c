/* test/unit/base/gate_test.c - operations pass an open gate, and wait at a closed one without a thread. */
#include <stdatomic.h>

#include "base/gate.h"
#include "test.h"

enum { VISITORS = 3, VISITS = 500, CLOSINGS = 100 };

static atomic_uint resumed;

static void resume(struct op *op, bool last)
{
    (void)op;
    CHECK(last); /* each is told to wake its own loop */
    atomic_fetch_add(&resumed, 1);
}

static void begin(struct op *op)
{
    op_init(op, env_system(), 65536);
    op->resume = resume;
}

TEST(who_comes_to_a_closed_gate_is_called_when_it_opens)
{
    struct gate gate;
    struct op first, second;

    atomic_store(&resumed, 0);
    begin(&first);
    begin(&second);
    gate_init(&gate);
    CHECK(gate_enter(&gate, &first) == ST_OK);
    gate_leave(&gate);
    gate_close(&gate);
    CHECK(gate_enter(&gate, &first) == ST_PENDING && gate_enter(&gate, &second) == ST_PENDING);
    CHECK(!gate_try_enter(&gate) && atomic_load(&resumed) == 0);
    gate_open(&gate);
    CHECK(atomic_load(&resumed) == 2);
    CHECK(gate_enter(&gate, &first) == ST_OK && gate_try_enter(&gate));
    gate_leave(&gate);
    gate_leave(&gate);
    gate_close(&gate);
    gate_open(&gate);
    CHECK(atomic_load(&resumed) == 2); /* once for each wait */
    gate_free(&gate);
    op_free(&first);
    op_free(&second);
}

/* `guarded` is written by whoever has closed the gate, and read by those inside: never at once. */
struct world {
    struct gate gate;
    uint64_t guarded;
    atomic_uint torn;
};

struct visitor {
    struct op op; /* first: resume() finds the visitor by it */
    atomic_bool called;
};

static void call(struct op *op, bool last)
{
    (void)last;
    atomic_store(&((struct visitor *)op)->called, true);
}

static void *visit(void *context)
{
    struct world *world = context;
    struct visitor visitor;

    op_init(&visitor.op, env_system(), SIZE_MAX);
    visitor.op.resume = call;
    for (int done = 0; done < VISITS; done++) {
        uint64_t before;

        atomic_store(&visitor.called, false);
        while (gate_enter(&world->gate, &visitor.op) == ST_PENDING) {
            while (!atomic_load(&visitor.called))
                ;
            atomic_store(&visitor.called, false);
        }
        before = world->guarded;
        if (before != world->guarded)
            atomic_fetch_add(&world->torn, 1);
        gate_leave(&world->gate);
    }
    op_free(&visitor.op);
    return NULL;
}

TEST(nobody_is_inside_a_closed_gate_and_nobody_is_forgotten_outside)
{
    struct world world = { 0 };
    pthread_t thread[VISITORS];

    gate_init(&world.gate);
    for (int i = 0; i < VISITORS; i++)
        CHECK(pthread_create(&thread[i], NULL, visit, &world) == 0);
    for (int i = 0; i < CLOSINGS; i++) {
        gate_close(&world.gate);
        world.guarded++;
        gate_open(&world.gate);
    }
    for (int i = 0; i < VISITORS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    CHECK(atomic_load(&world.torn) == 0);
    gate_free(&world.gate);
}
