/*
 * src/resource/form.h - in which form an answer goes out: JSON as text, or binary JSON (json/binary_write.h).
 * A client that can read binary says so. Errors, batches, patches and everything but items stay text whatever it says.
 */
#pragma once
#include "resource/call.h"

enum form { FORM_TEXT, FORM_BINARY };

/* Of one item that was created, read, replaced or upserted, and of a page of a query over items. */
enum form form_of_answer(const struct call *call);

/* Of a page of items that is no query's: only a client that asks for this one form gets it. */
enum form form_of_list(const struct call *call);

/* x-ms-documentdb-content-serialization-format: ST_BAD_HEADER when it is no format at all. */
enum status form_check(struct op *op, const struct request *request);
