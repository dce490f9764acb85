/*
 * src/resource/attachment_private.h - one request about an attachment, for the files of this folder only.
 * A job is one request. The reading calls fill it, the calls inside a transaction change it, and the last calls print
 * the answer from it.
 */
#pragma once
#include "partition/attachment.h"
#include "resource/item.h"

/* What a request asks for, and what became of it. */
struct attachment_job {
    const struct call *call;
    struct placed_key key;
    struct slice item_id;
    struct slice name;                    /* of the attachment in the path */
    struct slice if_match, if_none_match; /* conditions, as they came; data is NULL where there is none */
    bool by_number;                       /* the attachment is known by its rid, and not by its name */
    uint32_t number;

    bool has_media; /* the body is the media; else `body` is the attachment */
    struct slice media, type, slug;
    struct json body;

    struct record item, old, made;
    bool found;
    struct commit_stamp stamp;
};

/* The item that the path names, with the partition key of the header. */
enum status attachment_read_address(struct op *op, const struct call *call, struct reply *reply,
                                    struct attachment_job *job);

/* The attachment as JSON, or media with the name in the Slug header; the second takes the body for media. */
enum status attachment_read_body(struct op *op, const struct call *call, struct attachment_job *job);
enum status attachment_read_media(struct op *op, const struct call *call, struct attachment_job *job);

/* Whether `body` says what an attachment has to say. */
enum status attachment_check_body(struct op *op, const struct attachment_job *job);

/* The id that the body gives it; absent when media come without a name. */
struct slice attachment_wanted_id(const struct attachment_job *job);

/*
 * Inside a transaction. The first finds the item. The second finds the attachment of that name: `found` says
 * whether it is there, and `old` is it. The third finds the attachment that the path names, which must be there and
 * meet If-Match.
 */
enum status attachment_find_item(struct op *op, struct partition_txn *txn, struct attachment_job *job);
enum status attachment_find(struct op *op, struct partition_txn *txn, struct attachment_job *job,
                            struct slice name);
enum status attachment_find_to_change(struct op *op, struct partition_txn *txn, struct attachment_job *job);

/* Writes what the body says. It takes the place of `old`, if that was found. */
enum status attachment_write(struct op *op, struct partition_txn *txn, struct attachment_job *job);

typedef enum status attachment_attempt(struct op *op, struct partition_txn *txn, struct attachment_job *job);

/* Each of them refuses before it writes anything. */
attachment_attempt attachment_try_create, attachment_try_upsert, attachment_try_replace,
    attachment_try_delete;

/*
 * Runs the attempt in a transaction of its own, which counts as a write of the item: others who write the item
 * meanwhile wait, or are refused.
 */
enum status attachment_run(struct op *op, struct attachment_job *job, attachment_attempt *attempt);

struct rid attachment_rid(const struct attachment_job *job, const struct record *attachment);
void attachment_print(struct buf *body, const struct attachment_job *job, const struct record *attachment);
extern const struct search_kind attachment_rows; /* rows are records; the context is their job */
void attachment_reply(struct reply *reply, const struct attachment_job *job, const struct record *attachment,
                      uint64_t lsn, int status);
void attachment_reply_written(struct reply *reply, struct attachment_job *job, int status);

/* Here, so that analysers see that it is never ST_OK. */
static inline enum status attachment_missing(struct op *op)
{
    return op_fail_as(op, ST_NOT_FOUND);
}
