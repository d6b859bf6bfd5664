/** Benchmark packs that requests name: a listed one by name or id, or a file in `benchmarks/`. */
import { join } from "node:path";
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { Session } from "../api/session.ts";
import { checkPath, confine } from "../artifact/confine.ts";

const FOLDER = "benchmarks";

/** The file of a pack. @throws SvcError `path_forbidden`, `pack_not_found` */
export async function packFile(
  { benchmarks, workspace }: Pick<Session, "benchmarks" | "workspace">,
  wanted: string,
): Promise<{ file: string; name: string }> {
  const packs = await benchmarks.packs();
  const found = packs.find(({ name }) => name === wanted) ?? packs.find(({ id }) => id === wanted);
  if (found !== undefined) return { file: found.file, name: found.id ?? found.name };
  checkPath(wanted);
  if (wanted.startsWith(`${FOLDER}/`) && /\.(ya?ml|json)$/i.test(wanted)) {
    const file = confine(join(workspace.projectRoot, FOLDER), wanted.slice(FOLDER.length + 1), "pack_not_found");
    const row = packs.find((pack) => pack.file === file);
    return { file, name: row?.id ?? wanted };
  }
  throw new SvcError("pack_not_found", `Cannot find a benchmark pack named ${wanted}`, {
    hint: didYouMean(wanted, packs.flatMap(({ name, id }) => (id === null ? [name] : [name, id]))) ??
      "GET /api/benchmarks/packs lists them",
  });
}
