/**
 * Unequal error protection: payload bits of the important blocks of an image get a stronger code, or more power.
 *
 * The payload of each image is divided into blocks of block_size x block_size pixels in reading order, each with the same
 * number of bits, as a codec of fixed rate writes them. Cells of class_map_cell x class_map_cell blocks are sorted by the mean
 * of their importance, and class c receives the share class_fractions[c] of the cells. The bits are then sent class by
 * class behind the class map (_unequal_protection.ts), so that the rates and the channel uses do not depend on the content:
 *
 *     repetition   class c is sent repetition_factors[c] times
 *     nr_ldpc      class c is coded by NR LDPC at code_rates[c], as by channel.nr_ldpc_encoder
 *     power        class c is sent once, with power class_powers[c] over the mean; the modulator takes `allocation`
 *
 * bit_classes protects words in place of blocks, as the indices of a vector quantiser: bit i of each word is in class
 * bit_classes[i], by the damage that its errors do. The receiver knows these classes, and no class map is sent.
 *
 * The class map is repeated class_map_repetition times with the power of class 0, or coded at class_map_code_rate.
 * total_coded_bits adds filler bits, for comparisons at equal channel uses. A symbol has the mean power of its bits, and the
 * mean over all symbols is 1. With one class the bits are those of the ordinary code.
 *
 * Source: Masnick and Wolf, On linear unequal error protection codes, IEEE Trans. Inf. Theory 13(4), 1967.
 */
import { BITS, CODED_BITS, FRAMED_BITS, PAYLOAD_BITS, POWER_ALLOCATION } from "../../lib/contract/kinds.ts";
import { defineOperation, type ParameterProblem, SvcError, usedWhen, z } from "../api.ts";
import { bitsArtifact, bitsOf, sourceItemCounts, travel } from "../../lib/artifact/values.ts";
import { joinBytes } from "../../lib/artifact/join_bytes.ts";
import { importanceMapsOf } from "../../lib/artifact/importance.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { LARGEST_BLOCK } from "../../lib/numeric/coding/nr_ldpc/block_size.ts";
import { cellMeans, classesOf, classSizes } from "../../lib/numeric/coding/importance_classes.ts";
import { IMPORTANCE_MAP } from "../_importance.ts";
import { MOST_ITERATIONS } from "./_nr_ldpc.ts";
import {
  type BlockGrid,
  blocksOf,
  classBits,
  describeProtection,
  encodePart,
  itemBits,
  mapBits,
  mapParts,
  type PartCode,
  type ProtectedStream,
  UNEQUAL_PROTECTION_KEY,
  usedLength,
  wordClasses,
  wordGrid,
  writeMap,
} from "./_unequal_protection.ts";

const METHODS = ["repetition", "nr_ldpc", "power"] as const;
const MOST_CLASSES = 16, MOST_WORD_BITS = 64;
const LISTS = { repetition: "repetition_factors", nr_ldpc: "code_rates", power: "class_powers" } as const;
const usedBy = (protection: typeof METHODS[number]) => ({ "x-svc-used-when": { protection } });
/** Parameters of class maps. */
const ofMaps = { "x-svc-ui": { unused_with: ["bit_classes"] } };

