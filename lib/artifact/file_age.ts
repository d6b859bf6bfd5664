/** Whether the time of a file tells its changes apart. */

/** A time this close to the present can hide a change in the same tick of the file system's clock. */
const RACY_MS = 100;

/** Whether a file may change again without another time of change: what is read from it now must not be kept by that time. */
export const isRacy = (mtimeMs: number, now = Date.now()): boolean => now - mtimeMs < RACY_MS;
