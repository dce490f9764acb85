/*
 * test/sim/model.h - what clients may expect: a few containers, and for each partition key and id an item.
 * It is written from what the service promises and shares no code with src/. It predicts an answer, and takes
 * up what the answer alone can tell: ETag, _rid.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { BOXES = 3, KEYS = 3, IDS = 6, FILES = 2 };
enum { TEXT_MAX = 64 };

/* {"id":..,"pk":..,"n":..,"u":..,"ttl":..}; the last two may be left out. */
struct doc {
    int n, u, ttl;
    bool has_u, has_ttl;
};

struct item {
    bool exists; /* or has expired, and may or may not have been removed */
    struct doc doc;
    int64_t ts_ms;
    uint64_t touched; /* which change of the model was the last of this place */
    char etag[TEXT_MAX], stale[TEXT_MAX], rid[TEXT_MAX];
    int file[FILES]; /* what its attachments hold; 0: there is none */
};

/* A container. */
struct box {
    bool exists, unique;
    int default_ttl;        /* seconds; 0: off, -1: on, without a default */
    uint64_t made;          /* which change of the model made or dropped it */
    char session[TEXT_MAX]; /* the last token that an answer had; a client that sends it must be served */
    struct item item[KEYS][IDS];
};

struct model {
    uint64_t changes;
    struct box box[BOXES];
};

enum plan_kind { PLAN_CREATE, PLAN_UPSERT, PLAN_READ, PLAN_REPLACE, PLAN_PATCH, PLAN_DELETE, PLAN_KINDS };
enum patch_kind { PATCHES_N, PATCHES_U, PATCHES_U_AWAY, PATCHES_TTL, PATCHES };

/* A request for one item. */
struct plan {
    enum plan_kind kind;
    enum patch_kind patch;
    int box, key, id;
    int to;              /* the id in the document: a replace may rename */
    struct doc doc;      /* or, in a patch, the new values */
    char etag[TEXT_MAX]; /* If-Match, or If-None-Match of a read; "": none */
};

struct outcome {
    int status;
    bool writes;
    struct doc doc; /* of an item that is read or written */
};

bool model_is_alive(const struct box *box, const struct item *item, int64_t now_ms);
struct outcome model_predict(const struct model *model, const struct plan *plan, int64_t now_ms);

/* An outcome that writes. The texts are the answer's; "" for a delete. */
void model_apply(struct model *model, const struct plan *plan, const struct outcome *outcome, int64_t now_ms,
                 const char *etag, const char *rid);

/* Of a request for an attachment, with the content that it puts. */
enum file_kind { FILE_PUT, FILE_READ, FILE_DELETE, FILE_KINDS };

struct errand {
    enum file_kind kind;
    int box, key, id, file, content;
};

struct outcome model_predict_file(const struct model *model, const struct errand *errand, int64_t now_ms);
void model_apply_file(struct model *model, const struct errand *errand);

void model_remove(struct model *model, int box, int key, int id);
void model_make_box(struct model *model, int box, bool unique, int default_ttl);
void model_drop_box(struct model *model, int box);
bool doc_equal(const struct doc *a, const struct doc *b);