const PARAMS = z.strictObject({
  protection: z.enum(METHODS).default("repetition").describe("resource that the classes receive unequally"),
  class_fractions: z.array(z.number().positive().max(1)).min(1).max(MOST_CLASSES).default([0.25, 0.75])
    .describe("share of the cells of each class, the most important class first; the sum is 1").meta(ofMaps),
  bit_classes: z.array(z.int().min(0).max(MOST_CLASSES - 1)).min(1).max(MOST_WORD_BITS).optional()
    .describe("class of each bit of a word, most significant first, in place of classes by importance"),
  repetition_factors: z.array(z.int().min(1).max(1000)).min(1).max(MOST_CLASSES).default([5, 2])
    .describe("copies of each bit, by class").meta(usedBy("repetition")),
  code_rates: z.array(z.number().min(0.01).max(1)).min(1).max(MOST_CLASSES).default([0.25, 0.5])
    .describe("target code rate of NR LDPC, by class").meta(usedBy("nr_ldpc")),
  class_powers: z.array(z.number().positive().max(1e6)).min(1).max(MOST_CLASSES).default([2, 0.5])
    .describe("power by class, relative to each other; scaled to the mean power 1").meta(usedBy("power")),
  block_size: z.int().min(1).max(1024).default(8).describe("side in pixels of the blocks that the payload describes")
    .meta(ofMaps),
  class_map_cell: z.int().min(1).max(1024).default(2).describe(
    "side of a cell of the class map in blocks; divides the blocks along each side, as 1 does for all images",
  ).meta(ofMaps),
  class_map_repetition: z.int().min(1).max(1000).default(7)
    .describe("copies of each bit of the class map, with repetition and power")
    .meta(usedWhen({ protection: ["repetition", "power"] }, { unused_with: ["bit_classes"] })),
  class_map_code_rate: z.number().min(0.01).max(1).default(0.2).describe("target code rate of the class map")
    .meta({ ...usedBy("nr_ldpc"), ...ofMaps }),
  transport_block_size_bits: z.int().min(1).max(LARGEST_BLOCK).default(4096)
    .describe("maximum payload bits per transport block").meta(usedBy("nr_ldpc")),
  num_bits_per_symbol: z.literal([1, 2, 4, 6, 8]).default(2).describe("bits per symbol of the modulator"),
  num_bp_iter: z.int().min(1).max(MOST_ITERATIONS).default(20).describe("maximum iterations of the decoder")
    .meta(usedBy("nr_ldpc")),
  total_coded_bits: z.int().nonnegative().default(0)
    .describe("coded bits of the whole stream, reached by filler bits; 0 adds none"),
});
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "channel.unequal_error_protection",
  name: "Unequal error protection",
  description: "Codes payload bits by the importance of image blocks, whose class map is sent, or of the bits of words",
  inputs: { bits: [PAYLOAD_BITS, FRAMED_BITS, BITS] },
  optionalInputs: { importance_map: [IMPORTANCE_MAP] },
  outputs: { coded_bits: CODED_BITS, allocation: POWER_ALLOCATION },
  params: PARAMS,
  outputMetadataGuarantees: {
    coded_bits: { from: "bits", keys: ["boundary_contract", "bit_count", UNEQUAL_PROTECTION_KEY] },
  },
  check: checkClasses,
  async run({ inputs, params, cancellation }) {
    const bits = bitsOf(inputs.bits);
    const maps = inputs.importance_map === undefined ? [] : importanceMapsOf(inputs.importance_map);
    const counts = sourceItemCounts(inputs.bits.metadata, bits.length);
    const stream = params.bit_classes === undefined
      ? streamOf(params, bits.length, maps)
      : wordStream(params, params.bit_classes, counts ?? [bits.length]);
    const { grids, side, bitsPerBlock, bitClasses } = stream;
    if (counts !== undefined && counts.join() !== grids.map((grid) => itemBits(grid, stream)).join()) {
      throw mismatch(`source items of other lengths than ${bitsPerBlock} bits a block`, "Use a codec of fixed rate");
    }
    const importanceClasses = (item: number, grid: BlockGrid) => {
      const { data, height, width } = maps[item];
      return classesOf(cellMeans(data, height, width, params.block_size * side), grid.sizes);
    };
    const classMaps: Uint8Array[] = [];
    const classes = stream.classCodes.map((_, index) => new Uint8Array(classBits(stream, index)));
    const filled = classes.map(() => 0);
    let first = 0;
    for (const [item, grid] of grids.entries()) {
      cancellation.throwIfCancelled();
      const own = bitClasses === undefined ? importanceClasses(item, grid) : wordClasses(grid, bitClasses);
      if (bitClasses === undefined) classMaps.push(writeMap(own, grid));
      blocksOf(own, grid, stream).forEach((blocks, index) => {
        for (const block of blocks) {
          const start = first + block * bitsPerBlock;
          classes[index].set(bits.subarray(start, start + bitsPerBlock), filled[index]);
          filled[index] += bitsPerBlock;
        }
      });
      first += itemBits(grid, stream);
    }
    const codedMaps: Uint8Array[] = [];
    let mapped = 0;
    for (const { code, items } of mapParts(stream)) {
      codedMaps.push(await encodePart(code, joinBytes(classMaps.slice(mapped, mapped += items))));
    }
    const parts: Uint8Array[] = [joinBytes(codedMaps)];
    for (const [index, own] of classes.entries()) parts.push(await encodePart(stream.classCodes[index], own));
    const used = parts.reduce((sum, part) => sum + part.length, 0);
    const coded = new Uint8Array(used + stream.fillerBits);
    let at = 0;
    for (const part of parts) {
      coded.set(part, at);
      at += part.length;
    }
    const metadata = travel(inputs.bits.metadata, {
      [UNEQUAL_PROTECTION_KEY]: describeProtection(stream),
      ...(counts === undefined ? {} : { payload_source_item_counts: counts }),
    }, ["source_item_counts"]);
    return {
      outputs: {
        coded_bits: bitsArtifact(coded, metadata),
        allocation: {
          array: ndarray("float64", powersOf(parts, coded.length, params), [
            1,
            Math.ceil(coded.length / params.num_bits_per_symbol),
          ]),
          metadata: { power_policy: `unequal_error_protection_${params.protection}` },
        },
      },
      metrics: {
        "channel.class_map_bit_count": BigInt(classMaps.reduce((sum, { length }) => sum + length, 0)),
        "channel.class_map_coded_bit_count": BigInt(parts[0].length),
        "channel.filler_bit_count": BigInt(stream.fillerBits),
        "channel.protected_bit_count": BigInt(coded.length),
        "channel.class_map_overhead_fraction": parts[0].length / coded.length,
      },
    };
  },
});

