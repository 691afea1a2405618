/* stable.h - random models that are stable and damped by construction, written as a person would
 *
 * In: a number. Out: a text with two experiments, `first` and `second`, that differ in their inputs, and options to
 * reduce it with. Bodies (loops of a circuit, pipes) stand in a row, all damped, each joined to the next by something
 * that stores and dissipates. They are written one by one, in loops over arrays, or as instances of components, nested
 * ones among them, in the words of four domains.
 */
#ifndef BG_TEST_STABLE_H
#define BG_TEST_STABLE_H

#include "reduce.h"

struct stable_model {
    strbuf text;
    enum within_kind within;
    double tolerance;
    bool terms; /* error-bounded */
    bool both;  /* both experiments are held together */
    double threshold;
    enum metric metric; /* by threshold */
};
/* Free the text. */
struct stable_model stable_model(uint64_t number);

#endif
