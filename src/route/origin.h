/*
 * src/route/origin.h - which names this server answers to, and which web pages may ask.
 * Without these rules any web page could read a developer's database through the browser:
 * directly, or by pointing a name of its own at 127.0.0.1.
 */
#pragma once
#include "base/exchange.h"
#include "route/route.h"

/* The Host header must be an address, loopback, or a name we were told; where we were told "*", any name. */
enum status origin_check_host(struct op *op, const struct route_options *options,
                              const struct request *request);

/* Adds the CORS headers when the page may ask; says whether it may. */
bool origin_allow(const struct route_options *options, const struct request *request, struct answer *answer);
