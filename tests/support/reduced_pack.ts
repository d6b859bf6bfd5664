/** A shipped pack with some points of every curve. */
import assert from "node:assert/strict";
import { basename, join, relative } from "node:path";
import { ROOT_PATH } from "./paths.ts";

/**
 * Writes a pack with fewer values of Es/N0.
 * @param name `<suite>/<id>` of the pack
 * @param points positions on each curve
 * @returns path of the pack
 */
export async function reducedPack(folder: string, name: string, points: readonly number[]): Promise<string> {
  const pack = await Deno.readTextFile(join(ROOT_PATH, "benchmarks", `${name}.yaml`));
  const reduced = pack.replaceAll(/snr_db: \[(.+?)\]/g, (_, list: string) => {
    const values = list.split(", ");
    assert.ok(points.every((point) => point < values.length));
    return `snr_db: [${points.map((point) => values[point]).join(", ")}]`;
  });
  const file = join(folder, `${basename(name)}.yaml`);
  await Deno.writeTextFile(file, reduced.replaceAll("../../recipes/", `${relative(folder, ROOT_PATH)}/recipes/`));
  return file;
}
