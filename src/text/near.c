/* src/text/near.c - letters that words are apart, row by row of the usual table. */
#include "text/near.h"
#include "text/words.h"

struct letters {
    uint32_t letter[TEXT_WORD_BYTES_MAX];
    size_t end[TEXT_WORD_BYTES_MAX]; /* of each, in bytes */
    size_t count;
};

static void read_letters(struct slice word, struct letters *letters)
{
    letters->count = 0;
    for (size_t i = 0; i < word.size; i++) {
        uint8_t byte = (uint8_t)word.data[i];
        bool goes_on = (byte & 0xc0) == 0x80 && letters->count;

        if (goes_on) /* as good as any number of its own */
            letters->letter[letters->count - 1] = letters->letter[letters->count - 1] << 8 | byte;
        else
            letters->letter[letters->count++] = byte;
        letters->end[letters->count - 1] = i + 1;
    }
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* From the row of the letters before to that with one more. Gives the least of it: nothing that follows is less. */
static uint32_t next_row(uint32_t *row, const struct letters *to, uint32_t letter)
{
    uint32_t corner = row[0], best = ++row[0];

    for (size_t i = 0; i < to->count; i++) {
        uint32_t changed = corner + (to->letter[i] != letter);

        corner = row[i + 1];
        row[i + 1] = least(changed, least(row[i], corner) + 1);
        best = least(best, row[i + 1]);
    }
    return best;
}

bool text_is_near(struct slice word, struct slice to, uint32_t most, size_t *ruled_out)
{
    uint32_t row[TEXT_WORD_BYTES_MAX + 1];
    struct letters from, target;

    *ruled_out = 0;
    read_letters(word, &from);
    read_letters(to, &target);
    for (size_t i = 0; i <= target.count; i++)
        row[i] = (uint32_t)i;
    for (size_t i = 0; i < from.count; i++)
        if (next_row(row, &target, from.letter[i]) > most) {
            *ruled_out = from.end[i];
            return false;
        }
    return row[target.count] <= most;
}
