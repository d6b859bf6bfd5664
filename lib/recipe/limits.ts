/** Size limits of recipes. */

/** Bytes of a recipe's text in UTF-8. */
export const MAX_TEXT_BYTES = 2 * 1024 * 1024;
export const MAX_STEPS = 512;
export { MAX_DEPTH } from "../contract/yaml_tree.ts";
/** Total number of values from expanded aliases of a YAML document. */
export const MAX_ALIAS_NODES = 10_000;
/** Concrete points of a matrix. */
export const MAX_MATRIX_POINTS = 256;