/** Mean power of the bits of each symbol, scaled to the mean 1. */
function powersOf(parts: readonly Uint8Array[], length: number, { protection, ...params }: Params): Float64Array {
  const width = params.num_bits_per_symbol, powers = new Float64Array(Math.ceil(length / width));
  if (protection !== "power") return powers.fill(1);
  const list = params.class_powers, bounds: number[] = [];
  for (const part of parts) bounds.push((bounds.at(-1) ?? 0) + part.length);
  let section = 0, sum = 0;
  for (let bit = 0; bit < width * powers.length; bit++) {
    while (section < bounds.length - 1 && bit >= bounds[section]) section++;
    const power = list[Math.max(0, section - 1)] / width;
    powers[Math.floor(bit / width)] += power;
    sum += power;
  }
  return powers.map((power) => power * powers.length / sum);
}

function streamOf(params: Params, bitCount: number, maps: readonly { height: number; width: number }[]) {
  const { block_size: size, class_map_cell: side } = params;
  const grids = maps.map(({ height, width }): BlockGrid => {
    const rows = Math.ceil(height / size), columns = Math.ceil(width / size);
    return { rows, columns, sizes: classSizes(params.class_fractions, rows * columns / side ** 2) };
  });
  const bitsPerBlock = bitCount / grids.reduce((sum, { rows, columns }) => sum + rows * columns, 0);
  if (!Number.isInteger(bitsPerBlock) || bitsPerBlock === 0) {
    const blocks = grids.map(({ rows, columns }) => `${rows} x ${columns}`).slice(0, 3).join(", ");
    throw mismatch(
      `${bitCount} bits for ${grids.length} images of ${blocks}${
        grids.length > 3 ? ", …" : ""
      } blocks of ${size} pixels`,
      "Set block_size to the size of the codec's blocks, and use a codec of fixed rate",
    );
  }
  const odd = grids.find(({ rows, columns }) => rows % side + columns % side > 0);
  if (odd !== undefined) {
    const cells = `cells of ${side} x ${side}`;
    throw mismatch(`${odd.rows} x ${odd.columns} blocks in ${cells}`, "Set class_map_cell to a divisor");
  }
  const stream: ProtectedStream = {
    grids,
    bitsPerBlock,
    side,
    mapCode: { factor: params.class_map_repetition },
    classCodes: params.class_fractions.map((_, index) => classCode(params, index)),
    fillerBits: 0,
  };
  const largest = grids.reduce((most, grid) => Math.max(most, mapBits(grid)), 0);
  const isLdpc = params.protection === "nr_ldpc" && largest > 0;
  return filled(isLdpc ? { ...stream, mapCode: ldpc(params, params.class_map_code_rate, largest) } : stream, params);
}

