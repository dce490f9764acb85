/* src/main/keys_command.c - orrery keys show, orrery keys rotate NAME, orrery keys metrics. */
#include <stdio.h>
#include <string.h>

#include "main/keyfile.h"
#include "main/keys_command.h"

static enum status show(struct op *op, const struct settings *settings)
{
    struct key_texts keys;
    struct file_stamp stamp;
    enum status st;

    TRY(keys_read(op, settings, &keys, &stamp));
    for (size_t i = 0; i < AUTH_KEYS_MAX; i++)
        if (keys.text[i][0])
            printf("%s %s\n", auth_key_names[i], keys.text[i]);
out:
    explicit_bzero(&keys, sizeof(keys));
    return st;
}

/* Of a key for reading, if there is one: those are the ones that are given away. */
static enum status print_metrics_token(struct op *op, const struct settings *settings)
{
    struct key_texts keys;
    struct file_stamp stamp;
    struct slice token;
    size_t which = AUTH_KEYS_MAX - 1;
    enum status st;

    TRY(keys_read(op, settings, &keys, &stamp));
    while (which > 0 && !keys.text[which][0])
        which--;
    TRY(auth_make_metrics_token(op, keys.text[which], &token));
    printf("%.*s\n", SLICE_ARGS(token));
out:
    explicit_bzero(&keys, sizeof(keys));
    return st;
}

static enum status rotate(struct op *op, const struct settings *settings, const char *name)
{
    char text[AUTH_KEY_TEXT_MAX + 1];
    size_t which = 0;
    enum status st;

    while (which < AUTH_KEYS_MAX && strcmp(name, auth_key_names[which]) != 0)
        which++;
    if (which == AUTH_KEYS_MAX)
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "no key is named %s: primary, secondary, primaryReadonly, secondaryReadonly", name));
    if (!settings->key_file)
        TRY(op_fail(op, ST_BAD_REQUEST, "keys that are rotated lie in a file: give --key-file FILE"));
    TRY(keyfile_rotate(op, settings->key_file, (enum auth_key)which, text));
    printf("%s %s\n", name, text);
out:
    explicit_bzero(text, sizeof(text));
    return st;
}

static int usage(void)
{
    fputs("usage: orrery keys show [flags of serve]\n"
          "       orrery keys rotate NAME --key-file FILE\n"
          "       orrery keys metrics [flags of serve]\n",
          stderr);
    return 2;
}

int keys_command(int argc, char **argv)
{
    bool rotates = argc > 3 && strcmp(argv[2], "rotate") == 0;
    bool for_metrics = argc > 2 && strcmp(argv[2], "metrics") == 0;
    struct settings settings;
    struct op op;
    enum status st;

    if (!rotates && !for_metrics && !(argc > 2 && strcmp(argv[2], "show") == 0))
        return usage();
    if (!settings_read(&settings, argc, argv, rotates ? 4 : 3))
        return 2;
    op_init(&op, env_system(), SIZE_MAX);
    st = rotates       ? rotate(&op, &settings, argv[3])
         : for_metrics ? print_metrics_token(&op, &settings)
                       : show(&op, &settings);
    if (st != ST_OK)
        fprintf(stderr, "orrery: %s\n", op.error ? op.error : error_row(st)->code);
    op_free(&op);
    return st != ST_OK;
}
