/**
 * Parity of exported networks: a file `<component>.parity.npz` beside `<component>.onnx` holds inputs, and the outputs that
 * the trained network gave for them in its own framework: arrays `input__<name>` and `output__<name>`. The ONNX file must
 * reproduce them. The largest difference is relative to the largest modulus of the output.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { openNpz } from "../artifact/npz.ts";
import { SvcError } from "../contract/error.ts";
import type { JsonObject } from "../contract/value.ts";
import type { NdArray } from "../numeric/array/ndarray.ts";
import { openOnnxSession } from "../onnx/session.ts";

const SUFFIX = ".parity.npz";
/** Largest accepted difference, relative to the largest modulus of an output. */
const PARITY_TOLERANCE = 1e-5;

/** The comparison of one model. */
export interface ModelParity extends JsonObject {
  model: string;
  largest_relative_difference: number;
}

/**
 * Runs every model of a folder that has stored inputs.
 * @param from folder, or the manifest in it
 * @returns a row for each such model; none without such files
 * @throws SvcError `artifact_output_invalid` for another output than the stored one, and the codes of a model that
 *   cannot be opened or run
 */
export async function checkParity(from: string): Promise<ModelParity[]> {
  const path = resolve(from);
  if (!existsSync(path)) return [];
  const folder = statSync(path).isDirectory() ? path : dirname(path);
  const rows: ModelParity[] = [];
  for (const name of readdirSync(folder).filter((name) => name.endsWith(SUFFIX)).sort()) {
    const model = `${name.slice(0, -SUFFIX.length)}.onnx`;
    if (existsSync(join(folder, model))) rows.push(await compare(folder, model, name));
  }
  return rows;
}

async function compare(folder: string, model: string, name: string): Promise<ModelParity> {
  const stored = openNpz(await Deno.readFile(join(folder, name)), name);
  const arrays = (prefix: string) =>
    Object.fromEntries(
      stored.names.filter((member) => member.startsWith(prefix))
        .map((member) => [member.slice(prefix.length), stored.array(member)]),
    );
  const session = await openOnnxSession(await Deno.readFile(join(folder, model)));
  try {
    const results = await session.run(arrays("input__"));
    const wanted = Object.entries(arrays("output__"));
    if (wanted.length === 0) throw refused(model, `${name} holds no array output__<name>`);
    const differences = wanted.map(([output, expected]) => {
      const found = results[output];
      if (found === undefined) throw refused(model, `it has no output ${output}`);
      const difference = relativeDifference(found, expected);
      if (difference <= PARITY_TOLERANCE) return difference;
      throw refused(model, `${output} differs by ${difference.toExponential(1)} of its peak from the trained network`);
    });
    return { model, largest_relative_difference: Math.max(...differences) };
  } finally {
    await session.release();
  }
}

const refused = (model: string, why: string) =>
  new SvcError("artifact_output_invalid", `Cannot package ${model}: ${why}`, {
    hint: `Export it again with its parity file; at most ${PARITY_TOLERANCE} of the peak is accepted`,
  });

/** Infinite for another shape or a value that is not finite. */
function relativeDifference(found: NdArray, expected: NdArray): number {
  if (found.shape.join() !== expected.shape.join()) return Infinity;
  let difference = 0, peak = 0;
  for (let i = 0; i < expected.data.length; i++) {
    const value = Number(expected.data[i]), distance = Math.abs(Number(found.data[i]) - value);
    if (!Number.isFinite(distance)) return Infinity;
    difference = Math.max(difference, distance);
    peak = Math.max(peak, Math.abs(value));
  }
  return difference === 0 ? 0 : difference / Math.max(peak, Number.MIN_VALUE);
}
