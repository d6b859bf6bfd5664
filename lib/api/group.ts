/** The methods of a noun, made of its calls; nothing is loaded before the first one is used. */
import type { AnyCall, GroupOf } from "./call.ts";
import type { SessionCore } from "./core.ts";

/**
 * Makes the methods of a noun. Its calls are loaded when one is used.
 * @param load the calls by their verbs
 */
export function groupOf<Calls extends Readonly<Record<string, AnyCall>>>(
  core: () => SessionCore,
  noun: string,
  load: () => Promise<Calls>,
): GroupOf<Calls> {
  const methods = new Map<string, unknown>();
  const method = (verb: string) => async (...given: unknown[]) => {
    const [calls, { readArguments }] = await Promise.all([load(), import("./call.ts")]);
    if (!Object.hasOwn(calls, verb)) throw new TypeError(`A session has no method ${noun}.${verb}`);
    const { input, means } = readArguments(`${noun}.${verb}`, calls[verb], given);
    return await calls[verb].run(core(), input, means);
  };
  return new Proxy({}, {
    get(_target, verb) {
      // A promise that resolves with the group looks for `then`.
      if (typeof verb !== "string" || verb === "then") return undefined;
      if (!methods.has(verb)) methods.set(verb, method(verb));
      return methods.get(verb);
    },
  }) as GroupOf<Calls>;
}
