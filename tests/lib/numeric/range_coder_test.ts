import assert from "node:assert/strict";
import type { FrequencyTable } from "../../../lib/numeric/coding/range_kernel.ts";
import { RangeDecoder, RangeEncoder } from "../../../lib/numeric/coding/range_coder.ts";
import {
  decodeIntegers,
  encodeIntegers,
  frequencyTable,
  normalTable,
} from "../../../lib/numeric/coding/frequency_table.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { informationBits } from "../../support/information_bits.ts";

type Interval = readonly [start: number, frequency: number];

function encode(symbols: readonly Interval[]): Uint8Array {
  const encoder = new RangeEncoder();
  for (const [start, frequency] of symbols) encoder.encode(start, frequency);
  return encoder.finish();
}

function assertDecodes(bytes: Uint8Array, symbols: readonly Interval[]): void {
  const decoder = new RangeDecoder(bytes);
  for (const [start, frequency] of symbols) {
    const target = decoder.target();
    assert.ok(target >= start && target < start + frequency, `${target} is outside [${start}, ${start + frequency})`);
    decoder.advance(start, frequency);
  }
}

/** The same narrowing in integers without bound, so that no byte has to be held back. */
function reference(symbols: readonly Interval[]): Uint8Array {
  let low = 0n, range = (1n << 48n) - 1n, shifts = 0;
  for (const [start, frequency] of symbols) {
    const part = range >> 16n;
    low += part * BigInt(start);
    range = part * BigInt(frequency);
    for (; range < 1n << 40n; shifts++) low <<= 8n, range <<= 8n;
  }
  for (let unit = 48n;; unit -= 8n) {
    const rounded = ((low + (1n << unit) - 1n) >> unit) << unit;
    if (rounded >= low + range) continue;
    low = rounded;
    break;
  }
  const digits = low.toString(16).padStart(2 * (shifts + 6), "0").replace(/(00)+$/, "");
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function randomIntervals(generator: Generator, count: number, widest: number): Interval[] {
  const draws = generator.random(2 * count);
  return Array.from({ length: count }, (_, at) => {
    const frequency = 1 + Math.floor(draws[2 * at] * widest);
    return [Math.floor(draws[2 * at + 1] * (65536 - frequency)), frequency];
  });
}

Deno.test("messages are those of the narrowing in unbounded integers", () => {
  const generator = Generator.seeded(3);
  for (const widest of [1, 2, 255, 4000, 65535]) {
    for (let length = 0; length < 200; length += 7) {
      const symbols = randomIntervals(generator, length, widest);
      const bytes = encode(symbols);
      assert.deepEqual(bytes, reference(symbols));
      assertDecodes(bytes, symbols);
    }
  }
});

Deno.test("carries run through bytes of 255 that wait, and intervals that hug an end lose nothing", () => {
  // The top of the interval again and again fills bytes with 255; the step after may carry into all of them.
  const patterns: Interval[][] = [
    [[65535, 1]],
    [[0, 1]],
    [[65534, 2], [65535, 1]],
    [[1, 65535]],
    [[0, 65535]],
    [[65535, 1], [65535, 1], [65535, 1], [0, 1]],
    [[32767, 2]],
  ];
  for (const pattern of patterns) {
    for (const length of [1, 2, 3, 50, 400]) {
      const symbols = Array.from({ length }, (_, at) => pattern[at % pattern.length]);
      const ended: Interval[] = [...symbols, [65535, 1], [40000, 20000], [65535, 1]];
      for (const message of [symbols, ended]) {
        const bytes = encode(message);
        assert.deepEqual(bytes, reference(message));
        assertDecodes(bytes, message);
      }
    }
  }
});

Deno.test("nothing is no bytes, and certain symbols cost next to nothing", () => {
  assert.equal(new RangeEncoder().finish().length, 0);
  const sure = Array.from({ length: 100_000 }, (): Interval => [0, 65535]);
  // 100000 · log2(65536/65535) = 2.2 bits.
  assert.ok(encode(sure).length <= 1);
  assertDecodes(encode(sure), sure);
});

Deno.test("even bits come back for every count up to 16", () => {
  const encoder = new RangeEncoder();
  for (let count = 1; count <= 16; count++) encoder.encodeBits(0xa5c3 & (2 ** count - 1), count);
  const bytes = encoder.finish(), decoder = new RangeDecoder(bytes);
  assert.ok(bytes.length <= 17, `136 bits took ${bytes.length} bytes`);
  for (let count = 1; count <= 16; count++) assert.equal(decoder.decodeBits(count), 0xa5c3 & (2 ** count - 1));
});

Deno.test("the length is the information content: within a byte of it, and within 1 % of the entropy of the model", () => {
  const generator = Generator.seeded(5), scales = [0.11, 0.3, 1, 4, 30];
  const tables = scales.map(normalTable);
  for (const [index, scale] of scales.entries()) {
    const count = 200_000, indexes = new Uint8Array(count).fill(index);
    const values = Int32Array.from(generator.standardNormal(count), (x) => Math.round(x * scale));
    const encoder = new RangeEncoder();
    encodeIntegers(encoder, values, indexes, tables);
    const bytes = encoder.finish(), information = informationBits(values, indexes, tables);
    assert.ok(bytes.length * 8 - information < 9, `${bytes.length * 8} bits for ${information}`);
    assert.ok(information - bytes.length * 8 < 64, "fewer bits than the information content cannot be");
    assert.deepEqual(decodeIntegers(new RangeDecoder(bytes), indexes, tables), values);
    // The sample's own content varies about the entropy; the table's loss against the true distribution does not.
    const loss = divergence(scale, tables[index]), entropy = entropyOf(scale);
    assert.ok(loss < 0.01 * Math.max(entropy, 0.02), `scale ${scale}: ${loss} bits lost of ${entropy}`);
  }
});

Deno.test("the kernel writes the bytes of the coder, over the ends of blocks and over long carries, and reads them", () => {
  const tables = [normalTable(0.3), normalTable(40), frequencyTable(0, [32767 / 65536, 2 / 65536, 32766 / 65536])];
  const generator = Generator.seeded(11), indexes = generator.integers(0, 2, 50_000, "uint8") as Uint8Array;
  const mixed = Int32Array.from(generator.standardNormal(50_000), (x, at) => {
    const largest = -tables[indexes[at]].smallest;
    return Math.max(-largest, Math.min(largest, Math.round(x * (indexes[at] ? 40 : 0.3))));
  });
  const messages = [{ values: [...mixed], indexes }];
  // The middle interval again and again leaves open whether a carry comes, until the last symbol tells.
  for (const count of [1, 2, 3, 100, 8191, 16384, 40_000]) {
    for (const last of [0, 2]) {
      const values = [...new Array(count).fill(1), last];
      messages.push({ values: [...values, ...values], indexes: new Uint8Array(2 * values.length).fill(2) });
    }
  }
  for (const { values, indexes } of messages) {
    const encoder = new RangeEncoder(), plain = new RangeEncoder();
    encodeIntegers(encoder, values, indexes, tables);
    values.forEach((value, at) => {
      const { smallest, cumulative } = tables[indexes[at]], entry = value - smallest;
      assert.ok(entry >= 0 && entry < cumulative.length - 2, "the tables cover all values");
      plain.encode(cumulative[entry], cumulative[entry + 1] - cumulative[entry]);
    });
    // Without deepEqual, which takes minutes to list the differences of long arrays.
    const bytes = encoder.finish(), decoded = decodeIntegers(new RangeDecoder(bytes), indexes, tables);
    assert.ok(bytes.toHex() === plain.finish().toHex(), `${values.length} integers: other bytes`);
    assert.ok(values.every((value, at) => value === decoded[at]), `${values.length} integers: other integers`);
  }
});

Deno.test("every int32 can be sent through every table", () => {
  const far = [0, 1, -1, 300, -300, 70_000, -70_000, 2 ** 31 - 1, -(2 ** 31), 2 ** 30, -(2 ** 30) - 1];
  const tables = [normalTable(0.11), normalTable(64), frequencyTable(5, [0.5, 0.5]), frequencyTable(-3, [])];
  for (const index of tables.keys()) {
    const indexes = far.map(() => index), encoder = new RangeEncoder();
    encodeIntegers(encoder, far, indexes, tables);
    const bytes = encoder.finish();
    assert.deepEqual([...decodeIntegers(new RangeDecoder(bytes), indexes, tables)], far);
    assert.ok(Math.abs(bytes.length * 8 - informationBits(far, indexes, tables)) < 9);
  }
});

Deno.test("a damaged or cut message gives other integers and ends", () => {
  const generator = Generator.seeded(8), tables = [normalTable(0.5), normalTable(20)];
  const indexes = generator.integers(0, 2, 5000, "uint8") as Uint8Array;
  const values = Int32Array.from(generator.standardNormal(5000), (x, at) => Math.round(x * (indexes[at] ? 20 : 0.5)));
  const encoder = new RangeEncoder();
  encodeIntegers(encoder, values, indexes, tables);
  const bytes = encoder.finish();
  const damaged = bytes.slice();
  damaged[10] ^= 255;
  const noise = generator.integers(0, 256, bytes.length, "uint8") as Uint8Array;
  for (const wrong of [damaged, noise, bytes.subarray(0, 20), new Uint8Array(0), new Uint8Array(4000).fill(255)]) {
    const decoded = decodeIntegers(new RangeDecoder(wrong), indexes, tables);
    assert.equal(decoded.length, values.length);
    assert.notDeepEqual(decoded, values);
  }
});

Deno.test("a table has no count of zero, counts to 2^16, and refuses what are no probabilities", () => {
  for (const probabilities of [[], [1], [1e-9, 1 - 1e-9], new Array(3000).fill(1 / 3000), new Array(400).fill(1e-9)]) {
    const { cumulative } = frequencyTable(0, probabilities);
    assert.equal(cumulative.length, probabilities.length + 2);
    assert.equal(cumulative.at(-1), 65536);
    for (let at = 1; at < cumulative.length; at++) assert.ok(cumulative[at] > cumulative[at - 1]);
  }
  for (const wrong of [[-0.1], [0.6, 0.6], [NaN], new Array(40_000).fill(1e-5)]) {
    assert.throws(() => frequencyTable(0, wrong), RangeError);
  }
});

/** Probabilities of a rounded normal value, by summing its density finely: not the way that tables are made. */
function rounded(scale: number): Map<number, number> {
  const reach = Math.ceil(8 * scale) + 2, fine = 400, found = new Map<number, number>();
  for (let k = -reach; k <= reach; k++) {
    let sum = 0;
    for (let at = 0; at < fine; at++) sum += Math.exp(-0.5 * ((k - 0.5 + (at + 0.5) / fine) / scale) ** 2);
    found.set(k, sum / fine / scale / Math.sqrt(2 * Math.PI));
  }
  return found;
}

function entropyOf(scale: number): number {
  return [...rounded(scale).values()].reduce((sum, p) => p > 0 ? sum - p * Math.log2(p) : sum, 0);
}

/** Mean bits that coding by the table costs beyond the entropy. */
function divergence(scale: number, table: FrequencyTable): number {
  let bits = 0;
  for (const [k, p] of rounded(scale)) bits += p * informationBits([k], [0], [table]);
  return bits - entropyOf(scale);
}
