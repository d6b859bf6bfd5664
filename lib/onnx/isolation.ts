/**
 * Whether workers can be started with fewer permissions than the program. The feature stands behind a flag of the
 * runtime, and starting such a worker without it ends the process, so that nothing can be tried out: a second feature,
 * whose flag stands in the same list, fails politely instead.
 */

let known: Promise<boolean> | undefined;

/** Answers whether `worker-options` can be relied on: true with the program's deno.json, or with its flags. */
export function canRestrictWorkers(): Promise<boolean> {
  return known ??= import("./isolation_probe.txt", { with: { type: "bytes" } }).then(() => true, () => false);
}

/** What helps where it is false. */
export const ISOLATION_HINT =
  'Run with --unstable-worker-options --unstable-raw-imports, or put "unstable": ["worker-options", "raw-imports"] into deno.json';
