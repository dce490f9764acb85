/*
 * src/http/post.h - sends a body to a URL by POST, over http or https: for what the server tells others by itself.
 * It is slow and simple on purpose: one connection for each call, and the calling thread waits.
 *
 * Threads. A target may be used by one thread at a time, which may wait.
 */
#pragma once
#include "base/op.h"

struct post_target;

/* http://host:port/path or https://...; where there is no path, `default_path`. ST_BAD_REQUEST says what is wrong with it. */
enum status post_open(struct op *op, const char *url, const char *default_path, struct post_target **target);
void post_close(struct post_target *target); /* NULL is welcome */

/* The status of the answer; 0 when there was none within the time. The certificate of https is verified. */
int post_send(struct post_target *target, const char *content_type, struct slice body, int timeout_ms);
