/* mutate.c - changes of texts by lines and words, beside libFuzzer's by bytes
 *
 * Bytes alone hardly ever make a text that parses. Here words of the text take the place of others, lines go, double,
 * move and change places, and lines of one text get into another: most of that parses still and means something else.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, uint8_t *out, size_t most,
                                 unsigned seed);

struct range {
    size_t begin, end;
};

static uint64_t state;

static size_t
draw(size_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return n ? (size_t)((state >> 33) % n) : 0;
}

static int
in_word(int c)
{
    return isalnum(c) || c == '_' || c == '.';
}

/* A word, a number or a single other character around a place. */
static struct range
word_at(const uint8_t *d, size_t n, size_t at)
{
    struct range r = { at, at + 1 };

    if (!in_word(d[at]))
        return r;
    while (r.begin > 0 && in_word(d[r.begin - 1]))
        r.begin--;
    while (r.end < n && in_word(d[r.end]))
        r.end++;
    return r;
}

static struct range
line_at(const uint8_t *d, size_t n, size_t at)
{
    struct range r = { at, at };

    while (r.begin > 0 && d[r.begin - 1] != '\n')
        r.begin--;
    while (r.end < n && d[r.end] != '\n')
        r.end++;
    if (r.end < n)
        r.end++;
    return r;
}

/* data with one range replaced by bytes that may be data's own; what does not fit is left as it was. */
static size_t
replace(uint8_t *data, size_t size, size_t most, struct range r, const uint8_t *by, size_t n)
{
    size_t after = size - (r.end - r.begin) + n;
    uint8_t *copy;

    if (after > most)
        return size;
    copy = malloc(n + 1);
    if (!copy)
        return size;
    memcpy(copy, by, n);
    memmove(data + r.begin + n, data + r.end, size - r.end);
    memcpy(data + r.begin, copy, n);
    free(copy);
    return after;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    state = seed;
    for (size_t times = 1 + draw(3); times > 0; times--) {
        struct range a, b;

        if (size < 4 || draw(3) == 0) {
            size = LLVMFuzzerMutate(data, size, most);
            continue;
        }
        switch (draw(6)) {
        case 0: /* a line goes */ size = replace(data, size, most, line_at(data, size, draw(size)), data, 0); break;
        case 1: /* a line comes a second time, elsewhere */
            a = line_at(data, size, draw(size));
            b = line_at(data, size, draw(size));
            size = replace(data, size, most, (struct range){ b.begin, b.begin }, data + a.begin, a.end - a.begin);
            break;
        case 2: /* a stretch takes the place of another */
            a.begin = draw(size), a.end = a.begin + draw(size - a.begin < 60 ? size - a.begin : 60);
            b.begin = draw(size), b.end = b.begin + draw(size - b.begin < 60 ? size - b.begin : 60);
            size = replace(data, size, most, b, data + a.begin, a.end - a.begin);
            break;
        default: /* a word takes the place of another */
            a = word_at(data, size, draw(size));
            b = word_at(data, size, draw(size));
            size = replace(data, size, most, b, data + a.begin, a.end - a.begin);
        }
    }
    return size;
}

size_t
LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, uint8_t *out, size_t most,
                          unsigned seed)
{
    struct range to, from, last;

    state = seed;
    if (na > most || !na || !nb)
        return 0;
    memcpy(out, a, na);
    to = line_at(a, na, draw(na));
    from = line_at(b, nb, draw(nb));
    last = line_at(b, nb, from.begin + draw(nb - from.begin < 200 ? nb - from.begin : 200));
    if (draw(2))
        to.end = to.begin;
    return replace(out, na, most, to, b + from.begin, (last.end > from.end ? last.end : from.end) - from.begin);
}
