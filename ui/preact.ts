/** The one place that names the view library. */
import { type ComponentType, Fragment, h, type JSX } from "npm:preact@^11";
import { useEffect, useState } from "npm:preact@^11/hooks";

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

/** Safari has no notice of idle time. */
export const whenIdle = globalThis.requestIdleCallback ?? ((work: () => void) => void setTimeout(work));

const RETRY_MS = 1000;
/** Tries beside a reachable server: it may have come back only between a try and the question. */
const TRIES = 3;

/** Loads a part of the page. While the server is not reachable, it tries again. @throws the reason of a reachable server */
export async function whenReachable<T>(load: () => Promise<T>): Promise<T> {
  for (let tries = 1;;) {
    try {
      return await load();
    } catch (error) {
      const reachable = await fetch("/api/health").then((reply) => reply.body?.cancel().then(() => true), () => false);
      if (reachable && tries++ === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/**
 * A component that is loaded when it is first shown, and shown at once from then on.
 *
 * @param waiting shown meanwhile; an empty one only tells that something follows
 */
export function lazy<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> } | ComponentType<Props>>,
  waiting?: string,
): (props: Props) => JSX.Element | null {
  let loaded: ComponentType<Props> | null = null;
  return (props) => {
    const [failure, setFailure] = useState<string | null>(null), [, setLoaded] = useState(loaded !== null);
    useEffect(() => {
      // It may have come between this first painting and the effect, on behalf of another place.
      if (loaded !== null) return setLoaded(true);
      whenReachable(load).then((found) => {
        loaded = "default" in found ? found.default : found;
        setLoaded(true);
      }, (error) => setFailure(String(error)));
    }, []);
    if (loaded !== null) return h(loaded, props);
    if (failure !== null) return h("p", { class: "notice", "data-tone": "error", role: "alert" }, failure);
    if (waiting === undefined) return null;
    return h(waiting === "" ? "span" : "p", { class: "empty", "aria-busy": "true" }, waiting);
  };
}
