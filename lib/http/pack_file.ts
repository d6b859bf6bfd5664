/** Benchmark packs that requests name: one that is listed, by name or id, or a file in `benchmarks/`. */
import { isAbsolute, join, relative } from "node:path";
import { listBenchmarkPacks, type PackListRow } from "../benchmark/packs.ts";
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import { checkPath, confine } from "./confine.ts";

const FOLDER = "benchmarks";

/** The packs with paths that tell nothing of this machine: relative to the project, null for those of the program. */
export function shownPacks(projectRoot: string): (Omit<PackListRow, "file"> & { path: string | null })[] {
  return listBenchmarkPacks(projectRoot).map(({ file, ...row }) => {
    const path = relative(projectRoot, file).replaceAll("\\", "/");
    return { ...row, path: path.startsWith("../") || isAbsolute(path) ? null : path };
  });
}

/** The file of a pack. @throws SvcError `path_forbidden`, `pack_not_found` */
export function packFile(projectRoot: string, wanted: string): { file: string; name: string } {
  const packs = listBenchmarkPacks(projectRoot);
  const found = packs.find(({ name }) => name === wanted) ?? packs.find(({ id }) => id === wanted);
  if (found !== undefined) return { file: found.file, name: found.id ?? found.name };
  checkPath(wanted);
  if (wanted.startsWith(`${FOLDER}/`) && /\.(ya?ml|json)$/i.test(wanted)) {
    const file = confine(join(projectRoot, FOLDER), wanted.slice(FOLDER.length + 1), "pack_not_found");
    const row = packs.find((pack) => pack.file === file);
    return { file, name: row?.id ?? wanted };
  }
  throw new SvcError("pack_not_found", `Cannot find a benchmark pack named ${wanted}`, {
    hint: didYouMean(wanted, packs.flatMap(({ name, id }) => (id === null ? [name] : [name, id]))) ??
      "GET /api/benchmarks/packs lists them",
  });
}
