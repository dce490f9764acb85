/* src/resource/resource.h - every operation of every resource: what the route table is made of. */
#pragma once
#include "resource/call.h"

operation account_read;

operation database_create;
operation database_read;
operation database_list;
operation database_query;
operation database_delete;

operation container_create;
operation container_read;
operation container_replace;
operation container_list;
operation container_query;
operation container_delete;

operation range_list;

operation document_create;
operation document_upsert;
operation document_read;
operation document_replace;
operation document_patch;
operation document_delete;
operation document_list;
operation document_query;
operation document_plan;
operation document_batch;

operation attachment_create;
operation attachment_upsert;
operation attachment_read;
operation attachment_replace;
operation attachment_remove;
operation attachment_feed;
operation attachment_query;
operation media_read;
operation media_replace;

operation partition_delete_items;
operation procedure_execute;

/* Users, scripts and the like: the path's type says which. */
operation child_create;
operation child_upsert;
operation child_read;
operation child_replace;
operation child_list;
operation child_query;
operation child_delete;

operation offer_read;
operation offer_replace;
operation offer_list;
operation offer_query;

operation conflict_list;
operation conflict_query;
operation conflict_read;
