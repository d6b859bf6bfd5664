/** Search paths of adapters. */
import { delimiter, resolve } from "../contract/paths.ts";

/** The folders of a path list, as in SVC_ADAPTER_PATHS. */
export function adapterPaths(list: string | undefined): string[] {
  return (list ?? "").split(delimiter).filter((path) => path.trim() !== "").map((path) => resolve(path));
}
