/* test/script/sandbox_test.c - a process of the test's own closes the sandbox and tries to get out. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox.h"
#include "test.h"

/* What an attempt answers: 0 when it was let through, otherwise errno. */
typedef int attempt(void);

static int outcome(long result)
{
    return result < 0 ? errno : 0;
}

/* Runs it behind a closed sandbox. -1: the sandbox did not close, or the process died of it. */
static int behind(attempt *attempt)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(sandbox_close() ? attempt() : 255);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) == 255)
        return -1;
    return WEXITSTATUS(status);
}

static int try_open(void)
{
    return outcome(syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY));
}

static int try_create(void)
{
    return outcome(syscall(SYS_openat, AT_FDCWD, "orrery-was-here", O_WRONLY | O_CREAT, 0600));
}

static int try_open2(void)
{
    return outcome(syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", NULL, 0));
}

static int try_unlink(void)
{
    return outcome(syscall(SYS_unlinkat, AT_FDCWD, "/nowhere", 0));
}

static int try_socket(void)
{
    return outcome(syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));
}

static int try_unix_socket(void)
{
    return outcome(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0));
}

static int try_send_descriptor(void)
{
    struct msghdr message = { 0 };

    return outcome(syscall(SYS_sendmsg, 3, &message, 0));
}

static int try_execve(void)
{
    char *const none[] = { NULL };

    return outcome(syscall(SYS_execve, "/bin/true", none, none));
}

/* A child that got through must not go on as this test. */
static int try_clone_process(void)
{
    long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

    if (child == 0)
        _exit(0);
    return outcome(child);
}

static int try_clone3(void)
{
    return outcome(syscall(SYS_clone3, NULL, 0));
}

static int try_kill_parent(void)
{
    return outcome(syscall(SYS_kill, getppid(), 0));
}

static int try_tgkill_parent(void)
{
    return outcome(syscall(SYS_tgkill, getppid(), getppid(), 0));
}

static int try_ptrace(void)
{
    return outcome(syscall(SYS_ptrace, PTRACE_TRACEME, 0, NULL, NULL));
}

static int try_prctl(void)
{
    return outcome(syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static int try_map_file(void)
{
    return outcome(syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE, 0, 0));
}

static int try_limit(void)
{
    unsigned long long limit[2] = { 1, 1 };

    return outcome(syscall(SYS_prlimit64, 0, 0, limit, NULL));
}

static int try_ioctl(void)
{
    return outcome(syscall(SYS_ioctl, 0, 0, NULL));
}

static int try_io_uring(void)
{
    return outcome(syscall(SYS_io_uring_setup, 1, NULL));
}

TEST(a_closed_sandbox_denies_files_sockets_programs_processes_and_the_rest)
{
    static const struct {
        const char *name;
        attempt *attempt;
        int denied;
    } attempts[] = {
        { "open", try_open, EPERM },
        { "create", try_create, EPERM },
        { "openat2", try_open2, EPERM },
        { "unlink", try_unlink, EPERM },
        { "socket", try_socket, EPERM },
        { "unix socket", try_unix_socket, EPERM },
        { "sendmsg", try_send_descriptor, EPERM },
        { "execve", try_execve, EPERM },
        { "clone of a process", try_clone_process, EPERM },
        { "clone3", try_clone3, ENOSYS },
        { "kill", try_kill_parent, EPERM },
        { "tgkill", try_tgkill_parent, EPERM },
        { "ptrace", try_ptrace, EPERM },
        { "prctl", try_prctl, EPERM },
        { "mmap of a file", try_map_file, EPERM },
        { "prlimit", try_limit, EPERM },
        { "ioctl", try_ioctl, EPERM },
        { "io_uring", try_io_uring, EPERM },
    };

    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
        if (behind(attempts[i].attempt) != attempts[i].denied)
            test_failed(__FILE__, __LINE__, attempts[i].name);
}

static int use_memory(void)
{
    char *at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return errno;
    at[0] = 1;
    return outcome(munmap(at, 1 << 20));
}

static void *try_open_on_a_thread(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)try_open();
}

static int use_a_thread(void)
{
    pthread_t thread;
    void *result = NULL;
    int error = pthread_create(&thread, NULL, try_open_on_a_thread, NULL);

    if (error == 0)
        error = pthread_join(thread, &result);
    return error != 0 || (intptr_t)result != EPERM;
}

static int use_a_pipe(void)
{
    return outcome(write(STDERR_FILENO, "", 0));
}

TEST(a_closed_sandbox_leaves_memory_threads_and_what_is_open)
{
    CHECK(behind(use_memory) == 0);
    CHECK(behind(use_a_thread) == 0);
    CHECK(behind(use_a_pipe) == 0);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *try_open_after_the_gate(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&gate);
    return (void *)(intptr_t)try_open();
}

/* The thread is there before the sandbox closes. */
static int close_over_a_thread(void)
{
    pthread_t thread;
    void *result = NULL;

    pthread_mutex_lock(&gate);
    if (pthread_create(&thread, NULL, try_open_after_the_gate, NULL) != 0 || !sandbox_close())
        return 1;
    pthread_mutex_unlock(&gate);
    pthread_join(thread, &result);
    return (intptr_t)result != EPERM;
}

TEST(threads_that_were_there_before_are_behind_it_as_well)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(close_over_a_thread());
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
