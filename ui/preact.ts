/** The one place that names the view library. */
import { type ComponentType, Fragment, h } from "npm:preact@^11";
import { lazy as lazyOnce } from "npm:preact@^11/compat";

// Deno takes the way of compiling JSX from the configuration of the folder that the server was started in. Elsewhere it makes
// calls of the classic runtime, which looks for its functions under this name.
Object.assign(globalThis, { React: { createElement: h, Fragment } });

export {
  type ComponentChildren,
  type ComponentType,
  createContext,
  Fragment,
  h,
  type JSX,
  render,
} from "npm:preact@^11";
export { useCallback, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "npm:preact@^11/hooks";
export { Suspense } from "npm:preact@^11/compat";
export {
  batch,
  computed,
  effect,
  type ReadonlySignal,
  type Signal,
  signal,
  useComputed,
  useSignal,
  useSignalEffect,
} from "npm:@preact/signals@^2";

const RETRY_MS = 1000;

/** Loads a part of the page. While the server is not reachable, it tries again. @throws the reason of a reachable server */
export async function whenReachable<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load();
    } catch (error) {
      const reachable = await fetch("/api/health").then((reply) => reply.body?.cancel().then(() => true), () => false);
      if (reachable) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** A component that is loaded when it is first shown. */
export const lazy = <Props>(
  load: () => Promise<{ default: ComponentType<Props> } | ComponentType<Props>>,
): ComponentType<Props> => lazyOnce(() => whenReachable(load) as Promise<{ default: ComponentType<Props> }>);
