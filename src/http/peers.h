/*
 * src/http/peers.h - who is on the other side, and how much of the server each of them has.
 * A peer is an IPv4 address, or the first half of an IPv6 address, all of which one owner has.
 *
 * A peer may hold as much as is still free, of connections and of memory. So one alone gets half, two get a third each,
 * and however many there are, there is room for one more. The one that holds most is refused first.
 *
 * Ownership. A peer is there from peers_enter() of its first connection to peers_leave() of its last.
 * Threads. Any.
 */
#pragma once
#include <sys/socket.h>

#include "base/account.h"

struct peers;
struct peer;

struct peers *peers_open(size_t connections_max); /* NULL without memory */
void peers_close(struct peers *peers);            /* nobody is in it any more; NULL is welcome */

/* One more connection. NULL: it has as many as are free, or there is no memory. */
struct peer *peers_enter(struct peers *peers, const struct sockaddr_storage *address);
void peers_leave(struct peers *peers, struct peer *peer);

/*
 * Memory for what is on its way from or to a peer: a body that is being read, an answer that is not being taken. The
 * claim says of which kind. A small one is not measured against what else the peer holds. False when there is no room, or too much of it is this peer's already.
 */
bool peer_more(struct peer *peer, struct claim *claim, size_t bytes);
void peer_less(struct peer *peer, struct claim *claim, size_t bytes);
