/** Small packs in a folder of their own, for tests. */
import { join } from "node:path";
import { prettyJson } from "../../../lib/contract/json.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";

export const LINK = `name: link
metadata: {research: {task: {id: bit_transport}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 2000}}
  - {id: link, op: wireless.digital_link, params: {snr_db: 0.0}, inputs: {bits: data.bits}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: link.bits}}
`;

const SWEEP = `name: sweep
metadata:
  research: {task: {id: bit_transport}}
  matrix:
    dimensions: {snr_db: [0.0, 6.0], bits: [100, 200]}
    step_params:
      data: {bit_count: {matrix: bits}}
      link: {snr_db: {matrix: snr_db}}
steps:
  - {id: data, op: source.random_bits}
  - {id: link, op: wireless.digital_link, inputs: {bits: data.bits}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: link.bits}}
`;

/** A pack of the two links, at 0 and at 6 dB; members replace its own. */
export function twoLinks(members: JsonObject = {}): JsonObject {
  return {
    schema_version: 1,
    id: "two_links",
    version: "1",
    dataset: { id: "synthetic_random_bits" },
    task: { id: "bit_transport" },
    metrics: ["channel.ber"],
    baselines: ["low"],
    recipes: [
      { id: "low", path: "link.yaml" },
      { id: "high", path: "link.yaml", params: { step_params: { link: { snr_db: float(6) } } } },
    ],
    ...members,
  };
}

export interface PackFolder {
  projectRoot: string;
  pack: string;
  write(pack: JsonObject): string;
}

/** Calls a test with a folder that holds the recipes and a pack. */
export async function withPack(pack: JsonObject, test: (folder: PackFolder) => Promise<void>): Promise<void> {
  const projectRoot = await Deno.makeTempDir();
  const path = join(projectRoot, "pack.json");
  const write = (document: JsonObject) => {
    Deno.writeTextFileSync(path, prettyJson(document));
    return path;
  };
  try {
    Deno.writeTextFileSync(join(projectRoot, "link.yaml"), LINK);
    Deno.writeTextFileSync(join(projectRoot, "sweep.yaml"), SWEEP);
    await test({ projectRoot, pack: write(pack), write });
  } finally {
    await Deno.remove(projectRoot, { recursive: true });
  }
}
