/* cli/wait.h - orrery wait: ends when a server serves. */
#pragma once
#include "options.h"

int wait_command(const struct options *options);
