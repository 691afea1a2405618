/* yaml_import.h - model files of BondGraphTools to texts of this language
 *
 * in       `root`, `version` and `models`, each with `components` ("name library/type values" or "name model"),
 *          `netlist` ("tail head", each a name or name.port) and `ports` ("component label")
 * out      one model a model, the root last; formatted
 * errors   by line; what is not understood is never left out silently
 */
#ifndef BG_YAML_IMPORT_H
#define BG_YAML_IMPORT_H

#include "source.h"

/* Translates text number file of s. False after errors. */
bool yaml_import(sources *s, arena *a, uint32_t file, strbuf *out);

#endif
