/* src/resource/resource.h - every operation of every resource: what the route table is made of. */
#pragma once
#include "resource/call.h"

enum status account_read(struct op *op, struct call *call, struct reply *reply);
enum status address_list(struct op *op, struct call *call, struct reply *reply);

enum status database_create(struct op *op, struct call *call, struct reply *reply);
enum status database_head(struct op *op, struct call *call, struct reply *reply);
enum status database_read(struct op *op, struct call *call, struct reply *reply);
enum status database_list(struct op *op, struct call *call, struct reply *reply);
enum status database_query(struct op *op, struct call *call, struct reply *reply);
enum status database_delete(struct op *op, struct call *call, struct reply *reply);

enum status container_create(struct op *op, struct call *call, struct reply *reply);
enum status container_head(struct op *op, struct call *call, struct reply *reply);
enum status container_read(struct op *op, struct call *call, struct reply *reply);
enum status container_replace(struct op *op, struct call *call, struct reply *reply);
enum status container_list(struct op *op, struct call *call, struct reply *reply);
enum status container_query(struct op *op, struct call *call, struct reply *reply);
enum status container_delete(struct op *op, struct call *call, struct reply *reply);

enum status range_list(struct op *op, struct call *call, struct reply *reply);

enum status document_create(struct op *op, struct call *call, struct reply *reply);
enum status document_upsert(struct op *op, struct call *call, struct reply *reply);
enum status document_read(struct op *op, struct call *call, struct reply *reply);
enum status document_replace(struct op *op, struct call *call, struct reply *reply);
enum status document_patch(struct op *op, struct call *call, struct reply *reply);
enum status document_delete(struct op *op, struct call *call, struct reply *reply);
enum status document_list(struct op *op, struct call *call, struct reply *reply);
enum status document_query(struct op *op, struct call *call, struct reply *reply);
enum status document_plan(struct op *op, struct call *call, struct reply *reply);
enum status document_batch(struct op *op, struct call *call, struct reply *reply);

/* Operations on items of several containers: all of them write, or all of them read. */
enum status transaction_write(struct op *op, struct call *call, struct reply *reply);
enum status transaction_read(struct op *op, struct call *call, struct reply *reply);

enum status attachment_create(struct op *op, struct call *call, struct reply *reply);
enum status attachment_upsert(struct op *op, struct call *call, struct reply *reply);
enum status attachment_read(struct op *op, struct call *call, struct reply *reply);
enum status attachment_replace(struct op *op, struct call *call, struct reply *reply);
enum status attachment_remove(struct op *op, struct call *call, struct reply *reply);
enum status attachment_feed(struct op *op, struct call *call, struct reply *reply);
enum status attachment_query(struct op *op, struct call *call, struct reply *reply);
enum status media_read(struct op *op, struct call *call, struct reply *reply);
enum status media_replace(struct op *op, struct call *call, struct reply *reply);

enum status partition_delete_items(struct op *op, struct call *call, struct reply *reply);
enum status procedure_execute(struct op *op, struct call *call, struct reply *reply);

/* Users, scripts and the like: the path's type says which. */
enum status child_create(struct op *op, struct call *call, struct reply *reply);
enum status child_upsert(struct op *op, struct call *call, struct reply *reply);
enum status child_read(struct op *op, struct call *call, struct reply *reply);
enum status child_replace(struct op *op, struct call *call, struct reply *reply);
enum status child_list(struct op *op, struct call *call, struct reply *reply);
enum status child_query(struct op *op, struct call *call, struct reply *reply);
enum status child_delete(struct op *op, struct call *call, struct reply *reply);

enum status offer_read(struct op *op, struct call *call, struct reply *reply);
enum status offer_replace(struct op *op, struct call *call, struct reply *reply);
enum status offer_list(struct op *op, struct call *call, struct reply *reply);
enum status offer_query(struct op *op, struct call *call, struct reply *reply);

enum status conflict_list(struct op *op, struct call *call, struct reply *reply);
enum status conflict_query(struct op *op, struct call *call, struct reply *reply);
enum status conflict_read(struct op *op, struct call *call, struct reply *reply);
