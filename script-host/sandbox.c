/*
 * script-host/sandbox.c - the system calls that JavaScriptCore, malloc and frames.c make once all is loaded; no others.
 * A denied call answers an error and does not kill: libraries ask for things that they can do without.
 */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sandbox.h"

static const int allowed[] = {
    /* frames and the log */
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(close),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    /* memory; mmap is below */
    SCMP_SYS(munmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    SCMP_SYS(mremap),
    SCMP_SYS(brk),
    SCMP_SYS(mincore),
    /* threads that wait, wake and sleep; clone is below */
    SCMP_SYS(futex),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(membarrier),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    /* the collector stops threads by signals */
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigsuspend),
    SCMP_SYS(sigaltstack),
    /* time, chance, the end */
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(getrandom),
    SCMP_SYS(getrusage),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

static bool allow_all(scmp_filter_ctx filter)
{
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0) != 0)
            return false;
    return true;
}

static bool allow_if(scmp_filter_ctx filter, int call, struct scmp_arg_cmp condition)
{
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, condition) == 0;
}

/* Memory of no file; threads and no processes; signals to nobody else; a name for a thread. */
static bool allow_some(scmp_filter_ctx filter)
{
    struct scmp_arg_cmp own = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid());
    struct scmp_arg_cmp unbacked = SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS);
    struct scmp_arg_cmp thread =
        SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM);
    struct scmp_arg_cmp name = SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME);
    struct scmp_arg_cmp only_asks = SCMP_A2(SCMP_CMP_EQ, 0);

    return allow_if(filter, SCMP_SYS(mmap), unbacked) && allow_if(filter, SCMP_SYS(clone), thread) &&
           allow_if(filter, SCMP_SYS(tgkill), own) && allow_if(filter, SCMP_SYS(prctl), name) &&
           allow_if(filter, SCMP_SYS(prlimit64), only_asks);
}

/* clone3 hides its flags from the filter; when it seems not to exist, the C library takes clone. */
static bool hide_clone3(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

bool sandbox_close(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    bool is_closed = filter != NULL && seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
                     allow_all(filter) && allow_some(filter) && hide_clone3(filter) &&
                     seccomp_load(filter) == 0;

    seccomp_release(filter);
    return is_closed;
}
