/*
 * test/client/programs/drive_processor.c - one of several processors of test/client/processor's container.
 * usage: drive_processor ENDPOINT KEY INSTANCE. It prints "seen ID LEASE" for each change and "has N" for the leases that it
 * has, and ends well, with its leases given back, when its input ends. Its function fails for the change of "poison", once.
 */
#include <poll.h>
#include <string.h>

#include "../../../examples/example.h"

static int poisoned;

static orrery_status take(void *context, const char *lease, orrery_value changes)
{
    (void)context;
    for (size_t i = 0; i < orrery_value_count(changes); i++) {
        const char *id = orrery_value_text(orrery_value_member(orrery_value_element(changes, i), "id"), NULL);

        if (strcmp(id, "poison") == 0 && !poisoned++)
            return ORRERY_ECALLBACK;
        printf("seen %s %s\n", id, lease);
    }
    fflush(stdout);
    return ORRERY_OK;
}

static int input_has_ended(void)
{
    struct pollfd fd = { .fd = 0, .events = POLLIN };

    return poll(&fd, 1, 0) > 0;
}

int main(int argc, char **argv)
{
    orrery_processor_options options = { .size = sizeof(options),
                                         .name = "work",
                                         .instance = argc > 3 ? argv[3] : "one",
                                         .lease_link = "dbs/processor/colls/leases",
                                         .changes = take,
                                         .page_items = 7,
                                         .poll_ms = 20,
                                         .acquire_ms = 200,
                                         .renew_ms = 500,
                                         .expires_ms = 2000 };
    orrery_processor *processor = NULL;
    size_t had = 0;

    open_client(argc, argv);
    must(orrery_processor_open(client, "dbs/processor/colls/items", &options, &processor));
    while (!input_has_ended()) {
        orrery_status status = orrery_processor_run(processor, 50);

        if (status == ORRERY_ECALLBACK)
            printf("failed %s\n", orrery_error(client));
        else
            must(status);
        if (orrery_processor_leases(processor) != had)
            printf("has %zu\n", orrery_processor_leases(processor));
        had = orrery_processor_leases(processor);
        fflush(stdout);
    }
    orrery_processor_close(processor);
    orrery_close(client);
    return 0;
}
