/*
 * src/script/frames.h - the words between src/script/ (the parent) and script-host/ (orrery-js, the child).
 * Both include this file and nothing else of each other. They speak over a stream socket, fd FRAME_FD of the child.
 *
 * A frame: u32 little-endian, how many bytes follow it (kind and payload, 1..FRAME_BYTES_MAX); the kind, one
 * byte; the payload, JSON text in UTF-8 without NUL bytes. "?" marks a member that may be absent. A lone surrogate
 * is \ufffd in what the child tells, and refused in what it wants to be stored.
 *
 * LOAD, RUN and CALL begin with {"key":" in these very bytes; a key is 1 to 64 letters, digits, - or _.
 *
 * Order. The child says FRAME_HELLO once, when its sandbox is closed. Then, one at a time:
 *     parent RUN   -> child (OPERATIONS -> parent ANSWERS)* -> child DONE or FAILED or UNKNOWN
 *     parent CALL  -> child VALUES or UNKNOWN (or FAILED, when a function broke its own context)
 * LOAD and FORGET may come at any time and have no answer. CALL (with LOAD) may also come where ANSWERS is awaited.
 * When the parent closes its end, the child ends with status 0, in the middle of a script too.
 * A frame that breaks these rules ends the child with status 2: it has nobody to tell.
 *
 * Trust. A script may have taken the child over, so the parent believes nothing: it checks links, bodies, options and
 *     sizes again.
 *
 * LOAD        {"key":text, "kind":"sproc"|"trigger"|"udf", "source":text, "name"?:text}
 *             Kept by key, FRAME_SOURCES_MAX of a child and FRAME_SOURCES_BYTES_MAX of their frames, the least recently
 *             used goes first. `name` is the script's id;
 *             stacks show it as name.js. Other name, same source: another key. Same key again: nothing happens.
 *             Whether it compiles shows when it runs.
 * RUN         {"key":text, "args"?:[...] or {...}, "context":{
 *                "collection":{"self":"dbs/RID/colls/RID/", "alt":"dbs/NAME/colls/NAME"},
 *                "request":null | {"body"?:value, "operation"?:"Create"|"Replace"|"Upsert"|"Delete", "writable":bool,
 *                                  "values"?:{name:text}},
 *                "response":null | {"body"?:value, "values"?:{name:text}},
 *                "log":bool,
 *                "quota":{"ms":n, "operations":n, "response_bytes":n, "log_bytes":n} }}
 *             request: getContext().getRequest(), which is not there when it is null; `writable` in pre-triggers only.
 *             response: likewise; null in pre-triggers. `values` are what getValue() knows and setValue() may change:
 *             headers by their names; "MaxResourceQuota" and "ResourceQuotaCurrentUsage" also have accessors of that name.
 *             quota (each member may be absent: no limit): after `ms` of the run, or once `operations` were queued in all,
 *             operations are not accepted (the call returns false); larger bodies and logs fail with 413.
 *             Stored procedures: request without body, response {"body":""}. Pre-trigger: request with body,
 *             writable; response null. Post-trigger: request with body, not writable; response with the answer's body.
 *             No global of one run is seen by another: each has a context of its own.
 * OPERATIONS  {"ops":[op, ...]}    all that was queued when the script yielded, in order; never empty
 *             op: {"op":"create"|"upsert"|"read"|"readAll"|"query"|"replace"|"delete", "on":"document"|"attachment",
 *                  "link":text as the script gave it, "rid"?:text | "id"?:text, "attachment"?:text,
 *                  "body"?:value, "query"?:text | {"query":..,"parameters":..}, "options":{...}}
 *             rid or id: the document's part of a link by rid or by name; neither for links to the collection.
 *             attachment: the attachment's part (a rid when "rid" is there). A link outside the collection was refused
 *             before, with 400.
 *             body: create, upsert, replace; the document itself even when the script gave it as text. May be no object.
 *             options by op, all optional:  create {"indexAction":text, "disableAutomaticIdGeneration":true}
 *                 upsert, replace {"indexAction", "etag", and for upsert "disableAutomaticIdGeneration"}  delete {"etag"}
 *                 read {"ifNoneMatch":text}  readAll, query {"pageSize":n, "continuation":text, and for query
 *                 "enableScan":true, "enableLowPrecisionOrderBy":true}; pageSize is always sent: 100 unless told;
 *                 -1 is "as many as fit"
 *             The parent makes an id where it is missing or falsy unless disableAutomaticIdGeneration.
 * ANSWERS     {"answers":[answer, ...], "accept"?:false}     one for each op, in order; accept:false: no more from now on
 *             answer: {"status":2xx, "body"?:value, "options"?:{...}} or {"status":304, "options"?} or
 *                     {"status":4xx|5xx, "number"?:n, "message":text}
 *             body: the document as stored; for readAll and query the array of rows; for delete absent.
 *             options are handed to the callback: "continuation", "currentCollectionSizeInMB",
 *             "maxCollectionSizeInMB"; the child adds statusCode, and notModified for 304.
 *             number: what scripts see as err.number, status unless told; message: err.message and err.body, the
 *             service's text: {"Errors":["..."]}.
 * DONE        {"body"?:value, "request"?:value, "values"?:{name:value}, "log"?:text}
 *             body: what setBody and appendBody left, only when they were called (so a post-trigger that does not call them
 *             leaves the answer alone); request: the same of a pre-trigger's request; values: the response's that were
 *             set; log: as console.log gave it, not percent-encoded, only with "log":true and only when there is some.
 * FAILED      {"number"?:n, "message":text, "exception":text, "stack":text,
 *              "from":"throw"|"abort"|"operation"|"size"|"compile", "log"?:text}
 *             The answer's message is: "Encountered exception while executing function. Exception = " exception
 *             "\r\nStack trace: " stack  (for "compile" "compiling Javascript" for "executing function").
 *             exception: String(thrown), "Error: ..."; stack: that line again, then for each call of the script a line
 *             "   at function (name.js:line:column)".
 *             number: the thrown error's `number` when it is an integer from 1 to 65535, else left out. from: "operation"
 *             when it is an operation's own error, which nobody caught or which was thrown on; "size" likewise, of a response.
 * CALL        {"key":text, "calls":[call, ...]}     call: [arg, ...], or {"args":[...], "undefined":[position, ...]}
 *             when some arguments are undefined (null or anything else stands in their places)
 * VALUES      [value, ...]    one for each call, in order: {"value":any} or {} for undefined or {"error":exception,
 *             "number"?:n, "stack":text, "from":"throw"|"compile"}; an error does not stop the others. A UDF has no
 *             getContext; its globals live on from call to call, until FORGET.
 * FORGET      {}    a query has ended: the next CALL finds new globals
 * UNKNOWN     {"key":text}    this key is not loaded (or not any more): LOAD it, then send RUN or CALL again
 * HELLO       {"frames":FRAME_VERSION, "engine":text}
 */
#pragma once
#include <stdint.h>

enum {
    FRAME_FD = 3,
    FRAME_VERSION = 2,
    FRAME_HEADER_BYTES = 4,
    FRAME_BYTES_MAX = 64 * 1024 * 1024,
    FRAME_SOURCES_MAX = 256,
    FRAME_SOURCES_BYTES_MAX =
        32 * 1024 * 1024, /* more than a query's functions and a procedure, the largest there are */
};

enum frame_kind {
    FRAME_LOAD = 'L',
    FRAME_RUN = 'R',
    FRAME_ANSWERS = 'A',
    FRAME_CALL = 'U',
    FRAME_FORGET = 'G',

    FRAME_HELLO = 'H',
    FRAME_OPERATIONS = 'O',
    FRAME_DONE = 'D',
    FRAME_VALUES = 'V',
    FRAME_FAILED = 'F',
    FRAME_UNKNOWN = 'N',
};
