/** How large a recipe may be. */

/** Bytes of a recipe's text in UTF-8. */
export const MAX_TEXT_BYTES = 2 * 1024 * 1024;
export const MAX_STEPS = 512;
/** Nested collections, the root included. */
export const MAX_DEPTH = 64;
/** Values that the aliases of a YAML document stand for, all together. */
export const MAX_ALIAS_NODES = 10_000;
/** Concrete points of a matrix. */
export const MAX_MATRIX_POINTS = 256;
