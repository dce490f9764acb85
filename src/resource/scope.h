/* src/resource/scope.h - which part of its container a request on items is about. */
#pragma once
#include "partition/key.h"
#include "partition/partition.h"
#include "resource/call.h"

/* Which part of the container the client means: a key, a part of one, a range, or everything; the reply is about it. */
enum status scope_read(struct op *op, const struct call *call, struct reply *reply,
                       struct partition_scope *scope, struct partition_key *key);
