/*
 * src/rntbd/rntbd.h - Direct mode: the protocol that the SDKs for .NET and Java speak to a partition's replicas.
 * A frame is a request of HTTP in another spelling: tokens with numbers stand for the path and the headers. Here frames
 * become the requests that route/ gets from HTTP as well, and answers become frames. Sockets, times and memory are http/'s,
 * which is given this kind of session (http/session.h).
 */
#pragma once
#include "http/session.h"

extern const struct session_kind session_rntbd;
