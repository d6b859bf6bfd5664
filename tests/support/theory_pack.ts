/** The pack bit_transport/ber_theory_v1 with some points of every curve, at a size that its user chooses. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT_PATH } from "./paths.ts";

/**
 * Writes the pack and its recipe.
 * @param points positions on each curve of nine points
 * @param bits payload bits of a run
 * @returns path of the pack
 */
export async function theoryPack(folder: string, points: readonly number[], bits: number): Promise<string> {
  const pack = await Deno.readTextFile(join(ROOT_PATH, "benchmarks/bit_transport/ber_theory_v1.yaml"));
  const recipe = await Deno.readTextFile(join(ROOT_PATH, "recipes/ber_theory.yaml"));
  const reduced = pack.replaceAll(/snr_db: \[(.+?)\]/g, (_, list: string) => {
    const values = list.split(", ");
    assert.equal(values.length, 9);
    return `snr_db: [${points.map((point) => values[point]).join(", ")}]`;
  });
  assert.ok(recipe.includes("bit_count: 120000"));
  await Deno.writeTextFile(join(folder, "recipe.yaml"), recipe.replace("bit_count: 120000", `bit_count: ${bits}`));
  const file = join(folder, "pack.yaml");
  await Deno.writeTextFile(file, reduced.replaceAll("../../recipes/ber_theory.yaml", "recipe.yaml"));
  return file;
}
