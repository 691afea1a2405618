/* generate.h - random bond graphs, described for an independent evaluation and written as .bg text
 *
 * A graph is made from a seed alone. Its description names every bond's effort and flow as a variable of its own and
 * every constitutive law as a residual over these; nothing in it comes from the compiler under test, so that text and
 * description are two independent statements of one model.
 */
#ifndef BG_TEST_GENERATE_H
#define BG_TEST_GENERATE_H

#include "base.h"

/* ---- expressions: children are older than parents ---- */
enum rg_op {
    RG_CONST,
    RG_PARAM,
    RG_VAR,
    RG_TIME,
    RG_ADD,
    RG_SUB,
    RG_MUL,
    RG_DIV,
    RG_NEG,
    RG_SIN,
    RG_COS,
    RG_EXP,
    RG_SINH,
    RG_ABS,
    RG_CUBE
};
typedef struct rg_node {
    enum rg_op op;
    uint32_t a, b;
    double value;
    char unit[16];
} rg_node; /* a: child, parameter or variable */

/* ---- variables: algebraic first, then differential ---- */
enum rg_var_kind { RG_EFFORT, RG_FLOW, RG_SIGNAL, RG_STORED, RG_INTEGRAL };
typedef struct rg_var {
    enum rg_var_kind kind;
    char name[72]; /* as an expression reads it; empty where it cannot be read */
    uint32_t rate; /* differential: the algebraic variable that is its rate */
} rg_var;

typedef struct rg_junction {
    uint8_t type;
    bool implicit;
    uint32_t common; /* a variable equal to the common one */
    uint32_t degree;
    char name[64];
    uint32_t scope;
    bool joined; /* where it is declared; bonds come from elsewhere */
    uint32_t row, round;
    bool link;
    uint32_t region, domain;
    bool said; /* of units; the text names the domain */
} rg_junction;

enum rg_type { RG_SE, RG_SF, RG_R, RG_C, RG_I, RG_TF, RG_GY };
typedef struct rg_port {
    uint32_t junction;
    int sign; /* +1: arrow into the element */
    uint32_t e, f;
} rg_port;
typedef struct rg_element {
    enum rg_type type;
    bool modulated, block; /* spelled M..; law in a block */
    char name[64];
    uint32_t scope, row, round; /* where it is declared; of a row: its number and the round, from 1 */
    bool link;                  /* of a row: between two */
    rg_port port[3];
    int nports;      /* two-ports: in, out; fields: a, b, c */
    uint32_t stored; /* variable, UINT32_MAX if none */
    char lhs;        /* what stands left of = : e f q p, or n for a linear law or modulus */
    uint32_t rhs;    /* its expression */
    double initial;
    bool stated;
    /* fields: by port what it stores (NONE), whether that is a p, which of e f q p its law gives (0: none), and the law
     */
    bool field, momentum[3], by_energy;
    uint32_t holds[3], law[3], energy;
    char left[3];
} rg_element;
typedef struct rg_bond {
    uint32_t from, to;
    uint32_t e, f;
    uint32_t scope, row, round;
} rg_bond;
typedef struct rg_signal {
    uint32_t var, def;
    bool integral;
    double initial;
} rg_signal;
typedef struct rg_output {
    uint32_t def;
} rg_output;

/* ---- only of the text: how a parameter is spelled, in which component what stands ---- */
typedef struct rg_param {
    char name[16], unit[48];
    double factor;
    uint32_t home;
    bool row;
} rg_param;
typedef struct rg_need {
    bool param;
    uint32_t index;
} rg_need;
typedef struct rg_scope {
    uint32_t parent, junctions;
    char path[40];     /* "c1.c2."; empty: the model itself, which is the first */
    uint32_t gone;     /* junction of an element that the text declares and takes out again */
    VEC(rg_need) need; /* what the component is given */
} rg_scope;
typedef struct rg_row {
    uint32_t n;
    bool cells, size, apart, gone;
} rg_row; /* cells: instances; size: n is one of the model's; apart: links in a loop of their own */

typedef struct rgraph {
    uint64_t seed;
    bool units, parts, rows; /* of the text: units and domains; components; arrays and loops */
    bool nonlinear, feedback, wide,
        fields; /* laws; signals that read efforts and flows; parameters over many decades; elements of several ports */
    VEC(rg_node) node;
    VEC(double) param;
    VEC(rg_param) shown; /* as many */
    VEC(rg_scope) scope;
    VEC(rg_row) row;
    VEC(rg_var) var;
    VEC(rg_junction) junction;
    VEC(rg_element) element;
    VEC(rg_bond) bond;
    VEC(rg_signal) signal;
    VEC(rg_output) output;
    size_t nalgebraic;      /* variables [0, nalgebraic) are algebraic, the rest differential */
    VEC(uint32_t) residual; /* nalgebraic expressions, each zero */
    strbuf text;
} rgraph;

/* size: about how many junctions; 0 draws it. */
rgraph *rg_generate(uint64_t seed, uint32_t size);
void rg_free(rgraph *g);
/* The variable an expression would read by this name, UINT32_MAX if none: "x3.q", "j2.f", "y1". */
uint32_t rg_find(const rgraph *g, const char *name);

/* ---- random numbers (splitmix64): the same on every machine ---- */
uint64_t rg_random(uint64_t *state);
uint32_t rg_below(uint64_t *state, uint32_t n); /* 0 .. n-1 */
double rg_uniform(uint64_t *state, double a, double b);

/* ---- mistakes ----
 * The text with one mistake in it. line is where an error must be reported, other a second place that will do (0:
 * none); line 0: an error is due, its place is not defined. noise: the text may still be right, it must only not crash.
 */
struct rg_mutation {
    const char *what;
    int line, other;
    bool noise;
};
char *rg_mutate(const char *text, uint64_t seed, struct rg_mutation *m); /* free() it */

#endif
