/**
 * Ends a thread that the program has given up, as soon as its code asks for memory. Terminating a worker does not stop a
 * loop: the guard does, at the time limit of the call, and until then a loop over arrays could fill the machine, because
 * the limit of the heap does not count them.
 */
import { type SandboxInit, Vital } from "./protocol.ts";

type Callable = (...args: unknown[]) => unknown;

/** Globals that take memory outside of the heap, beside the typed arrays. */
const GLOBALS = "ArrayBuffer SharedArrayBuffer Blob File FormData Headers Request Response structuredClone".split(" ");
const TYPED = /^\w+Array$/;
const typed = Object.getPrototypeOf(Uint8Array.prototype);

/** Functions that take memory without one of these constructors. */
const FUNCTIONS: [holder: object, names: string][] = [
  [ArrayBuffer.prototype, "slice resize transfer transferToFixedLength"],
  [SharedArrayBuffer.prototype, "slice grow"],
  [typed, "toReversed toSorted with"],
  [Uint8Array, "fromBase64 fromHex"],
  [TextEncoder.prototype, "encode"],
  [Blob.prototype, "slice text arrayBuffer bytes"],
  [Response.prototype, "clone text json arrayBuffer bytes blob formData"],
  [Request.prototype, "clone text json arrayBuffer bytes blob formData"],
  [FormData.prototype, "append set"],
  [SubtleCrypto.prototype, Object.getOwnPropertyNames(SubtleCrypto.prototype).slice(1).join(" ")],
  [WebAssembly.Module, "customSections exports imports"],
  [WebAssembly, "Instance Memory Module Table compile instantiate validate"],
  [WebAssembly.Memory.prototype, "grow"],
  [WebAssembly.Table.prototype, "grow"],
  [Buffer, "alloc allocUnsafe allocUnsafeSlow concat copyBytesFrom from"],
];

/**
 * Replaces what takes memory, before any code of the adapter is loaded.
 * @param exit ends the thread, whatever its code catches
 */
export function endOnAllocation({ vitals }: SandboxInit, exit: () => never): void {
  const { load } = Atomics, { apply, construct } = Reflect;
  const check = () => load(vitals, Vital.givenUp) === 1 && exit();
  const watched = (original: Callable) =>
    new Proxy(original, {
      // A trap on the prototype of all objects would be handed the original.
      __proto__: null,
      apply(target: Callable, self: unknown, args: unknown[]) {
        check();
        return apply(target, self, args);
      },
      construct(target: Callable, args: unknown[], newTarget: Callable) {
        check();
        return construct(target, args, newTarget);
      },
    } as ProxyHandler<Callable>);
  const replace = (holder: object, name: string) => {
    const original = Reflect.get(holder, name) as Callable | undefined;
    if (typeof original !== "function") return;
    const value = watched(original), how = { value, writable: true, configurable: true };
    Object.defineProperty(holder, name, how);
    // A copy of an array is made by the constructor that its prototype names.
    if (original.prototype?.constructor === original) Object.defineProperty(original.prototype, "constructor", how);
  };
  for (const [holder, names] of FUNCTIONS) for (const name of names.split(" ")) replace(holder, name);
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (GLOBALS.includes(name) || TYPED.test(name)) replace(globalThis, name);
  }
}
