/* src/http/certificate.c - makes the key, makes the certificate, writes both so that a crash leaves neither half. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/certificate.h"

enum { VALID_DAYS = 3650, SERIAL_BYTES = 16 };

/*
 * A server's certificate and no authority: a client that trusts this very file trusts it for these names, and whoever has
 * its key can vouch for no other. OpenSSL (strict too), Node.js, Python, Java and rustls take it as what it is.
 */
static const struct {
    int nid;
    const char *value;
} extensions[] = {
    { NID_basic_constraints, "critical,CA:FALSE" },
    { NID_key_usage, "critical,digitalSignature" },
    { NID_ext_key_usage, "serverAuth" },
    { NID_subject_key_identifier, "hash" },
    { NID_authority_key_identifier, "keyid:always" }, /* strict verifiers ask for it */
};

static bool is_address(const char *name)
{
    unsigned char address[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

static bool add_name(GENERAL_NAMES *names, const char *name)
{
    GENERAL_NAME *made = a2i_GENERAL_NAME(NULL, NULL, NULL, is_address(name) ? GEN_IPADD : GEN_DNS, name, 0);

    if (made && sk_GENERAL_NAME_push(names, made) > 0)
        return true;
    GENERAL_NAME_free(made);
    return false;
}

static bool add_names(X509 *cert, const char *const *extra, size_t extra_count)
{
    static const char *const always[] = { "localhost", "127.0.0.1", "::1" };
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    char host[256] = "";
    bool ok = names != NULL;

    for (size_t i = 0; ok && i < sizeof(always) / sizeof(always[0]); i++)
        ok = add_name(names, always[i]);
    if (ok && gethostname(host, sizeof(host) - 1) == 0 && host[0])
        ok = add_name(names, host);
    for (size_t i = 0; ok && i < extra_count; i++)
        ok = add_name(names, extra[i]);
    ok = ok && X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) == 1;
    GENERAL_NAMES_free(names);
    return ok;
}

static bool add_extension(X509 *cert, int nid, const char *value)
{
    X509_EXTENSION *extension;
    X509V3_CTX context;
    bool ok;

    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, cert, cert, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    ok = extension && X509_add_ext(cert, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

/* Clients keep certificates apart by issuer and serial number: two of our servers must differ. */
static bool set_serial(X509 *cert)
{
    unsigned char bytes[SERIAL_BYTES];
    BIGNUM *number = NULL;
    bool ok;

    if (RAND_bytes(bytes, sizeof(bytes)) != 1)
        return false;
    bytes[0] &= 0x7f; /* positive, */
    bytes[0] |= 0x40; /* and always of the same length */
    number = BN_bin2bn(bytes, sizeof(bytes), NULL);
    ok = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
    BN_free(number);
    return ok;
}

static bool set_subject(X509 *cert)
{
    X509_NAME *name = X509_get_subject_name(cert);

    return X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC, (const unsigned char *)"Orrery", -1, -1, 0) ==
               1 &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost", -1, -1,
                                      0) == 1 &&
           X509_set_issuer_name(cert, name) == 1;
}

static bool set_times(X509 *cert, int64_t now_ms)
{
    time_t now = (time_t)(now_ms / 1000);

    /* From yesterday on: the clocks of containers and virtual machines differ. */
    return X509_time_adj_ex(X509_getm_notBefore(cert), -1, 0, &now) &&
           X509_time_adj_ex(X509_getm_notAfter(cert), VALID_DAYS, 0, &now);
}

static X509 *make_cert(EVP_PKEY *key, int64_t now_ms, const char *const *names, size_t name_count)
{
    X509 *cert = X509_new();
    bool ok = cert && X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) && set_subject(cert) &&
              set_times(cert, now_ms) && X509_set_pubkey(cert, key) == 1 &&
              add_names(cert, names, name_count);

    for (size_t i = 0; ok && i < sizeof(extensions) / sizeof(extensions[0]); i++)
        ok = add_extension(cert, extensions[i].nid, extensions[i].value);
    if (ok && X509_sign(cert, key, EVP_sha256()) > 0)
        return cert;
    X509_free(cert);
    return NULL;
}

static enum status io_fail(struct op *op, const char *file)
{
    return op_fail(op, ST_UNAVAILABLE, "cannot write %s: %s", file, strerror(errno));
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t count = write(fd, data, size);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return false;
        data += count;
        size -= (size_t)count;
    }
    return true;
}

/* Writes the whole file under its own name, or leaves nothing there. */
static enum status write_file(struct op *op, const char *file, BIO *text, mode_t mode)
{
    struct buf temporary;
    char *data;
    long size = BIO_get_mem_data(text, &data);
    bool ok;
    int fd;

    buf_init(&temporary, &op->arena);
    buf_printf(&temporary, "%s.new", file);
    unlink(temporary.data); /* an earlier try may have left it, with another mode */
    fd = open(temporary.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return io_fail(op, temporary.data);
    ok = write_all(fd, data, (size_t)size) && fsync(fd) == 0;
    ok = close(fd) == 0 && ok;
    if (ok && rename(temporary.data, file) == 0)
        return ST_OK;
    (void)!io_fail(op, file);
    unlink(temporary.data);
    return ST_UNAVAILABLE;
}

static enum status write_pair(struct op *op, X509 *cert, EVP_PKEY *key, const char *cert_file,
                              const char *key_file)
{
    BIO *cert_text = BIO_new(BIO_s_mem()), *key_text = BIO_new(BIO_s_mem());
    enum status st;

    if (!cert_text || !key_text || PEM_write_bio_X509(cert_text, cert) != 1 ||
        PEM_write_bio_PKCS8PrivateKey(key_text, key, NULL, NULL, 0, NULL, NULL) != 1) {
        st = op_fail(op, ST_INTERNAL, "the certificate cannot be written as PEM");
        goto out;
    }
    /* Two files that are there must belong together: so the old certificate goes before the new key comes. */
    unlink(cert_file);
    TRY(write_file(op, key_file, key_text, 0600));
    TRY(write_file(op, cert_file, cert_text, 0644));
out:
    BIO_free(cert_text);
    BIO_free(key_text);
    return st;
}

enum status certificate_ensure(struct op *op, const char *cert_file, const char *key_file,
                               const char *const *names, size_t name_count)
{
    EVP_PKEY *key = NULL;
    X509 *cert = NULL;
    enum status st = ST_OK;

    if (access(cert_file, F_OK) == 0 && access(key_file, F_OK) == 0)
        return ST_OK;
    key = EVP_EC_gen("P-256");
    cert = key ? make_cert(key, op->now_ms, names, name_count) : NULL;
    if (cert)
        st = write_pair(op, cert, key, cert_file, key_file);
    else
        st = op_fail(op, ST_INTERNAL, "cannot make a certificate: %s",
                     ERR_reason_error_string(ERR_peek_last_error()) ?: "one of its names may be malformed");
    X509_free(cert);
    EVP_PKEY_free(key);
    return st;
}
