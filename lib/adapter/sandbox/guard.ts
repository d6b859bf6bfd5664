/**
 * Enters the adapter's code in a way that can be cut off. Ending a worker does not stop a thread that loops; the watchdog
 * of `node:vm` does, for what runs inside of one evaluation. So every way into the code leads through one: a call, a
 * timer, the answer to an asynchronous request. What the code awaits is continued inside of it too, because the microtasks
 * are run before the evaluation ends.
 */
import { Script } from "node:vm";

export interface Guard {
  /** The global that the guard needs; whoever calls it finds nothing to do. */
  readonly global: string;
  /** Runs a body at once; only outside of microtasks are continuations cut off as well. */
  run<T>(body: () => T): T;
  /** Runs a body as soon as the present task is over. */
  enter<T>(body: () => T): Promise<T>;
  /** A promise that follows another one and is settled from here. */
  follow<T>(promise: Promise<T>): Promise<T>;
  /** Milliseconds from now until whatever runs is cut off; null between calls. */
  allow(ms: number | null): void;
  /** Whether the code was on the stack and left it without returning: it was cut off. */
  readonly entered: boolean;
}

/** Between calls, timers of the code get this long. */
const IDLE_MS = 1000;
/** The program ends a call first; this bounds what the thread does after that. */
const MARGIN_MS = 250;

/** Makes the guard of this thread, once, before the thread is confined. */
export function createGuard(): Guard {
  // deno-lint-ignore no-explicit-any -- an undocumented part of the runtime, asked for below
  const { core } = (Deno as any)[(Deno as any).internal];
  const soon = setImmediate;
  const now = performance.now.bind(performance);
  if (typeof core?.runMicrotasks !== "function") {
    throw new Error("this version of Deno cannot run microtasks on request");
  }
  const runMicrotasks: () => void = core.runMicrotasks;

  let body: (() => unknown) | undefined;
  let deadline: number | null = null;
  let entered = false;
  const name = `enter_${crypto.randomUUID().replaceAll("-", "")}`;
  // Called outside of `run` it finds nothing to do.
  Object.defineProperty(globalThis, name, {
    value: () => {
      const present = body;
      body = undefined;
      if (present === undefined) return;
      const value = present();
      runMicrotasks();
      return value;
    },
  });
  const script = new Script(`${name}()`);

  const run = <T>(wanted: () => T): T => {
    const outer = entered;
    const timeout = Math.max(MARGIN_MS, Math.ceil((deadline === null ? IDLE_MS : deadline - now()) + MARGIN_MS));
    body = wanted;
    entered = true;
    try {
      return script.runInThisContext({ timeout }) as T;
    } finally {
      entered = outer;
    }
  };
  const enter = <T>(wanted: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      soon(() => {
        try {
          resolve(run(wanted));
        } catch (error) {
          reject(error);
        }
      });
    });
  return {
    global: name,
    run,
    enter,
    follow: <T>(promise: Promise<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        promise.then(
          (value) => void enter(() => resolve(value)).catch(() => {}),
          (error) => void enter(() => reject(error)).catch(() => {}),
        );
      }),
    allow(ms) {
      deadline = ms === null ? null : now() + ms;
    },
    get entered() {
      return entered;
    },
  };
}
