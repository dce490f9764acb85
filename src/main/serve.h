/* src/main/serve.h - the server: everything put together, until it is told to stop. */
#pragma once
#include "main/settings.h"

/* The process's exit status. */
int serve(struct settings *settings);
