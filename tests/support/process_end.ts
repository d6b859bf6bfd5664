/**
 * Hooks of modules that several test files share. A module is loaded once, also where several files run in one process, so
 * what it keeps for its tests lasts until the last test of the process; a hook of a file runs after the tests of that file.
 */

/** Calls a function after all tests of this process. */
export const atProcessEnd: (end: () => void | Promise<void>) => void = Deno.test.afterAll;
