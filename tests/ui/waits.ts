/** Closers of tests in a browser, and the state of the tests that SIGUSR2 asks for. */
import { waits, within } from "../support/until.ts";

/** What is to be closed, and how. */
export type Closer = readonly [what: string, close: () => unknown];

/**
 * Closes all, the last first. One that fails or takes too long does not keep the others from closing.
 *
 * @throws AggregateError that names what did not close
 */
export async function closeAll(closers: readonly Closer[]): Promise<void> {
  const failures: Error[] = [];
  for (const [what, close] of closers.toReversed()) {
    try {
      await within(`closing ${what}`, Promise.resolve(close()));
    } catch (error) {
      failures.push(new Error(`Cannot close ${what}`, { cause: error }));
    }
  }
  if (failures.length > 0) {
    const causes = failures.map(({ message, cause }) =>
      `${message}: ${cause instanceof Error ? cause.message : cause}`
    );
    throw new AggregateError(failures, causes.join("; "));
  }
}

const states = new Set<() => Promise<string>>();

/** Lets SIGUSR2 print a state. @returns ends that */
export function onStateAsked(state: () => Promise<string>): () => void {
  states.add(state);
  return () => void states.delete(state);
}

export const seconds = (since: number): number => Math.round((performance.now() - since) / 1000);

// The runner of the tests sends it to a file that takes too long, before it ends it.
if (Deno.build.os !== "windows") {
  Deno.addSignalListener("SIGUSR2", async () => {
    const waited = [...waits].map(({ what, since }) => `${what}, ${seconds(since)} s`);
    console.error(`Waits of this file: ${waited.join("; ") || "none"}`);
    for (const state of [...states]) console.error(await state());
  });
}
