/* client/status.c - what each status means, in words. */
#include <orrery.h>

struct status_row {
    orrery_status status;
    const char *text;
};

static const struct status_row status_rows[] = {
    { ORRERY_OK, "no error" },
    { ORRERY_ROW, "a row is there" },
    { ORRERY_DONE, "no more rows" },
    { ORRERY_NOT_MODIFIED, "not modified" },
    { ORRERY_WAIT, "an answer is under way" },
    { ORRERY_EINVAL, "an argument makes no sense" },
    { ORRERY_ENOMEM, "out of memory" },
    { ORRERY_EJSON, "no JSON of the expected shape" },
    { ORRERY_ECONNECT, "cannot connect" },
    { ORRERY_EIO, "the connection was lost or the answer made no sense" },
    { ORRERY_ETIMEOUT, "out of time" },
    { ORRERY_EUNSUPPORTED, "not supported by this library" },
    { ORRERY_EBADREQUEST, "bad request" },
    { ORRERY_EUNAUTHORIZED, "not allowed" },
    { ORRERY_ENOTFOUND, "not found" },
    { ORRERY_ECONFLICT, "it is there already" },
    { ORRERY_EGONE, "gone" },
    { ORRERY_EPRECONDITION, "changed by somebody else" },
    { ORRERY_ETOOLARGE, "too large" },
    { ORRERY_ETHROTTLED, "too many requests" },
    { ORRERY_ERETRY, "lost a race, try again" },
    { ORRERY_ESERVER, "the server failed" },
    { ORRERY_EHTTP, "an unexpected HTTP status" },
    { ORRERY_EBATCH, "an operation of the batch or transaction failed" },
    { ORRERY_ECANCELED, "cancelled" },
    { ORRERY_EKEYTYPE, "a key of a type that cannot be placed" },
    { ORRERY_ENOKEY, "the document has no key" },
    { ORRERY_ENORANGE, "no range has the key" },
    { ORRERY_ELINK, "no link of a collection" },
    { ORRERY_ENORESOLVER, "the database has no resolver" },
    { ORRERY_EMIGRATING, "the collections are being rearranged" },
    { ORRERY_EBUSY, "another manager or process has it" },
    { ORRERY_ESTATE, "a saved state makes no sense" },
    { ORRERY_ECALLBACK, "a callback failed" },
};

const char *orrery_status_text(orrery_status status)
{
    for (size_t i = 0; i < sizeof(status_rows) / sizeof(status_rows[0]); i++)
        if (status_rows[i].status == status)
            return status_rows[i].text;
    return "an unknown status";
}

const char *orrery_version(void)
{
    return ORRERY_VERSION;
}
