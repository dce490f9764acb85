/*
 * script-host/sandbox.h - gives up, for good, what a process that only computes does not need.
 * sandbox.c alone knows libseccomp.
 */
#pragma once
#include <stdbool.h>

/*
 * For this thread, all others and all to come: no files, no sockets, no programs, no processes, no signals to others.
 * What is open can be read and written. A call that is denied answers EPERM. False: the sandbox is not closed.
 */
bool sandbox_close(void);
