/** Signatures and flags of ZIP files (PKWARE APPNOTE.TXT 6.3.10, 4.3 and 4.4). */

/** A file without zip64 is smaller. */
export const MAX_ARCHIVE_BYTES = 2 ** 32;

export const LOCAL = 0x04034b50;
export const DATA_DESCRIPTOR = 0x08074b50;
export const CENTRAL = 0x02014b50;
export const END = 0x06054b50;
export const ZIP64_END = 0x06064b50;
export const ZIP64_LOCATOR = 0x07064b50;
/** Tag of the extra field that holds 64-bit sizes. */
export const ZIP64_EXTRA = 0x0001;

export const ENCRYPTED = 1;
/** Sizes follow the data. */
export const DESCRIPTOR = 1 << 3;
export const UTF8_NAME = 1 << 11;

export const STORED = 0;
export const DEFLATED = 8;
