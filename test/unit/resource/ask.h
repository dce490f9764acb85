/*
 * test/unit/resource/ask.h - runs operations as route/ would, without paths and signatures.
 *     ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
 *     CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 201);
 * Headers stay for the next operation until ask_clear(). Apostrophes stand for double quotes.
 */
#pragma once
#include "resource/resource.h"
#include "rig.h"

struct ask {
    struct rig rig;
    struct service service;
    struct request request;
    struct call call;
    struct answer answer;
    enum status st; /* of the operation */
};

/* A service with the database "db" and in it the container "c" by /pk, which calls are about. */
void ask_open(struct ask *ask);
void ask_close(struct ask *ask);

void ask_header(struct ask *ask, enum header_id id, const char *value);
void ask_clear(struct ask *ask);
void ask_about(struct ask *ask, const char *id); /* the item in the path */

/* The answer's status code. body may be NULL. */
int ask_run(struct ask *ask, operation *run, const char *body);

/* Of the last answer. */
struct json ask_body(struct ask *ask);
struct json ask_member(struct ask *ask, const char *name);
struct slice ask_answer(struct ask *ask, const char *header);
bool ask_told(struct ask *ask, const char *reason); /* the failure's reason */

/* Creates or reads an item and says its etag, as a header would. */
struct slice ask_item(struct ask *ask, const char *key, const char *document);
