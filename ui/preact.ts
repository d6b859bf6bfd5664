/** The one place that names the view library. */
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
