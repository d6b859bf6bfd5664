/**
 * Grants by which two steps of foreign code could exchange data beside the link. Each step has a process of its own, so
 * without a grant an encoder and its decoder share nothing.
 */
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../contract/value.ts";
import type { LintStep, LintView, Rule } from "./view.ts";

/** What an adapter's step was granted of a kind; empty for other steps. */
function granted({ external }: LintStep, kind: "net" | "read"): string[] {
  const granted = external?.permissions_granted;
  return isObject(granted) && Array.isArray(granted[kind]) ? granted[kind].map(String) : [];
}

/** The inner path of two that overlap. */
function shared(one: string, other: string): string | null {
  const within = (path: string, folder: string) => path === folder || path.startsWith(join(folder, "/"));
  return within(one, other) ? one : within(other, one) ? other : null;
}

/** A path that this user can write may change between the steps. */
function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch (error) {
    return !["EACCES", "EROFS", "EPERM", "ENOENT"].includes((error as { code?: string }).code ?? "");
  }
}

/** Pairs of steps with a path that both read, once for each later step. */
function* commonPaths({ steps }: LintView): Iterable<[LintStep, LintStep, string]> {
  const readers = steps.filter((step) => granted(step, "read").length > 0);
  for (const [index, step] of readers.entries()) {
    for (const other of readers.slice(0, index)) {
      const paths = granted(step, "read").flatMap((one) => granted(other, "read").map((two) => shared(one, two)));
      const path = paths.find((path) => path !== null && isWritable(path));
      if (path === undefined || path === null) continue;
      yield [step, other, path];
      break;
    }
  }
}

export const SIDE_CHANNEL_RULES: readonly Rule[] = [{
  code: "side_channel_possible",
  severity: "warning",
  onRun: true,
  *find(recipe) {
    for (const step of recipe.steps) {
      const [host] = granted(step, "net");
      if (host === undefined) continue;
      yield {
        place: ["steps", step.index],
        message: `Cannot rule out a channel beside the link: the adapter of ${step.id} may use the network (${host})`,
        hint: "Grant no network where results are compared",
        step,
      };
    }
    for (const [step, other, path] of commonPaths(recipe)) {
      yield {
        place: ["steps", step.index],
        message: `Cannot rule out a channel beside the link: the adapters of ${other.id} and ${step.id} read ${path}`,
        hint: "Put the files into the folder of the adapter, or make the path read-only",
        step,
      };
    }
  },
}];
