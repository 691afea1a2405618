/* model_threads.c - instances of one image in several threads: parts made before they need them, and none while what
 * the model was compiled from is read
 */
#include "model_inside.h"

bool
model_need_run(bg_model *m)
{
    static const enum image_later later[] = { LATER_STATES, LATER_GRAPH, LATER_POLES,
                                              LATER_CLOCKS, LATER_ROOTS, LATER_INITIAL };
    bool fine = true;

    for (size_t i = 0; i < sizeof later / sizeof *later && fine; i++)
        fine = image_have(m->image, m->maker, later[i]) != NULL;
    /* machine code comes last: LLVM may not be loaded yet */
    return fine && model_need(m, PART_RHS) && model_need(m, PART_OUTPUTS) && model_need(m, PART_CLOCKS) &&
           (model_nmodes(m) == 0 || model_need(m, PART_CONDITIONS)) &&
           (model_nwhens(m) == 0 || model_need(m, PART_REINITS)) &&
           (model_ndelays(m) == 0 || model_need(m, PART_DELAYS));
}

void
model_lock(const bg_model *m)
{
    maker_lock(m->maker);
}

void
model_unlock(const bg_model *m)
{
    maker_unlock(m->maker);
}
