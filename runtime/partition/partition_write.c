/* partition_write.c - writes the folder of a partitioned model (texts, pictures) and runs it */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "partition_inside.h"

static enum partition_result
not_written(struct worker *d, const char *path)
{
    d->out->why = bg_format("%s: %s", path, file_error(errno));
    return PARTITION_FILE;
}

/* Names a subgraph of the conditioned text like the subgraph of the report that contains its first part. */
struct namer {
    struct worker *d;
    map of_part;
};

static const char *
report_name(void *ctx, const flat_model *f, const subgraph *s)
{
    struct namer *n = ctx;

    for (size_t i = 0; i < s->junction.n + s->element.n; i++) {
        const char *name = i < s->junction.n ? f->junction.at[s->junction.at[i]].name
                                             : f->element.at[s->element.at[i - s->junction.n]].name;
        uint32_t k = map_get(&n->of_part, bg_hash_bytes(name, strlen(name), i < s->junction.n));

        if (k != MAP_NONE)
            return n->d->out->subgraphs.subgraph.at[k].name;
    }
    return arena_format(n->d->a, "T%s", s->name);
}

static void
note_names(struct namer *n)
{
    const flat_model *f = n->d->out->graph.flat;
    const subgraphs *s = &n->d->out->subgraphs;

    for (uint32_t i = 0; i < f->junction.n; i++) {
        const char *name = n->d->written ? written_name(n->d->a, f->junction.at[i].name) : f->junction.at[i].name;

        map_set(&n->of_part, bg_hash_bytes(name, strlen(name), 1), s->of_junction[i]);
    }
    for (uint32_t i = 0; i < f->element.n; i++) {
        const char *name = n->d->written ? written_name(n->d->a, f->element.at[i].name) : f->element.at[i].name;

        if (s->of_element[i] != NONE)
            map_set(&n->of_part, bg_hash_bytes(name, strlen(name), 0), s->of_element[i]);
    }
}

/* Draws the graph as DOT text, and as a picture where Graphviz is installed. */
static enum partition_result
draw(struct worker *d)
{
    const char *argv[] = { "dot", "-Tsvg", NULL };
    char *path = bg_format("%s/partitions.dot", d->o->folder), *picture = bg_format("%s/partitions.svg", d->o->folder),
         *why = NULL;
    strbuf text = { 0 };
    enum partition_result result = PARTITION_DONE;

    partition_drawing(d->out->graph.flat, &d->out->plan, &d->out->subgraphs, &text);
    if (!write_whole(path, text.at, text.n))
        result = not_written(d, path);
    else if (!picture_draw(argv, &text, picture, "no picture", &why))
        free(why);
    strbuf_free(&text);
    free(path);
    free(picture);
    return result;
}

/* Writes a text into the folder, and copies the files that it names. */
static enum partition_result
write_text(struct worker *d, const char *name, const char *text, size_t length)
{
    char *path = bg_format("%s/%s.bg", d->o->folder, name);
    enum partition_result result = PARTITION_DONE;

    if (same_file(path, d->o->run->path))
        result = partition_usage(d, bg_format("%s is the model itself: choose another folder", path));
    else if (!write_whole(path, text, length))
        result = not_written(d, path);
    free(path);
    return result;
}

enum partition_result
partition_write_portable(struct worker *d, const char *name, const char *text, size_t length)
{
    enum partition_result result = PARTITION_FILE;
    char *why, *out = portable_text(&d->portable, d->o->run->path, text, length, NULL, NULL, &length, &why);

    if (out)
        result = write_text(d, name, out, length);
    else
        d->out->why = why;
    free(out);
    return result;
}

/* Does a part's run write this table? */
static bool
table_is_written(void *ctx, const char *name)
{
    const struct worker *d = ctx;

    for (size_t i = 0; i < d->out->parts.part.n; i++)
        for (size_t k = 0; k < d->o->nruns; k++)
            if (!strcmp(name, part_csv(&d->out->parts.part.at[i], d->o->run[k].experiment, d->a)))
                return true;
    return false;
}

/* The first line marks the file as a partition, for readers and for folder_clear. */
static enum partition_result
write_part(struct worker *d, part *x)
{
    strbuf b = { 0 };
    char *why, *text;
    size_t length;

    strbuf_printf(&b, FOLDER_MARK "%s of %s", x->name, d->out->graph.flat->name);
    for (size_t i = 0; i < x->reads.n; i++)
        strbuf_printf(&b, "%s %s", i ? "," : ", driven by", d->out->parts.part.at[x->reads.at[i]].name);
    strbuf_puts(&b, "\n");
    strbuf_add(&b, x->text, x->length);
    text = portable_text(&d->portable, d->o->run->path, b.at, b.n, table_is_written, d, &length, &why);
    strbuf_free(&b);
    if (!text) {
        d->out->why = why;
        return PARTITION_FILE;
    }
    free(x->text);
    x->text = text;
    x->length = length;
    return write_text(d, x->name, text, length);
}

/* Makes the folder, and removes the models of an earlier partitioning; other models are an error. */
static enum partition_result
prepare_folder(struct worker *d)
{
    char *other = NULL;

    if (mkdir(d->o->folder, 0777) != 0 && errno != EEXIST)
        return not_written(d, d->o->folder);
    if (!folder_clear(d->o->folder, &other))
        return partition_usage(
            d, other ? bg_format("%s has a model of its own, %s: choose another folder", d->o->folder, other)
                     : bg_format("%s: %s", d->o->folder, file_error(errno)));
    return PARTITION_DONE;
}

enum partition_result
partition_write_folder(struct worker *d)
{
    partitioning *p = d->out;
    struct namer n = { .d = d };
    enum partition_result result = prepare_folder(d);
    char *why = NULL;

    if (result == PARTITION_DONE)
        result = partition_write_portable(d, "conditioned", d->run->text, d->run->length);
    if (result == PARTITION_DONE)
        result = draw(d);
    if (result != PARTITION_DONE || p->subgraphs.partition.n < 2)
        return result;
    note_names(&n);
    if (!separate_text(d->run, d->o->nruns, report_name, &n, d->a, &p->parts, &why)) {
        p->why = why;
        result = PARTITION_INTERNAL;
    }
    map_free(&n.of_part);
    for (size_t i = 0; i < p->parts.part.n && result == PARTITION_DONE; i++)
        if (p->parts.part.at[i].wanted)
            result = write_part(d, &p->parts.part.at[i]);
    return result;
}

enum partition_result
partition_run_folder(struct worker *d)
{
    folder_options fo = { .path = d->o->folder,
                          .points = d->o->points,
                          .adjust = d->o->run->adjust,
                          .failed = d->o->failed,
                          .ctx = d->o->ctx };
    char *why;

    if (folder_run_all(&fo, &d->out->runs, &why))
        return PARTITION_DONE;
    d->out->why = why;
    return why ? PARTITION_FILE : PARTITION_FAILED;
}
