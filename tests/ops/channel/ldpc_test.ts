/** LDPC codes: tables, files, decoders against NumPy, error rates against published ones, and refusals. */
import assert from "node:assert/strict";
import operations from "../../../ops/channel/ldpc.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import {
  codeOf,
  LDPC_CODES,
  type LdpcCode,
  type ParityChecks,
  shippedCode,
} from "../../../lib/numeric/coding/ldpc/code.ts";
import { decodeLdpc, type LdpcOptions } from "../../../lib/numeric/coding/ldpc/decoder.ts";
import { readAlist, readQcTable } from "../../../lib/numeric/coding/ldpc/files.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import stored from "../../data/physical/ldpc.json" with { type: "json" };
import { refuses, runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

const OPTIONS: LdpcOptions = {
  schedule: "layered",
  checkRule: "normalized_min_sum",
  iterations: 10,
  scale: 0.75,
  offset: 0.5,
  earlyStop: true,
};
const bytes = (text: string) => new TextEncoder().encode(text);
const bitsOf = ({ starts, columns }: ParityChecks, check: number) => columns.subarray(starts[check], starts[check + 1]);
/** The message of make_ldpc.py. */
const message = (size: number) => Uint8Array.from({ length: size }, (_, i) => (i * i * 13 + i * 7 + 5) % 1009 % 2);

/** Pairs of bits that two checks share more than one of. */
function fourCycles(checks: ParityChecks): number {
  const checksOfBit = Array.from({ length: checks.length }, (): number[] => []);
  let found = 0;
  for (let i = 0; i + 1 < checks.starts.length; i++) {
    const shared = new Map<number, number>();
    for (const bit of bitsOf(checks, i)) {
      for (const other of checksOfBit[bit]) {
        const before = shared.get(other) ?? 0;
        found += before;
        shared.set(other, before + 1);
      }
      checksOfBit[bit].push(i);
    }
  }
  return found;
}

Deno.test("code words of all tables are those of an encoder written from the standards in NumPy", () => {
  assert.deepEqual(stored.words.map(({ code }) => code), LDPC_CODES);
  for (const { code, bits, message_bits, sha256 } of stored.words) {
    const found = shippedCode(code), word = found.encode(message(message_bits));
    // As many message bits as the standard says: the checks have full rank.
    assert.deepEqual([found.length, found.places.length], [bits, message_bits], code);
    assert.ok(found.places.every((place, i) => place === i), code);
    assert.equal(sha256Hex(word), sha256, code);
    for (let i = 0; i < bits - message_bits; i++) {
      assert.equal(bitsOf(found, i).reduce((sum, bit) => sum ^ word[bit], 0), 0, code);
    }
  }
});

Deno.test("no two checks of a table share two bits, but in three tables of the standard", () => {
  const cycles = LDPC_CODES.map((name) => [name, fourCycles(shippedCode(name))]).filter(([, count]) => count !== 0);
  assert.deepEqual(cycles, [["ieee80211n_648_3_4", 54], ["ieee80211n_1296_2_3", 108], ["ieee80211n_1944_2_3", 81]]);
});

Deno.test("every schedule and check rule gives the values of NumPy", () => {
  const code = shippedCode(stored.code), llr = Float32Array.from(stored.llr);
  assert.equal(stored.decoded.length, 8);
  for (const { schedule, check_rule, values, wrong_bits } of stored.decoded) {
    const found = decodeLdpc(llr, code, {
      ...OPTIONS,
      schedule: schedule as LdpcOptions["schedule"],
      checkRule: check_rule as LdpcOptions["checkRule"],
      iterations: 3,
      earlyStop: false,
    });
    const word = code.encode(message(code.places.length));
    assert.equal(found.values.reduce((sum, value, i) => sum + ((value < 0 ? 1 : 0) ^ word[i]), 0), wrong_bits);
    assert.deepEqual([found.iterations, found.passed], [3, wrong_bits === 0]);
    values.forEach((value, i) => {
      assert.ok(
        Math.abs(found.values[9 * i] - value) < 1e-3,
        `${schedule} ${check_rule} ${found.values[9 * i]} ${value}`,
      );
    });
  }
});

Deno.test("the exact rule has full precision for sure bits, and a check of one bit knows it", () => {
  const both = codeOf({ length: 3, starts: Int32Array.of(0, 3), columns: Int32Array.of(0, 1, 2) });
  const once = { ...OPTIONS, checkRule: "sum_product", iterations: 1 } as const;
  // ln (1 + t²) / (1 - t²) with t = tanh 20 is 40 - ln 2 to 1e-17.
  assert.ok(Math.abs(decodeLdpc(Float32Array.of(0, 40, 40), both, once).values[0] - (40 - Math.LN2)) < 1e-5);
  assert.equal(decodeLdpc(Float32Array.of(0, 1e6, -1e6), both, once).values[0], -700);
  const alone = { length: 2, starts: Int32Array.of(0, 1), columns: Int32Array.of(0) };
  for (const checkRule of ["min_sum", "sum_product"] as const) {
    for (const schedule of ["layered", "flooding"] as const) {
      const { values, passed } = decodeLdpc(Float32Array.of(-3, -1), alone, { ...OPTIONS, checkRule, schedule });
      assert.ok(passed && values[0] > 0 && values[1] === -1, `${checkRule} ${schedule} ${values}`);
    }
  }
});

/** Word errors over BPSK and AWGN at Eb/N0 in dB. */
function wordErrors(code: LdpcCode, ebn0: number, words: number, options: LdpcOptions): number {
  const generator = Generator.seeded(8), size = code.places.length;
  const variance = code.length / (2 * size) / 10 ** (ebn0 / 10);
  let errors = 0;
  for (let word = 0; word < words; word++) {
    const bits = generator.integers(0, 2, size, "uint8"), noise = generator.standardNormal(code.length);
    const llr = Float32Array.from(
      code.encode(bits),
      (bit, i) => 2 * (1 - 2 * bit + Math.sqrt(variance) * noise[i]) / variance,
    );
    const { values } = decodeLdpc(llr, code, options);
    if (bits.some((bit, i) => bit !== (values[code.places[i]] < 0 ? 1 : 0))) errors++;
  }
  return errors;
}

Deno.test("word error rates are those of AFF3CT's reference simulations", () => {
  // Files of aff3ct/error_rate_references for BPSK over AWGN, with their words and word errors.
  const references = [
    ["ieee80211n_648_5_6", 3.25, { checkRule: "sum_product", iterations: 20 }, 517, 115],
    ["ieee80211n_648_5_6", 3.6, { checkRule: "min_sum", iterations: 10 }, 1160, 208],
    ["dvb_s2_short_3_4", 2.6, { checkRule: "normalized_min_sum", iterations: 10 }, 511, 112],
  ] as const;
  for (const [name, ebn0, options, theirWords, theirErrors] of references) {
    const words = 800, errors = wordErrors(shippedCode(name), ebn0, words, { ...OPTIONS, ...options });
    // Two proportions: beyond 3.3 standard deviations in one of a thousand.
    const joint = (errors + theirErrors) / (words + theirWords);
    const deviation = Math.sqrt(joint * (1 - joint) * (1 / words + 1 / theirWords));
    assert.ok(
      errors >= 100 && Math.abs(errors / words - theirErrors / theirWords) < 3.3 * deviation,
      `${name}: ${errors}`,
    );
  }
});

/** The checks as an alist, its lists padded or not. */
function alistOf(checks: ParityChecks, padded: boolean): string {
  const count = checks.starts.length - 1;
  const rows = Array.from({ length: count }, (_, i) => [...bitsOf(checks, i)].map((bit) => bit + 1));
  const columns = Array.from(
    { length: checks.length },
    (_, bit) => rows.flatMap((row, i) => row.includes(bit + 1) ? [i + 1] : []),
  );
  const most = [columns, rows].map((lists) => Math.max(...lists.map(({ length }) => length)));
  const lines = (lists: number[][], width: number) =>
    lists.map((list) => [...list, ...Array(padded ? width - list.length : 0).fill(0)].join(" "));
  return [
    `${checks.length} ${count}`,
    most.join(" "),
    ...[columns, rows].map((lists) => lists.map(({ length }) => length).join(" ")),
    ...lines(columns, most[0]),
    ...lines(rows, most[1]),
    "",
  ].join("\n");
}

/** Bits 0 … 2 carry the message only where elimination finds the others: the second check is the sum of the first and the third. */
const DEPENDENT = {
  length: 6,
  starts: Int32Array.of(0, 3, 7, 10),
  columns: Int32Array.of(0, 1, 5, 1, 2, 3, 5, 0, 2, 3),
};

Deno.test("alists and QC tables give the checks that they hold", () => {
  const shipped = shippedCode("ieee80211n_648_2_3");
  for (const padded of [true, false]) {
    const { starts, columns } = readAlist(bytes(alistOf(shipped, padded)));
    assert.deepEqual([starts, columns], [shipped.starts, shipped.columns]);
  }
  const { length, starts, columns } = readQcTable(bytes("3 2 2\n\n1 0 -1\n-1 1 0\n"));
  assert.deepEqual([length, ...starts, ...columns], [6, 0, 2, 4, 6, 8, 1, 2, 0, 3, 3, 4, 2, 5]);
});

Deno.test("dependent checks leave more message bits, wherever they stand", () => {
  const code = codeOf(DEPENDENT);
  assert.deepEqual([...code.places], [0, 1, 2, 4]);
  for (let value = 0; value < 16; value++) {
    const bits = Uint8Array.from({ length: 4 }, (_, i) => value >> i & 1), word = code.encode(bits);
    assert.deepEqual([...code.places].map((place) => word[place]), [...bits]);
    for (let i = 0; i < 3; i++) assert.equal(bitsOf(code, i).reduce((sum, bit) => sum ^ word[bit], 0), 0);
  }
});

Deno.test("a hostile file is refused before memory is taken for it", () => {
  const good = alistOf(DEPENDENT, true).split("\n");
  const changed = (line: number, text: string) => bytes(good.with(line, text).join("\n"));
  const refused: [Uint8Array, RegExp][] = [
    [bytes(""), /line 1 has 0 numbers/],
    [bytes("\u0000\u0001"), /line 1 has/],
    [bytes("6"), /line 1 has 1 numbers/],
    [bytes("9999999 3\n1 1\n"), /line 1 has "9999999"/],
    [bytes("131072 131071\n8 8\n"), /line 3 has/],
    [bytes("4 4\n1 1\n"), /not fewer/],
    [changed(2, "2 2 2 2 0 9"), /line 3 has "9"/],
    [changed(2, "2 2 2 2 1 2"), /count 11 and 10 ones/],
    [changed(4, "1 1"), /line 5 has not the 2 different/],
    [changed(4, "1 2"), /differ at check 2/],
    [changed(4, "1 4"), /line 5 has "4"/],
    [changed(4, "1 1e9"), /line 5 has "1e9"/],
    [bytes(good.slice(0, 8).join("\n")), /has 8 lines/],
  ];
  const full = alistOf(shippedCode("ieee80211n_648_5_6"), true);
  refused.push([bytes(full + "1 2 3\n"), /has 761 lines|has 760 lines/], [
    new Uint8Array(2 ** 24 + 1),
    /16777217 bytes/,
  ]);
  for (const [file, message] of refused) assert.throws(() => readAlist(file), { name: "RangeError", message });
  for (const text of ["3 2 99999\n", "3 2 2\n0 0 2\n0 0 0\n", "3 2 2\n0 0 0\n", "2 3 2\n", "1000 999 131\n"]) {
    assert.throws(() => readQcTable(bytes(text)), RangeError, text);
  }
  assert.throws(
    () => codeOf({ length: 2, starts: Int32Array.of(0, 1, 2), columns: Int32Array.of(0, 1) }),
    /no message/,
  );
  const wide = { length: 2 ** 17, starts: new Int32Array(2 ** 16 + 1), columns: new Int32Array(0) };
  assert.throws(() => codeOf(wide), /eliminate/);
});

Deno.test("a stream comes back with its soft values from a shipped code and from a file; lost words are reported", async () => {
  const [encoder, decoder] = operations, bits = someBits(700);
  const file = alistOf(shippedCode("ieee80211n_648_1_2"), false), files = { "codes/a.alist": file };
  const pinned = { code_path: "codes/a.alist", code_sha256: sha256Hex(file) };
  const encode = async (params: JsonObject) =>
    (await runOperation(encoder, { inputs: { bits: payloadInput(bits) }, params, files })).outputs.coded_bits;
  const coded = await encode(pinned), shipped = await encode({});
  assert.deepEqual(coded.array().data, shipped.array().data);
  for (const { array, metadata } of [coded, shipped]) {
    const sent = Float32Array.from(array().data as Uint8Array, (bit) => 3 - 6 * bit);
    // The third word is lost.
    for (let i = 0; i < 648; i++) sent[1296 + i] = i % 2 === 0 ? 1 : -1;
    const llr = { kind: "channel.llr.numpy", array: ndarray("float32", sent), metadata };
    const { outputs } = await runOperation(decoder, { inputs: { llr }, files });
    assert.deepEqual([...outputs.bits.array().data as Uint8Array].slice(0, 648), [...bits].slice(0, 648));
    assert.deepEqual(outputs.bits.metadata.failed_block_indices, [2]);
    const values = outputs.payload_llr.array().data as Float32Array, decided = outputs.bits.array().data;
    assert.ok(values.every((value, i) => (value < 0 ? 1 : 0) === decided[i]));
  }
  await refuses("params_conflict", () => encode({ code_path: "codes/a.alist" }));
  await refuses("params_conflict", () => encode({ code_sha256: "0".repeat(64) }));
  await refuses("boundary_hash_mismatch", () => encode({ ...pinned, code_sha256: "0".repeat(64) }));
  const other = { "codes/a.alist": "1 2 3" };
  await refuses("boundary_value_invalid", () =>
    runOperation(encoder, {
      inputs: { bits: payloadInput(bits) },
      params: { ...pinned, code_sha256: sha256Hex("1 2 3") },
      files: other,
    }));
});

Deno.test("the kernel of least magnitudes has the values of the reference to the bit", () => {
  const generator = Generator.seeded(13);
  for (const name of ["ieee80211n_648_1_2", "ieee80211n_1944_5_6"]) {
    const code = shippedCode(name), drawn = generator.standardNormal(code.length);
    for (const schedule of ["layered", "flooding"] as const) {
      for (const checkRule of ["min_sum", "normalized_min_sum", "offset_min_sum"] as const) {
        for (const [integers, earlyStop] of [[false, false], [true, false], [false, true]]) {
          // Whole numbers make equal magnitudes, and zeros of both signs.
          const llr = Float32Array.from(drawn, (z) => integers ? Math.round(1 + 2 * z) : 3 + 3 * z);
          const options = { schedule, checkRule, iterations: 6, scale: 0.8, offset: 0.3, earlyStop };
          const found = decodeLdpc(llr, code, options), expected = decodeLdpc(llr, code, options, true);
          const what = `${name} ${schedule} ${checkRule}`;
          assert.deepEqual(new Uint32Array(found.values.buffer), new Uint32Array(expected.values.buffer), what);
          assert.deepEqual([found.passed, found.iterations], [expected.passed, expected.iterations], what);
        }
      }
    }
  }
  // A check over one bit makes it certain; another one over nothing tells nothing.
  const single = { length: 2, starts: Int32Array.of(0, 1, 3), columns: Int32Array.of(0, 0, 1) };
  const options = {
    schedule: "layered",
    checkRule: "min_sum",
    iterations: 2,
    scale: 1,
    offset: 0,
    earlyStop: false,
  } as const;
  const llr = Float32Array.of(-1, -2);
  assert.deepEqual(decodeLdpc(llr, single, options), decodeLdpc(llr, single, options, true));
});

Deno.test("code blocks of 5G NR come back, repeated or punctured, and parameters without a code are named", async () => {
  const [encoder, decoder] = operations, bits = someBits(250);
  for (const [message_bits, coded_bits, num_bits_per_symbol] of [[100, 120, 4], [100, 1640, 1], [125, 250, 1]]) {
    const params = { code: "nr", message_bits, coded_bits, num_bits_per_symbol };
    const { outputs } = await runOperation(encoder, { inputs: { bits: payloadInput(bits) }, params });
    const { array, metadata } = outputs.coded_bits, words = Math.ceil(250 / message_bits);
    assert.equal(array().data.length, words * coded_bits);
    const sent = Float32Array.from(array().data as Uint8Array, (bit) => 3 - 6 * bit);
    // All bits are sent twice, the second time wrong: only the sum has their signs.
    if (coded_bits === 1640) sent.forEach((value, i) => sent[i] = i % 1640 < 820 ? value : -value / 3);
    const llr = { kind: "channel.llr.numpy", array: ndarray("float32", sent), metadata };
    const decoded = (await runOperation(decoder, { inputs: { llr } })).outputs;
    assert.deepEqual([...decoded.bits.array().data as Uint8Array], [...bits], `${message_bits} ${coded_bits}`);
    assert.deepEqual(decoded.bits.metadata.failed_block_indices, []);
  }
  for (
    const [params, message] of [
      [{ message_bits: 4000, coded_bits: 20000 }, /base_graph 2 holds/],
      [{ coded_bits: 2050, num_bits_per_symbol: 4 }, /num_bits_per_symbol is 4/],
      [{ coded_bits: 1000 }, /rate above 1/],
    ] as const
  ) {
    const refused = runOperation(encoder, { inputs: { bits: payloadInput(bits) }, params: { code: "nr", ...params } });
    await assert.rejects(refused, { code: "params_conflict", message });
  }
});
