/** How large a trained-artifact package and its parts may be. */

const MIB = 2 ** 20;

/** Bytes of a ZIP file, or of all files of a folder. */
export const MAX_PACKAGE_BYTES = 256 * MIB;
export const MAX_MEMBERS = 128;
/** Bytes of all members after inflating. */
export const MAX_EXPANDED_BYTES = 512 * MIB;
export const MAX_MANIFEST_BYTES = 2 * MIB;
export const MAX_CONTRACT_BYTES = 4 * MIB;
export const MAX_COMPONENT_BYTES = 256 * MIB;
export const MAX_SUPPORT_BYTES = 32 * MIB;
/** An NPZ support file: its bytes, its members, and their bytes after inflating. */
export const MAX_NPZ_BYTES = 64 * MIB;
export const MAX_NPZ_MEMBERS = 32;
export const MAX_NPZ_EXPANDED_BYTES = 256 * MIB;
