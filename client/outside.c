/* client/outside.c - what liborrery, which has no database, says of one inside the program. embedded/ has the other words. */
#include "client.h"

static orrery_status open_none(orrery_client *client, const orrery_settings *settings)
{
    (void)settings;
    return client_fail(client, ORRERY_EUNSUPPORTED,
                       "this library has no database inside: link the program with liborrery-embedded");
}

static void close_none(orrery_client *client)
{
    (void)client;
}

const struct transport transport_embedded = { .open = open_none, .close = close_none };

void orrery_log_to(orrery_log *log, void *context, orrery_log_level level)
{
    (void)log, (void)context, (void)level;
}

orrery_status orrery_listen(orrery_client *client, const orrery_listen_settings *settings, char *address,
                            size_t address_size)
{
    (void)settings, (void)address, (void)address_size;
    if (!client)
        return ORRERY_EINVAL;
    return client_refuse(client, ORRERY_EINVAL, "this client has no database inside the program");
}

void orrery_listen_end(orrery_client *client)
{
    (void)client;
}
