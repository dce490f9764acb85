/*
 * src/main/identity.h - the files that bearer tokens are checked against: an identity provider's public keys, and roles.
 * Both are read again when they change. When one is no good, what is in use stays, and the log tells it once.
 */
#pragma once
#include "auth/auth.h"
#include "main/settings.h"
#include "main/watched.h"

struct identity {
    struct file_watch jwks, roles;
};

/* Reads both files and has `auth` use them. Without --jwks it does nothing. ST_BAD_REQUEST, with what is wrong. */
enum status identity_open(struct op *op, const struct settings *settings, struct auth *auth,
                          struct identity *identity);

/* Looks whether a file has changed, and reads both again if so. True when new ones are in use. */
bool identity_look(struct op *op, const struct settings *settings, struct auth *auth,
                   struct identity *identity);
