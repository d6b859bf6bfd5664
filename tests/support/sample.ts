/**
 * Long series of like cases: the test command runs an evenly spaced part of one, and `deno task soak whole` all of it. The part is
 * fixed, so a test that passes once passes again.
 */
import { FULL_SIZE } from "./reduced_sizes.ts";

/** Whether a case of a series runs: the first and each `step`-th after it, or every one at full size. */
export const isSampled = (index: number, step: number): boolean => FULL_SIZE || index % step === 0;

/**
 * Defines a test that `deno task soak whole` alone runs. Where it stands, a comment says which tests of every day fail for a defect of
 * its kind.
 */
export const testWhole = (name: string, run: () => Promise<void>): void => {
  if (FULL_SIZE) Deno.test(name, run);
};

/** The size of a case: a small one, and the whole at full size. */
export const sizeOf = <T>(part: T, whole: T): T => FULL_SIZE ? whole : part;
