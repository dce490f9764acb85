/* src/main/health_command.c - orrery health: a container engine's health check, where there is no other program. */
#include <stdio.h>
#include <string.h>

#include "main/ask_server.h"
#include "main/directory.h"
#include "main/health_command.h"

/* Where the first of --listen is reached from this machine, whose own address is no name. */
static void find_listener(const struct settings *settings, char address[DIRECTORY_ADDRESS_SIZE])
{
    const char *listen = settings->listen.item[0], *colon = strrchr(listen, ':');
    bool is_name = listen[0] == '*' || listen[0] == ':' || strncmp(listen, "localhost:", 10) == 0;

    snprintf(address, DIRECTORY_ADDRESS_SIZE, "%s%s", is_name ? "127.0.0.1" : "",
             is_name && colon ? colon : listen);
}

/* A server that has a directory has written down there where it listens. */
static void find_address(struct op *op, const struct settings *settings, char address[DIRECTORY_ADDRESS_SIZE])
{
    if (!settings_has_directory(settings) || !directory_is_held(op, settings->data, address) || !address[0])
        find_listener(settings, address);
}

int health_command(int argc, char **argv)
{
    char address[DIRECTORY_ADDRESS_SIZE];
    struct settings settings;
    struct op op;
    enum status st;

    if (!settings_read(&settings, argc, argv, 2))
        return 2;
    op_init(&op, env_system(), SIZE_MAX);
    op.may_block = true;
    find_address(&op, &settings, address);
    st = server_is_ready(&op, address);
    if (st != ST_OK)
        fprintf(stderr, "orrery: %s\n", op.error ? op.error : error_row(st)->code);
    op_free(&op);
    return st != ST_OK;
}
