/*
 * client/share.c - what clients may have together: sessions, definitions of containers, their ranges, plans of queries, connections.
 * A client that was given no share has one of its own.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "client.h"

orrery_status orrery_share_new(orrery_share **share)
{
    pthread_mutexattr_t kind;
    struct orrery_share *made;

    if (!share)
        return ORRERY_EINVAL;
    *share = NULL;
    made = allocator_zeroed(1, sizeof(*made));
    if (!made)
        return ORRERY_ENOMEM;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(
        &kind, PTHREAD_MUTEX_RECURSIVE); /* to forget a container is to forget its definition, too */
    pthread_mutex_init(&made->lock, &kind);
    pthread_mutexattr_destroy(&kind);
    made->references = 1;
    *share = made;
    return ORRERY_OK;
}

void orrery_share_free(orrery_share *share)
{
    if (!share || atomic_fetch_sub(&share->references, 1) > 1)
        return;
    transport_free_kept(share);
    session_free(share);
    definition_free(share);
    known_free(share);
    pthread_mutex_destroy(&share->lock);
    allocator_free(share);
}

orrery_status share_take(orrery_client *client, orrery_share *given)
{
    if (!given)
        return orrery_share_new(&client->share);
    atomic_fetch_add(&given->references, 1);
    client->share = given;
    return ORRERY_OK;
}

void share_lock(const orrery_client *client)
{
    pthread_mutex_lock(&client->share->lock);
}

void share_unlock(const orrery_client *client)
{
    pthread_mutex_unlock(&client->share->lock);
}
