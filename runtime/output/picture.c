/* picture.c - pictures that another program draws */
#include <errno.h>
#include <string.h>

#include "files.h"
#include "picture.h"
#include "subprocess.h"

/* First and last bytes of each format: a program that is cut off writes only the beginning, or nothing, and may still
 * report success. */
static const struct form {
    const char *suffix, *begin;
    size_t nbegin;
    const char *end;
    size_t nend;
} forms[] = {
    { ".svg", "<?xml", 5, "</svg>", 6 },
    { ".png", "\x89PNG", 4, "IEND\xae\x42\x60\x82", 8 },
    { ".pdf", "%PDF", 4, "%%EOF", 5 },
};

static bool
is_whole_picture(const strbuf *picture, const char *path)
{
    size_t n = picture->n;

    while (n && strchr(" \r\n", picture->at[n - 1]) && picture->at[n - 1])
        n--;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (has_suffix(path, forms[i].suffix))
            return n >= forms[i].nbegin + forms[i].nend && !memcmp(picture->at, forms[i].begin, forms[i].nbegin) &&
                   !memcmp(picture->at + n - forms[i].nend, forms[i].end, forms[i].nend);
    return false;
}

bool
picture_draw(const char *const *argv, const strbuf *text, const char *path, const char *missing, char **why)
{
    strbuf picture = { 0 };
    outfile out;
    bool fine = false;
    int status;

    *why = NULL;
    /* checks first that the result can be written */
    if (!outfile_open(&out, path)) {
        *why = bg_format("%s: %s", path, file_error(errno));
        return false;
    }
    status = run_program(argv, text->at, text->n, &picture);
    if (status < 0)
        *why = errno == ENOENT ? bg_strdup(missing) : bg_format("%s: %s", argv[0], strerror(errno));
    else if (status > 0)
        *why = bg_format("%s failed (status %d); %s is not written", argv[0], status, path);
    else if (!is_whole_picture(&picture, path))
        *why = bg_format("%s gave no whole picture; %s is not written", argv[0], path);
    else
        fine = true;
    if (fine) {
        fwrite(picture.at, 1, picture.n, out.out);
        fine = outfile_commit(&out);
        if (!fine)
            *why = bg_format("%s: %s", path, file_error(errno));
    } else {
        outfile_abort(&out);
    }
    strbuf_free(&picture);
    return fine;
}
