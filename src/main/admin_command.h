/* src/main/admin_command.h - orrery admin: splits and merges a container's partition key ranges, by the server. */
#pragma once

/* `orrery admin split ...`: gives back the exit status. */
int admin_command(int argc, char **argv);
