/**
 * Noise on semantic indices, drawn over the array in C order: mask = random(size) < probability, then, for
 * random_replace, integers(0, codebook_size, size, int64), of which the masked ones are used.
 *
 * dropout sets a hit index to `replacement`; random_replace to a uniform index; bit_flip inverts bit `bit` of the word that
 * channel.indices_to_bits writes, most significant first, modulo the size of the codebook, which measures the significance of a
 * bit; burst sets the run of `burst_length` indices that starts at a hit to `replacement`, so that runs may overlap and end with
 * the array.
 */
import { INDICES } from "../../lib/contract/kinds.ts";
import { defineOperation, seedParameter, SvcError, z } from "../api.ts";
import { companionsOf, metadataNumber, travel } from "../../lib/artifact/values.ts";

const HITS = ["dropout", "random_replace", "burst", "bit_flip"] as const;

export default defineOperation({
  id: "noise.representation_indices",
  name: "Noise on discrete indices",
  description: "Seeded corruption of semantic indices by dropout, random replacement, bursts or inverted bits",
  inputs: { indices: [INDICES] },
  outputs: { indices: INDICES },
  params: z.strictObject({
    mode: z.enum(["none", ...HITS]).default("none").describe(
      "dropout and burst set single indices and runs to replacement, random_replace draws others, bit_flip inverts a bit",
    ),
    probability: z.number().min(0).max(1).default(0)
      .meta({ "x-svc-used-when": { mode: [...HITS] } })
      .describe("probability of an index to be hit, or to start a burst"),
    replacement: z.int().nonnegative().default(0).meta({ "x-svc-used-when": { mode: ["dropout", "burst"] } })
      .describe("substitute index"),
    burst_length: z.int().positive().default(64).meta({ "x-svc-used-when": { mode: "burst" } })
      .describe("length of a burst in indices"),
    bit: z.int().min(0).max(30).default(0).meta({ "x-svc-effective-when": { mode: "bit_flip" } })
      .describe("bit of the index that is inverted, 0 is the most significant one"),
    seed: seedParameter(0, { mode: [...HITS] }),
  }),
  outputMetadataGuarantees: { indices: { from: "indices", keys: ["representation_noise"] } },
  run({ inputs, params, generator }) {
    const { mode, probability, replacement, burst_length } = params;
    const array = inputs.indices.array();
    const size = array.data.length;
    const codebook = metadataNumber(inputs.indices.metadata, "codebook_size");
    if (mode !== "none" && codebook !== undefined && replacement >= codebook) {
      throw new SvcError("params_invalid", `Cannot use index ${replacement} in a codebook of ${codebook} entries`);
    }

    const indices = array.data.slice() as Int32Array | BigInt64Array;
    const put = (at: number, index: number | bigint) => {
      indices[at] = (typeof indices[at] === "bigint" ? BigInt(index) : Number(index)) as never;
      if (Number(indices[at]) !== Number(index)) {
        throw new SvcError("params_invalid", `Cannot store index ${index} in ${array.dtype} indices`);
      }
    };
    let hitCount = 0;
    const mask = mode === "bit_flip" ? bitMask(codebookSize(codebook), params.bit) : 0;
    if (mode !== "none") {
      const draws = generator.random(size);
      const uniform = mode === "random_replace"
        ? generator.integers(0, codebookSize(codebook), size, "int64")
        : undefined;
      const run = mode === "burst" ? burst_length : 1;
      for (let at = 0, hitUntil = 0; at < size; at++) {
        if (draws[at] < probability) hitUntil = at + run;
        if (at >= hitUntil) continue;
        put(at, mask > 0 ? (Number(indices[at]) ^ mask) % codebook! : uniform?.[at] ?? replacement);
        hitCount++;
      }
    }
    const metadata = travel(inputs.indices.metadata, { representation_noise: { mode, hit_count: hitCount } });
    return {
      outputs: { indices: { array: { ...array, data: indices }, companions: companionsOf(inputs.indices), metadata } },
    };
  },
});

/** The value of a bit of the words of an index. @throws SvcError `params_conflict` for one behind the last bit */
function bitMask(size: number, bit: number): number {
  const width = 32 - Math.clz32(Math.max(size, 2) - 1);
  if (bit < width) return 2 ** (width - 1 - bit);
  throw new SvcError("params_conflict", `Cannot invert bit ${bit} of indices of ${width} bits`, {
    hint: `Set bit to 0 to ${width - 1}`,
  });
}

function codebookSize(declared: number | undefined): number {
  if (declared !== undefined && declared >= 1) return declared;
  throw new SvcError("boundary_value_invalid", "Cannot draw replacement indices: the artifact has no codebook_size", {
    hint: "Use dropout or burst, or a source of indices with codebook_size",
  });
}
