/** Kinds of the nodes of the decoding tree of a polar code; the other modules of this folder name what they decide at once. */
export const MIXED = 0, FROZEN = 1, REPETITION = 2, FREE = 3, SINGLE_CHECK = 4, PARITY = 5;
