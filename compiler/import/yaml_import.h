/* yaml_import.h - translates model files of BondGraphTools
 *
 * in       `root`, `version` and `models`, each with `components` ("name library/type values" or "name model"),
 *          `netlist` ("tail head", each a name or name.port) and `ports` ("component label")
 * out      one model of this language for each model, the root last; formatted
 * errors   with their line; what cannot be translated is always reported
 */
#ifndef BG_YAML_IMPORT_H
#define BG_YAML_IMPORT_H

#include "source.h"

/* Translates text number `file` of s. False after errors. */
bool yaml_import(sources *s, arena *a, uint32_t file, strbuf *out);

#endif
