/*
 * src/http/certificate.h - the certificate a server makes for itself at its first start.
 * ECDSA P-256, self-signed, no authority for others, ten years, valid for localhost, 127.0.0.1, ::1, the machine's
 * host name and `names`. Kept as cert.pem and key.pem (mode 0600) so that clients that trust
 * it go on trusting it.
 */
#pragma once
#include "base/op.h"

/* Makes the pair unless both files are there. */
enum status certificate_ensure(struct op *op, const char *cert_file, const char *key_file,
                               const char *const *names, size_t name_count);
