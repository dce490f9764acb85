/* src/http/peers.c - a table of addresses, and what is counted of each. */
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "http/peers.h"

enum { CHAINS = 1024, ADDRESS_BYTES = 8 };

struct peer {
    struct peer *next;
    uint8_t address[ADDRESS_BYTES];
    size_t connections; /* guarded by the table's lock */
    atomic_size_t bytes;
};

struct peers {
    pthread_mutex_t lock;
    size_t connections, connections_max;
    struct peer *chain[CHAINS];
};

struct peers *peers_open(size_t connections_max)
{
    struct peers *peers = calloc(1, sizeof(*peers));

    if (!peers)
        return NULL;
    pthread_mutex_init(&peers->lock, NULL);
    peers->connections_max = connections_max;
    return peers;
}

void peers_close(struct peers *peers)
{
    if (!peers)
        return;
    assert(peers->connections == 0);
    pthread_mutex_destroy(&peers->lock);
    free(peers);
}

/* An IPv4 address and half an IPv6 address that have the same bytes are no one's at once: the latter does not begin with 0. */
static void read_address(const struct sockaddr_storage *from, uint8_t address[ADDRESS_BYTES])
{
    memset(address, 0, ADDRESS_BYTES);
    if (from->ss_family == AF_INET6)
        memcpy(address, &((const struct sockaddr_in6 *)from)->sin6_addr, ADDRESS_BYTES);
    else if (from->ss_family == AF_INET)
        memcpy(address + ADDRESS_BYTES - 4, &((const struct sockaddr_in *)from)->sin_addr, 4);
}

static struct peer **chain_of(struct peers *peers, const uint8_t address[ADDRESS_BYTES])
{
    return &peers->chain[crc32c(0, address, ADDRESS_BYTES) % CHAINS];
}

/* NULL without memory. */
static struct peer *find_or_make(struct peers *peers, const uint8_t address[ADDRESS_BYTES])
{
    struct peer **chain = chain_of(peers, address), *peer = *chain;

    while (peer && memcmp(peer->address, address, ADDRESS_BYTES) != 0)
        peer = peer->next;
    if (peer)
        return peer;
    peer = calloc(1, sizeof(*peer));
    if (!peer)
        return NULL;
    memcpy(peer->address, address, ADDRESS_BYTES);
    peer->next = *chain;
    *chain = peer;
    return peer;
}

static void remove_if_gone(struct peers *peers, struct peer *peer)
{
    struct peer **at = chain_of(peers, peer->address);

    if (peer->connections > 0)
        return;
    assert(atomic_load(&peer->bytes) == 0); /* its connections have given back what they held */
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    free(peer);
}

/* Within the lock. */
static struct peer *enter(struct peers *peers, const uint8_t address[ADDRESS_BYTES])
{
    struct peer *peer = find_or_make(peers, address);
    size_t left =
        peers->connections < peers->connections_max ? peers->connections_max - peers->connections : 0;

    if (!peer)
        return NULL;
    if (peer->connections > left || left == 0) {
        remove_if_gone(peers, peer);
        return NULL;
    }
    peer->connections++;
    peers->connections++;
    return peer;
}

struct peer *peers_enter(struct peers *peers, const struct sockaddr_storage *from)
{
    uint8_t address[ADDRESS_BYTES];
    struct peer *peer;

    read_address(from, address);
    pthread_mutex_lock(&peers->lock);
    peer = enter(peers, address);
    pthread_mutex_unlock(&peers->lock);
    return peer;
}

void peers_leave(struct peers *peers, struct peer *peer)
{
    pthread_mutex_lock(&peers->lock);
    assert(peer->connections > 0 && peers->connections > 0);
    peer->connections--;
    peers->connections--;
    remove_if_gone(peers, peer);
    pthread_mutex_unlock(&peers->lock);
}

static bool has_room(const struct peer *peer, const struct claim *claim, size_t bytes)
{
    size_t share = account_share(claim->account, claim->holder);
    size_t held = atomic_load_explicit(&claim->account->held_bytes[claim->holder], memory_order_relaxed);

    return held <= share && atomic_load_explicit(&peer->bytes, memory_order_relaxed) + bytes <= share - held;
}

bool peer_more(struct peer *peer, struct claim *claim, size_t bytes)
{
    bool is_small = claim->bytes + bytes <= HTTP_SMALL_BODY_BYTES;

    if (claim->account && !is_small && !has_room(peer, claim, bytes)) {
        atomic_fetch_add_explicit(&claim->account->refused[claim->holder], 1, memory_order_relaxed);
        return false;
    }
    if (!claim_more(claim, bytes))
        return false;
    atomic_fetch_add_explicit(&peer->bytes, bytes, memory_order_relaxed);
    return true;
}

void peer_less(struct peer *peer, struct claim *claim, size_t bytes)
{
    size_t before;

    if (bytes == 0) /* as mostly: nothing is written that others read */
        return;
    before = atomic_fetch_sub_explicit(&peer->bytes, bytes, memory_order_relaxed);
    assert(before >= bytes);
    claim_less(claim, bytes);
}
