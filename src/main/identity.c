/* src/main/identity.c - bearer tokens: public keys and roles, from their files. */
#include "main/identity.h"

#include <string.h>

#include "base/log.h"

static const struct watched_kind jwks_kind = { "JWKS", 256 * 1024, false };
static const struct watched_kind roles_kind = { "file of roles", 1024 * 1024, false };

static enum status check_settings(struct op *op, const struct settings *settings)
{
    if (settings->jwks && (!settings->jwt_issuer || settings->jwt_audiences.count == 0))
        return op_fail(op, ST_BAD_REQUEST,
                       "--jwks needs --jwt-issuer and --jwt-audience: keys alone do not say for whom "
                       "a token is");
    if (!settings->jwks && (settings->jwt_issuer || settings->jwt_audiences.count || settings->roles))
        return op_fail(op, ST_BAD_REQUEST, "--jwt-issuer, --jwt-audience and --roles go with --jwks");
    return ST_OK;
}

/* Both are looked at even if one is no good, so that each version is told of once. */
static enum status read_files(struct op *op, const struct settings *settings, struct identity *identity,
                              struct bearer_options *options)
{
    enum status jwks = watched_read(op, settings->jwks, &jwks_kind, &options->jwks, &identity->jwks.used);
    enum status roles = ST_OK;

    if (settings->roles)
        roles = watched_read(op, settings->roles, &roles_kind, &options->roles, &identity->roles.used);
    return jwks != ST_OK ? jwks : roles;
}

enum status identity_open(struct op *op, const struct settings *settings, struct auth *auth,
                          struct identity *identity)
{
    struct bearer_options options = { .issuer = settings->jwt_issuer,
                                      .audiences = settings->jwt_audiences.item,
                                      .audience_count = settings->jwt_audiences.count };
    struct bearer *bearer = NULL;
    enum status st;

    TRY(check_settings(op, settings));
    if (!settings->jwks)
        goto out;
    TRY(read_files(op, settings, identity, &options));
    TRY(bearer_open(op, &options, &bearer));
    auth_set_bearer(auth, bearer);
out:
    return st;
}

bool identity_look(struct op *op, const struct settings *settings, struct auth *auth,
                   struct identity *identity)
{
    bool changed = settings->jwks && watched_look(settings->jwks, &identity->jwks);

    if (settings->roles) /* after the first: both must look, for the next time */
        changed |= watched_look(settings->roles, &identity->roles);
    if (!changed)
        return false;
    if (identity_open(op, settings, auth, identity) != ST_OK) {
        log_line(LOG_ERROR, "public keys and roles stay as they are: %s", op->error);
        return false;
    }
    log_line(LOG_INFO, "the public keys and roles of %s are in use", settings->jwks);
    return true;
}
