/** What a person chose for this browser: theme, density, worker count. It lives in local storage and never in a recipe. */
import { effect, signal } from "../preact.ts";

function remembered<T extends string>(key: string, fallback: T, allowed: readonly T[]) {
  const stored = localStorage.getItem(`svc.${key}`) as T | null;
  const value = signal<T>(stored !== null && allowed.includes(stored) ? stored : fallback);
  effect(() => localStorage.setItem(`svc.${key}`, value.value));
  return value;
}

export const THEMES = ["system", "light", "dark"] as const;
export const theme = remembered("theme", "system", THEMES);
export const DENSITIES = ["compact", "comfortable"] as const;
export const density = remembered("density", "compact", DENSITIES);
/** Steps that may overlap: Sequential, 2, 4, 8. */
export const WORKERS = ["1", "2", "4", "8"] as const;
export const workers = remembered("workers", "1", WORKERS);
export const planCache = remembered("plan-cache", "on", ["on", "off"] as const);
/** How recipes are checked while they are edited; runs are always strict. */
export const checkMode = remembered("check-mode", "strict", ["strict", "compat"] as const);
/** Whether the first page shows its tour. */
export const tour = remembered("tour", "on", ["on", "off"] as const);
/** Whether a sequence of runs ends at its first failure. */
export const stopAfterFailure = remembered("stop-after-failure", "on", ["on", "off"] as const);
/** Whether the graph shows checkpoints and counts as blocks too. */
export const allBlocks = remembered("all-blocks", "off", ["on", "off"] as const);

effect(() => {
  const root = document.documentElement;
  if (theme.value === "system") delete root.dataset.theme;
  else root.dataset.theme = theme.value;
  root.dataset.density = density.value;
});
