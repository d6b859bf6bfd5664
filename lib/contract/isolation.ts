/**
 * Whether workers can be started with fewer permissions than the program. The feature needs a flag of the runtime, and
 * starting such a worker without it ends the process. A second feature of the same flag list, which fails with an
 * error, is tested instead.
 */

let known: Promise<boolean> | undefined;

/** Whether `worker-options` is available: true with the program's deno.json, or with its flags. */
export function canRestrictWorkers(): Promise<boolean> {
  return known ??= import("./isolation_probe.txt", { with: { type: "bytes" } }).then(() => true, () => false);
}

/** Hint when it is not available. */
export const ISOLATION_HINT =
  'Run with --unstable-worker-options --unstable-raw-imports, or put "unstable": ["worker-options", "raw-imports"] into deno.json';
