/** The one place that names the view library. */
import { Fragment, h } from "npm:preact@^11";

// Deno takes the way of compiling JSX from the configuration of the folder that the server was started in. Elsewhere it makes
// calls of the classic runtime, which looks for its functions under this name.
Object.assign(globalThis, { React: { createElement: h, Fragment } });

export { type ComponentChildren, createContext, Fragment, h, type JSX, render } from "npm:preact@^11";
export { useCallback, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "npm:preact@^11/hooks";
export { lazy, Suspense } from "npm:preact@^11/compat";
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