/** The stream of words whose bits have known classes. */
function wordStream(params: Params, bitClasses: readonly number[], counts: readonly number[]): ProtectedStream {
  const width = bitClasses.length, odd = counts.find((count) => count % width > 0);
  if (odd !== undefined) {
    throw mismatch(`${odd} bits in words of ${width}`, "Give bit_classes one value for each bit of a word");
  }
  const classCodes = Array.from({ length: Math.max(...bitClasses) + 1 }, (_, index) => classCode(params, index));
  const grids = counts.map((count) => wordGrid(count, bitClasses, classCodes.length));
  const mapCode = { factor: params.class_map_repetition };
  return filled({ grids, bitsPerBlock: 1, side: 1, mapCode, classCodes, fillerBits: 0, bitClasses }, params);
}

const ldpc = (params: Params, codeRate: number, blockBits: number): PartCode => ({
  codeRate,
  blockBits,
  bitsPerSymbol: params.num_bits_per_symbol,
  iterations: params.num_bp_iter,
});

const classCode = (params: Params, index: number): PartCode =>
  params.protection === "nr_ldpc"
    ? ldpc(params, params.code_rates[index], params.transport_block_size_bits)
    : { factor: params.protection === "power" ? 1 : params.repetition_factors[index] };

/** A stream with filler bits up to total_coded_bits. */
function filled(stream: ProtectedStream, params: Params): ProtectedStream {
  const used = usedLength(stream);
  if (params.total_coded_bits === 0) return stream;
  if (used <= params.total_coded_bits) return { ...stream, fillerBits: params.total_coded_bits - used };
  throw new SvcError(
    "params_conflict",
    `Cannot send ${used} coded bits of classes and class map in ${params.total_coded_bits}`,
    { hint: `Raise total_coded_bits, or lower the protection in ${LISTS[params.protection]}` },
  );
}

const mismatch = (what: string, hint: string) =>
  new SvcError("boundary_count_mismatch", `Cannot assign classes of importance to ${what}`, { hint });

function checkClasses(params: Params, connected: ReadonlySet<string>): ParameterProblem[] {
  const problems: ParameterProblem[] = [], { class_fractions: fractions, bit_classes: bitClasses } = params;
  if ((bitClasses === undefined) !== connected.has("importance_map")) {
    problems.push({
      place: ["bit_classes"],
      message: `Cannot find the classes: they are those of ${
        bitClasses === undefined ? "neither" : "both"
      } of importance_map and bit_classes`,
      hint: "Wire importance_map, or set bit_classes",
    });
  }
  const sum = fractions.reduce((total, share) => total + share, 0), list = LISTS[params.protection];
  const count = bitClasses === undefined ? fractions.length : new Set(bitClasses).size;
  if (bitClasses !== undefined && Math.max(...bitClasses) !== count - 1) {
    problems.push({
      place: ["bit_classes"],
      message: `Cannot use class ${Math.max(...bitClasses)} as the last one of ${count} classes`,
      hint: "Number the classes 0, 1, 2, …, the most important first",
    });
  }
  if (Math.abs(sum - 1) > 1e-9) {
    problems.push({
      code: "params_invalid",
      place: ["class_fractions"],
      message: `Cannot divide the cells into shares with the sum ${sum}`,
      hint: "The sum of class_fractions is 1",
    });
  }
  if (params[list].length !== count) {
    problems.push({
      place: [list],
      message: `Cannot give ${count} classes ${params[list].length} values of ${list}`,
      hint: "Give one value for each class of class_fractions or bit_classes",
    });
  }
  return problems;
}
