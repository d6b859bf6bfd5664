/**
 * Runs the code of an adapter so that it can be interrupted. Terminating a worker does not stop a looping thread; the
 * watchdog of `node:vm` does, within one evaluation. Every entry into the code is therefore such an evaluation: a call,
 * a timer, the reply to an asynchronous request. Continuations after an await run inside it too, because microtasks run
 * before the evaluation ends.
 */
import { Script } from "node:vm";

export interface Guard {
  /** The global that the guard needs; a call by other code has no effect. */
  readonly global: string;
  /** Runs a body immediately; only outside of microtasks are continuations interrupted too. */
  run<T>(body: () => T): T;
  /** Runs a body after the current task. */
  enter<T>(body: () => T): Promise<T>;
  /** A promise that follows another one and is settled by the guard. */
  follow<T>(promise: Promise<T>): Promise<T>;
  /** Milliseconds until running code is interrupted; null between calls. */
  allow(ms: number | null): void;
  /** Whether the code was interrupted: it was entered and did not return. */
  readonly entered: boolean;
}

/** Time limit of the code's timers between calls. */
const IDLE_MS = 1000;
/** The program ends a call first; this limits the thread afterwards. */
const MARGIN_MS = 250;

/** Creates the guard of this thread, once, before the thread is confined. */
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
  // A call outside of `run` has no effect.
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
