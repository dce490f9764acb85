/* src/base/account.c - counts that all holders share. */
#include <assert.h>

#include "base/account.h"

/* For small claims, and for what is taken anyway: every thread that serves a request may take a megabyte so. */
enum {
    KEPT_PART = 8, /* one in so many bytes */
    KEPT_PART_MOST = 4,
    KEPT_BYTES_MIN = 24 * 1024 * 1024,
};

static const struct {
    const char *name;
    unsigned percent;
} holders[] = {
#define HOLDER(name, text, percent) { text, percent },
#include "base/holders.def"
#undef HOLDER
};

void account_init(struct account *account, size_t limit_bytes)
{
    *account = (struct account){ .limit_bytes = limit_bytes };
}

const char *holder_name(enum holder holder)
{
    assert(holder < HOLDER_COUNT);
    return holders[holder].name;
}

/* What is there for those whose parts are not fixed. */
static size_t shared_bytes(const struct account *account)
{
    size_t fixed = atomic_load_explicit(&account->held_bytes[HOLDER_STORE], memory_order_relaxed);

    return account->limit_bytes > fixed ? account->limit_bytes - fixed : 0;
}

static size_t kept_bytes(size_t shared)
{
    size_t kept = shared / KEPT_PART;

    if (kept < KEPT_BYTES_MIN)
        kept = KEPT_BYTES_MIN;
    return kept < shared / KEPT_PART_MOST ? kept : shared / KEPT_PART_MOST;
}

size_t account_share(const struct account *account, enum holder holder)
{
    if (account->limit_bytes == 0)
        return SIZE_MAX;
    return shared_bytes(account) / 100 * holders[holder].percent;
}

size_t account_kept(const struct account *account)
{
    return account->limit_bytes == 0 ? SIZE_MAX : kept_bytes(shared_bytes(account));
}

static void add(struct account *account, enum holder holder, size_t bytes)
{
    atomic_fetch_add_explicit(&account->held_bytes[holder], bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&account->used_bytes, bytes, memory_order_relaxed);
}

static void take_off(struct account *account, enum holder holder, size_t bytes)
{
    size_t held = atomic_fetch_sub_explicit(&account->held_bytes[holder], bytes, memory_order_relaxed);
    size_t used = atomic_fetch_sub_explicit(&account->used_bytes, bytes, memory_order_relaxed);

    assert(held >= bytes); /* nothing is given back twice */
    assert(used >= bytes);
}

/* With so much more than is counted. */
static bool is_over(const struct account *account, const struct claim *claim, size_t bytes, size_t more)
{
    size_t used = atomic_load_explicit(&account->used_bytes, memory_order_relaxed) + more;
    size_t held = atomic_load_explicit(&account->held_bytes[claim->holder], memory_order_relaxed) + more;

    if (account->limit_bytes == 0)
        return false;
    if (claim->bytes + bytes <= CLAIM_SMALL_BYTES)
        return used > account->limit_bytes;
    return used > account->limit_bytes - kept_bytes(shared_bytes(account)) ||
           held > account_share(account, claim->holder);
}

bool claim_may_have(const struct claim *claim, size_t bytes)
{
    return !claim->account || !is_over(claim->account, claim, bytes, bytes);
}

bool claim_more(struct claim *claim, size_t bytes)
{
    struct account *account = claim->account;

    if (account && claim->is_owed) {
        add(account, claim->holder, bytes);
    } else if (account) {
        add(account, claim->holder,
            bytes); /* first: of two that ask at once one or both are refused, and never none */
        if (is_over(account, claim, bytes, 0)) {
            take_off(account, claim->holder, bytes);
            atomic_fetch_add_explicit(&account->refused[claim->holder], 1, memory_order_relaxed);
            claim->refused = true;
            return false;
        }
    }
    claim->bytes += bytes;
    return true;
}

void claim_anyway(struct claim *claim, size_t bytes)
{
    if (claim->account)
        add(claim->account, claim->holder, bytes);
    claim->bytes += bytes;
}

void claim_less(struct claim *claim, size_t bytes)
{
    assert(claim->bytes >= bytes);
    if (claim->account)
        take_off(claim->account, claim->holder, bytes);
    claim->bytes -= bytes;
}

void claim_move(struct claim *claim, enum holder holder)
{
    if (claim->account && claim->holder != holder) {
        atomic_fetch_add_explicit(&claim->account->held_bytes[holder], claim->bytes, memory_order_relaxed);
        atomic_fetch_sub_explicit(&claim->account->held_bytes[claim->holder], claim->bytes,
                                  memory_order_relaxed);
    }
    claim->holder = holder;
}
