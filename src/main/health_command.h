/* src/main/health_command.h - orrery health: whether the server that these flags would start is up, and serves. */
#pragma once

/* The exit status: 0 when it does. */
int health_command(int argc, char **argv);
