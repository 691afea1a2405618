/* program_inside.h - declarations shared by the files program_*.c; no other file includes it */
#ifndef BG_PROGRAM_INSIDE_H
#define BG_PROGRAM_INSIDE_H

#include "program.h"

enum {
    KERNEL_MEMBERS = 64, /* number of members from which a class gets a kernel, if no code is kept */
    AFFINE_RUN = 32,     /* shorter runs of regular positions use tables, several runs in one call */
    CHUNK_NODES = 1000,  /* from which on a chunk is ended, so that the time to compile it stays linear */
    MAX_INLINED = 300,   /* greatest number of nodes of a definition that is substituted where it is read */
    /* what is optimised, as that takes some ms for each: this many kernels, those with the most members, and irregular
     * code up to this many nodes in all */
    OPTIMISED_KERNELS = 32,
    OPTIMISED_NODES = 4000
};

/* A template without its parameter parts: each of these becomes one slot, computed once for a set of parameters. */
struct canon {
    node from, root;
    uint32_t mask0, n, next; /* which of the n slots are parameters */
    uint32_t nv, v0;         /* variable slots, in order: their numbers in the original */
    uint32_t np, p0;         /* parameter slots: expressions over the original slots */
};

struct class_ {
    node root;
    bool to_out;
    uint32_t spaces0, nv, np; /* of the variable slots */
    uint32_t next;
    uint32_t first, n; /* members in `order` */
    bool kernel;
    uint32_t obase;
    uint32_t size; /* nodes */
    /* made by program_code */
    int32_t *stride; /* of variable slots */
    bool *regular;   /* the stride holds for all members */
    int64_t *pbase;
    int32_t *pstride;
    uint32_t *position;               /* [slot][member] */
    const int32_t **tables;           /* by slot: positions of the members that are not regular */
    bool has_affine, has_table;       /* variants that the schedule uses */
    uint32_t affine_code, table_code; /* their handles */
};

struct planner {
    equations *e;
    VEC(struct canon) canon;
    VEC(bool) masks;
    VEC(uint32_t) vslots;
    VEC(node) proots;
    map canon_index;
    VEC(struct class_) class_;
    VEC(uint8_t) spaces;
    map class_index;
    VEC(uint32_t) assign_canon; /* parallel to program.assign */
    VEC(uint32_t) order;        /* assignments, class by class */
    VEC(uint32_t) kernels;      /* classes with kernels, in descending number of members */
    VEC(uint32_t) position;     /* position in the graph, parallel to assign */
    /* scratch */
    VEC(bool) mask, constant;
    VEC(node) mapped;
    map shared;                /* parameter data of chunks: hash -> first */
    VEC(uint32_t) shared_next; /* parallel to program.parameter */
};

struct pending_chunk {
    VEC(struct gen_assign) assign;
    size_t nodes;
};

/* A residual of the blocks of one form, or a derivative of one. */
struct block_expression {
    uint32_t residual;
    node derivative; /* over the slots of the residual; NODE_NONE: the residual itself */
};

/* Where the index of a place comes from, for each block of a form. */
struct place_source {
    enum { FROM_VARIABLE, FROM_PART, FROM_CODE } kind;
    uint32_t expression, at; /* slot of that expression; node over its slots; the index itself */
};

/* Common data of blocks that share code; its number is that of the routine's block_class. */
struct block_form {
    const uint32_t *key;
    size_t nkey;
    uint32_t next;
    VEC(struct block_expression) expression;
    VEC(struct place_source) source; /* of all places of its chunks, chunk by chunk */
};

struct scheduler {
    program *g;
    layout l;
    uint32_t nnodes; /* assignments, then blocks */
    uint32_t *waits;
    VEC(uint32_t) user_first, user;
    VEC(uint32_t) * ready; /* by class; one more for irregular assignments and blocks */
    struct pending_chunk chunk;
    VEC(struct block_form) form;
    map form_index;
    VEC(uint32_t) key; /* work arrays, here and below */
    VEC(inst) expression;
};

/* ---- program.c ---- */
bool program_is_parameter(const flat_model *f, var_id v);
uint32_t program_position_of(const program *g, layout l, var_id v);

/* A part of an assignment's expression over the same slots. */
inst program_part_of(program *g, inst def, node sub);
uint32_t program_share_parameter(program *g, inst def);

/* Makes schedule, tables and parameter data: everything except code. */
void program_lay_out(program *g, layout l);
/* Describes the slots of a class's kernel. free() it. */
struct gen_slot *program_kernel_slots(const program *g, const struct class_ *c, bool affine);

/* ---- program_plan.c ---- */
uint32_t program_canon_of(struct planner *pl, inst i);
enum space program_space_of(const flat_model *f, const equations *e, var_id v);

/* ---- program_schedule.c ---- */
void program_make_schedule(struct scheduler *s);
struct gen_ref program_ref_of(struct scheduler *s, var_id v);
/* The slots of a canonical template for one expression, for straight-line code. */
struct gen_assign program_straight(struct scheduler *s, inst def, uint32_t canon, struct gen_ref to);
uint32_t program_add_chunk(program *g, const struct gen_assign *list, size_t n);

/* ---- program_blocks.c ---- */
/* Generates code of a block's residuals and partial derivatives, in chunks of their own, and the places of its data. */
void program_code_block(struct scheduler *s, uint32_t number);
void program_blocks_done(struct scheduler *s);

#endif
