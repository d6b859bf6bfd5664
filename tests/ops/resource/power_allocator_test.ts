/** Power policies: budgets, optimality, what each believes of the channel, and bit loading down to the bit error rate. */
import assert from "node:assert/strict";
import digitalDemodulate from "../../../ops/demodulation/digital_demodulate.ts";
import causal from "../../../ops/resource/causal_csi_power_allocator.ts";
import allocator from "../../../ops/resource/symbol_power_allocator.ts";
import wirelessChannel from "../../../ops/wireless/channel.ts";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { shownWhen } from "../../../lib/contract/schema.ts";
import { float, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { type NdArray, ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { mean, sum, wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import { bitErrorRateAwgn } from "../../../lib/numeric/link/theory.ts";
import { waterFill, waterFillBox, waterFillingResidual } from "../../../lib/numeric/link/water_filling.ts";
import { type Described, payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { type GivenInput, refuses, runOperation } from "../harness.ts";
import { checkpoint, ofdmState, reports } from "../_fixtures/power.ts";

const F = 8;
const near = (actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance = 1e-12) => {
  assert.equal(actual.length, expected.length);
  Array.from(expected).forEach((value, i) =>
    assert.ok(Math.abs(actual[i] - value) <= tolerance, `${i}: ${actual[i]} is not ${value}`)
  );
};

async function allocate(
  params: JsonObject,
  inputs: Record<string, GivenInput>,
  files: Record<string, Uint8Array> = {},
) {
  const result = await runOperation(causal, { inputs, params, files });
  const { allocation, symbols } = result.outputs;
  const power = allocation.array();
  return {
    ...result,
    power: power.data as Float64Array,
    shape: power.shape,
    sent: symbols.array().data as Float32Array,
    loading: allocation.arrayNames.includes("bits_per_symbol")
      ? [...allocation.array("bits_per_symbol").data as Uint8Array]
      : undefined,
    rows: Array.from(
      { length: power.shape[0] },
      (_, row) => (power.data as Float64Array).subarray(row * power.shape[1], (row + 1) * power.shape[1]),
    ),
  };
}

const gainsOf = (state: Described, row: number): Float64Array => {
  const h = state.array!.data as Float32Array;
  return Float64Array.from({ length: F }, (_, k) => h[2 * (row * F + k)] ** 2 + h[2 * (row * F + k) + 1] ** 2);
};
const floors = (gains: ArrayLike<number>, n0 = 0.1) => Float64Array.from(gains, (gain) => n0 / gain);
const per = (policy: string, more: JsonObject = {}) => ({ policy, granularity: "per_subcarrier", ...more });
const WATER = ["observed_csi", "robust_csi", "causal_ar", "causal_ar_box"].map((name) => `${name}_water_filling`);

Deno.test("both allocators are one, but for what a trained policy is given", async () => {
  const options = { inputs: { symbols: symbolsInput(40), channel_state: ofdmState([2, 3, F]) }, params: per("fixed") };
  const [one, other] = await Promise.all([allocator, causal].map((operation) => runOperation(operation, options)));
  assert.deepEqual(one.bytes, other.bytes);
  const inputs = ({ contract }: typeof causal) =>
    Object.keys((contract.trained_artifact_abi as { inputs: JsonObject }).inputs);
  assert.deepEqual(inputs(allocator), ["average_power_budget", "channel_gain", "noise_variance"]);
  assert.deepEqual(inputs(causal), ["average_power_budget", "csi_history", "noise_variance"]);
});

Deno.test("a parameter that names its policies, granularity or transport has no effect under the others", async () => {
  const properties = causal.contract.params_schema.properties as { [name: string]: JsonObject };
  const conditional = Object.entries(properties).flatMap(([name, schema]) => {
    const condition = shownWhen(schema);
    return condition === null ? [] : [{ name, schema, condition }];
  });
  // 26 of its own, and the three of a trained artifact.
  assert.equal(conditional.length, 26 + 3);
  const inputs = { symbols: symbolsInput(90), channel_state: ofdmState([3, 4, F]) };
  const bytesOf = async (params: JsonObject) => (await runOperation(causal, { inputs, params })).bytes;
  const policies = ["fixed", "snr_sigmoid", "water_filling", ...WATER];
  for (const policy of policies) {
    const plain: JsonObject = { policy, granularity: "per_subcarrier", transport_mode: "fixed_modulation" };
    const reference = await bytesOf(plain);
    for (const { name, schema, condition } of conditional) {
      if (Object.entries(condition).every(([key, wanted]) => [wanted].flat().includes(plain[key]))) continue;
      assert.deepEqual(await bytesOf({ ...plain, [name]: another(name, schema) }), reference, `${name} with ${policy}`);
    }
  }
});

/** Another value than the default of a parameter. */
function another(name: string, { default: given, enum: choices }: JsonObject): Value {
  if (Array.isArray(choices)) return choices.at(-1)!;
  if (typeof given === "boolean") return !given;
  if (typeof given === "string") return "another";
  return /ratio|contrast|shrinkage|confidence|eps/.test(name) ? float(0.5) : Number(given ?? 0) + 3;
}

Deno.test("symbols leave times sqrt(p), and p of symbol i is that of element i", async () => {
  const channel_state = ofdmState([2, 2, F]);
  const symbols = symbolsInput(27, { modulation: "qpsk", source_item_counts: [7, 20] });
  const { power, shape, sent, outputs } = await allocate(per("water_filling"), { symbols, channel_state });
  assert.deepEqual([...shape], [4, F]);
  const before = symbols.array!.data as Float32Array;
  sent.forEach((part, i) => assert.equal(part, Math.fround(before[i] * Math.sqrt(power[i >> 1]))));
  assert.deepEqual(outputs.symbols.metadata.source_item_counts, [7, 20]);
  assert.equal(outputs.symbols.metadata.modulation, "qpsk");
  assert.equal(outputs.allocation.metadata.noise_variance, 0.1);
});

Deno.test("water-filling is optimal in every state and keeps its budget to 1e-9", async () => {
  for (const budget of [0.01, 1, 30]) {
    const channel_state = ofdmState([3, 4, F], { budget });
    const { rows } = await allocate(per("water_filling", { target_power: budget }), {
      symbols: symbolsInput(90),
      channel_state,
    });
    assert.equal(rows.length, 12);
    rows.forEach((powers, row) => {
      assert.ok(Math.abs(mean(powers) / budget - 1) <= 1e-9);
      assert.ok(waterFillingResidual(powers, floors(gainsOf(channel_state, row)), budget * F) <= 1e-9);
    });
  }
});

Deno.test("every policy keeps the budget of every state to 1e-9, and never spends a negative power", async () => {
  const policies = ["fixed", "snr_sigmoid", ...WATER];
  const learned = { checkpoint_path: "p.npz", checkpoint_sha256: sha256Hex(checkpoint()) };
  for (const policy of [...policies, "learned_checkpoint"]) {
    const { rows } = await allocate(per(policy, { target_power: 0.7, ...learned }), {
      symbols: symbolsInput(40),
      channel_state: reports([2, 4, F], { budget: 0.7 }),
    }, { "p.npz": checkpoint() });
    assert.equal(rows.length, 6);
    for (const powers of rows) {
      assert.ok(Math.abs(mean(powers) / 0.7 - 1) <= 1e-9, policy);
      assert.ok(powers.every((p) => p >= 0), policy);
    }
  }
});

Deno.test("units of every granularity share one power, and the whole keeps the budget", async () => {
  for (const policy of ["snr_sigmoid", "water_filling"]) {
    for (const granularity of ["global", "per_symbol", "per_stream"]) {
      // 3 streams divide 6·8 elements evenly, 5 do not.
      for (const stream_count of [3, 5]) {
        const { power, rows } = await allocate({ policy, granularity, stream_count }, {
          symbols: symbolsInput(40),
          channel_state: ofdmState([2, 3, F], { noiseVariance: 2 }),
        });
        assert.ok(Math.abs(mean(power) - 1) <= 1e-9);
        if (granularity === "global") assert.ok(power.every((p) => p === 1));
        if (granularity === "per_symbol") {
          assert.ok(rows.every((row) => row.every((p) => p === row[0])));
          assert.ok(new Set(rows.map((row) => row[0])).size > 1);
        }
        if (granularity === "per_stream") {
          assert.ok(power.every((p, i) => p === power[i % stream_count]));
          assert.ok(new Set(power.subarray(0, stream_count)).size > 1);
        }
      }
    }
  }
});

Deno.test("water over streams stands at one level, however many elements a stream has", async () => {
  const channel_state = ofdmState([1, 2, F], { noiseVariance: 3 });
  const { power } = await allocate({ policy: "water_filling", granularity: "per_stream", stream_count: 3 }, {
    symbols: symbolsInput(16),
    channel_state,
  });
  const gains = [...gainsOf(channel_state, 0), ...gainsOf(channel_state, 1)];
  const levels = [0, 1, 2].map((stream) => {
    const own = gains.filter((_, i) => i % 3 === stream);
    return { p: power[stream], level: power[stream] + 3 / mean(own) };
  }).filter(({ p }) => p > 0);
  assert.ok(levels.length >= 2);
  for (const { level } of levels) near([level], [levels[0].level]);
});

Deno.test("the sigmoid: by hand without a state, with a state, and its budget modes", async () => {
  const free = { policy: "snr_sigmoid", budget_mode: "variable_average", subcarrier_count: 4 };
  const at = async (snr_db: number) => (await allocate({ ...free, snr_db }, { symbols: symbolsInput(6) })).power;
  near(await at(12), new Float64Array(8).fill(0.25 + 1.75 / 2));
  near(await at(16), new Float64Array(8).fill(0.25 + 1.75 / (1 + Math.exp(-1))));
  near(
    (await allocate({ policy: "snr_sigmoid", target_power: 3 }, { symbols: symbolsInput(6) })).power,
    new Float64Array(64).fill(3),
  );
  // Gains 10 and 1000 at N0 = 1 are 10 and 30 dB.
  const h = [Math.sqrt(10), 0, 0, Math.sqrt(1000)];
  const channel_state = ofdmState([1, 1, 2], { h, noiseVariance: 1 });
  const sigma = (snr: number) => 1 / (1 + Math.exp(-(10 * Math.log10(snr) - 12) / 4));
  const inputs = { symbols: symbolsInput(2), channel_state };
  const base = 0.25 + 1.75 * sigma(505);
  const weights = [10, 1000].map((snr) => 1 + 0.6 * (2 * sigma(snr) - 1));
  const shares = weights.map((weight) => weight / mean(weights));
  near((await allocate(per("snr_sigmoid"), inputs)).power, shares, 1e-6);
  near(
    (await allocate(per("snr_sigmoid", { budget_mode: "variable_average" }), inputs)).power,
    shares.map((share) => Math.min(Math.max(share * base, 0.25), 2)),
    1e-6,
  );
  near(
    (await allocate({ policy: "snr_sigmoid", budget_mode: "variable_average" }, inputs)).power,
    [base, base],
    1e-6,
  );
});

Deno.test("variable_average clips what a policy says", async () => {
  const inputs = { symbols: symbolsInput(8), channel_state: ofdmState([1, 1, F], { noiseVariance: 3 }) };
  const { power: free } = await allocate(per("water_filling"), inputs);
  assert.ok(Math.min(...free) < 0.5 && Math.max(...free) > 1.5);
  const { power } = await allocate(
    per("water_filling", { budget_mode: "variable_average", min_power: 0.5, max_power: 1.5 }),
    inputs,
  );
  near(power, free.map((p) => Math.min(Math.max(p, 0.5), 1.5)));
});

Deno.test("what each policy believes of delayed knowledge", async () => {
  const N0 = 0.5, D = 3;
  const channel_state = reports([2, 4, F], { noiseVariance: N0, delay: D, used: 2 });
  const inputs = { symbols: symbolsInput(32), channel_state };
  const last = [0, 1].map((grid) => gainsOf(channel_state, 4 * grid + 3));
  const expect = async (params: JsonObject, gains: (g: Float64Array, grid: number) => ArrayLike<number>) => {
    const { rows } = await allocate(params, inputs);
    // Two OFDM symbols of each grid follow from its one report.
    rows.forEach((row, state) => {
      const grid = Math.floor(state / 2);
      near(row, waterFill(floors(gains(last[grid], grid), N0), F), 1e-9);
    });
  };
  await expect(per("observed_csi_water_filling"), (g) => g);
  await expect(
    per("robust_csi_water_filling", { csi_gain_shrinkage: 0.3 }),
    (g) => g.map((gain) => 0.7 * gain + 0.3 * mean(g)),
  );
  await expect(per("robust_csi_water_filling", { csi_gain_shrinkage: 0 }), (g) => g);

  const h = channel_state.array!.data as Float32Array;
  const coefficient = (grid: number, k: number) => {
    let re = 0, im = 0, old = 0;
    for (let t = 1; t < 4; t++) {
      const [a, b] = [2 * ((4 * grid + t) * F + k), 2 * ((4 * grid + t - 1) * F + k)];
      re += h[a] * h[b] + h[a + 1] * h[b + 1];
      im += h[a + 1] * h[b] - h[a] * h[b + 1];
      old += h[b] ** 2 + h[b + 1] ** 2;
    }
    return Math.min(Math.hypot(re, im) / old, 1);
  };
  const predicted = (c: number, d: number) => (g: Float64Array, grid: number) =>
    g.map((gain, k) => c * coefficient(grid, k) ** (2 * d) * gain + (1 - c) * gain);
  await expect(per("causal_ar_water_filling", { csi_prediction_gain_confidence: 0.4 }), predicted(0.4, D));
  await expect(
    per("causal_ar_water_filling", { csi_prediction_gain_confidence: 1, csi_prediction_horizon_ofdm_symbols: 1 }),
    predicted(1, 1),
  );
  await expect(per("causal_ar_water_filling", { csi_prediction_gain_confidence: 0 }), (g) => g);

  const box = await allocate(
    per("causal_ar_box_water_filling", { allocation_lower_power_ratio: 0.8, allocation_upper_power_ratio: 1.1 }),
    inputs,
  );
  box.rows.forEach((row, state) => {
    const grid = Math.floor(state / 2);
    const gains = predicted(0.4, D)(last[grid], grid);
    near(row, waterFillBox(floors(gains, N0), F, { lower: 0.8, upper: 1.1 }), 1e-9);
    assert.ok(row.some((p) => p === 0.8) && row.some((p) => p === 1.1));
  });
});

Deno.test("one report cannot be predicted from, and a true state is its own report", async () => {
  const single = reports([2, 1, F], { noiseVariance: 1 });
  const inputs = { symbols: symbolsInput(8), channel_state: single };
  const observed = await allocate(per("observed_csi_water_filling"), inputs);
  near((await allocate(per("causal_ar_water_filling"), inputs)).power, observed.power);
  const truth = { symbols: symbolsInput(8), channel_state: ofdmState([2, 3, F]) };
  const water = await allocate(per("water_filling"), truth);
  for (const policy of ["observed_csi_water_filling", "causal_ar_water_filling"]) {
    near((await allocate(per(policy), truth)).power, water.power);
  }
});

Deno.test("states without gain get equal power, elements without gain none", async () => {
  const h = new Float32Array(4 * F);
  h[2 * F] = 1;
  const { rows } = await allocate(per("water_filling"), {
    symbols: symbolsInput(16),
    channel_state: ofdmState([1, 2, F], { h }),
  });
  near(rows[0], new Float64Array(F).fill(1));
  near(rows[1], [F, 0, 0, 0, 0, 0, 0, 0]);
});

const LOADED = { transport_mode: "allocation_aware_bit_loading" };

Deno.test("bit loading: each element as many bits as its SNR carries, filled in order", async () => {
  // |h|²/N0 of 5, 7, 12, 18, 24, 40 dB at power 1.
  const h = [5, 7, 12, 18, 24, 40].flatMap((db) => [10 ** (db / 20), 0]);
  const inputs = {
    symbols: symbolsInput(9, { modulation: "qpsk", bits_per_symbol: 2, packet_total_bits: 136 }),
    bits: payloadInput(someBits(14), { source_item_counts: [5, 9] }),
    channel_state: ofdmState([1, 1, 6], { h, noiseVariance: 1 }),
  };
  const { loading, sent, outputs, metrics } = await allocate(per("fixed", LOADED), inputs);
  assert.deepEqual(loading, [0, 1, 2, 4, 6, 6]);
  assert.equal(sent.length, 12);
  const { metadata } = outputs.symbols;
  assert.equal(metadata.modulation_padding_bits, 5);
  assert.equal(metadata.bit_count, 14);
  assert.equal(metadata.packet_total_bits, 136);
  assert.equal(metrics["channel.bits_per_symbol"], 19 / 6);
  const most = async (most: number) =>
    (await allocate(per("fixed", { ...LOADED, bit_loading_max_bits_per_symbol: most }), {
      ...inputs,
      bits: payloadInput(someBits(5)),
    })).loading;
  assert.deepEqual(await most(1), [0, 1, 1, 1, 1, 1]);
  // The last element is not needed.
  assert.deepEqual(await most(2), [0, 1, 2, 2, 0, 0]);
  await refuses("boundary_count_mismatch", () =>
    allocate(per("fixed", LOADED), {
      ...inputs,
      bits: payloadInput(someBits(20)),
    }));

  const received = await runOperation(digitalDemodulate, {
    inputs: { rx_symbols: outputs.symbols, allocation: outputs.allocation },
  });
  assert.deepEqual(received.outputs.bits.array().data, someBits(14));
  assert.deepEqual(received.outputs.bits.metadata.source_item_counts, [5, 9]);
  assert.equal(received.outputs.llr.metadata.llr_method, "max_log");
  await refuses("params_conflict", () => runOperation(digitalDemodulate, { inputs: { rx_symbols: outputs.symbols } }));
});

Deno.test("64QAM by bit loading meets the closed form over AWGN, and so do the smaller ones beside it", async () => {
  // Elements of 23, 14, 8 and 4 dB, loaded with 6, 4, 2 and 1 bits; their powers differ.
  const snrsDb = [14, 11, 6, 2], N0 = 0.02;
  const names = ["qam64", "qam16", "qpsk", "bpsk"] as const, bitsOf = [6, 4, 2, 1];
  const states = 9000;
  const h = Float32Array.from(
    { length: 8 * states },
    (_, i) => i % 2 ? 0 : Math.sqrt(10 ** (snrsDb[(i >> 1) % 4] / 10) * N0),
  );
  const channel_state = ofdmState([1, states, 4], { h, noiseVariance: N0 });
  const bits = someBits(13 * states);
  const { power, outputs, loading } = await allocate(
    per("snr_sigmoid", {
      ...LOADED,
      bit_loading_qam64_min_snr_db: 14,
      bit_loading_qam16_min_snr_db: 10,
      bit_loading_qpsk_min_snr_db: 4,
      bit_loading_bpsk_min_snr_db: -5,
    }),
    { symbols: symbolsInput(1), bits: payloadInput(bits), channel_state },
  );
  assert.deepEqual(loading!.slice(0, 4), bitsOf);
  assert.ok(new Set(power.subarray(0, 4)).size === 4);
  const channel = await runOperation(wirelessChannel, {
    inputs: { symbols: outputs.symbols, channel_state },
    params: { channel: "ofdm_tdl", channel_state_mode: "explicit", noise_mode: "fixed_variance", noise_variance: N0 },
    seed: 11,
  });
  const { outputs: { bits: decided } } = await runOperation(digitalDemodulate, {
    inputs: { rx_symbols: channel.outputs.rx_symbols, allocation: outputs.allocation, channel_state },
  });
  const back = decided.array().data as Uint8Array;
  assert.equal(back.length, bits.length);
  let start = 0;
  names.forEach((name, element) => {
    let errors = 0;
    for (let state = 0; state < states; state++) {
      for (let b = 0; b < bitsOf[element]; b++) {
        const at = 13 * state + start + b;
        errors += back[at] ^ bits[at];
      }
    }
    start += bitsOf[element];
    const theory = bitErrorRateAwgn(name, power[element] * 10 ** (snrsDb[element] / 10));
    assert.ok(errors >= 100, `${name}: ${errors} errors are too few`);
    const { low, high } = wilsonInterval(errors, states * bitsOf[element], 0.99);
    assert.ok(low <= theory && theory <= high, `${name}: ${theory} is not within ${low} … ${high}`);
  });
});

Deno.test("a checkpoint is what its format says, and its powers are its scores on the simplex", async () => {
  // e = x (the last report), s = e: powers are ln(1 + snr) projected onto a sum of F.
  const dense = (inputs: number, weight: number[]): NdArray =>
    ndarray("float32", Float32Array.from(weight), [inputs, weight.length / inputs]);
  const zero = ndarray("float32", Float32Array.of(0));
  const members = {
    phi_0_weight: dense(2, [0, 1]),
    phi_0_bias: zero,
    rho_0_weight: dense(2, [1, 0]),
    rho_0_bias: zero,
  };
  const text = '{"format":"svc_csi_power_deepset_npz_v1"}';
  const channel_state = reports([1, 3, F], { noiseVariance: 4, used: 1 });
  const learn = (file: Uint8Array, more: JsonObject = {}) =>
    allocate(per("learned_checkpoint", { checkpoint_path: "p.npz", checkpoint_sha256: sha256Hex(file), ...more }), {
      symbols: symbolsInput(8),
      channel_state,
    }, { "p.npz": file });
  const file = writeNpz({ ...members, metadata_json: text });
  const { power, outputs } = await learn(file);
  const scores = gainsOf(channel_state, 2).map((gain) => Math.log1p(gain / 4));
  const shift = (F - sum(scores)) / F;
  near(power, scores.map((score) => score + shift), 1e-9);
  assert.equal(outputs.allocation.metadata.checkpoint_sha256, sha256Hex(file));

  await refuses("artifact_hash_mismatch", () => learn(file, { checkpoint_sha256: "0".repeat(64) }));
  await refuses("artifact_limit_exceeded", () => learn(file, { checkpoint_max_bytes: file.length - 1 }));
  await refuses("artifact_schema_invalid", () => learn(writeNpz({ ...members, metadata_json: '{"format":"other"}' })));
  const extra = { ...members, note: zero };
  await refuses("artifact_schema_invalid", () => learn(writeNpz({ ...extra, metadata_json: text })));
  await refuses("artifact_array_missing", () => learn(writeNpz(members)));
  near((await learn(writeNpz(extra), { checkpoint_strict: false })).power, power);
  for (
    const wrong of [
      { rho_0_weight: dense(3, [1, 0, 0]) },
      { rho_0_bias: ndarray("float32", Float32Array.of(0, 0)) },
      { phi_0_bias: ndarray("float32", Float32Array.of(NaN)) },
      { phi_0_bias: ndarray("int64", BigInt64Array.of(0n)) },
      { phi_0_weight: zero },
    ]
  ) {
    await refuses("artifact_schema_invalid", () => learn(writeNpz({ ...members, ...wrong, metadata_json: text })));
  }
});

Deno.test("conflicts are told before anything runs, under the codes of lint", async () => {
  const symbols = symbolsInput(8), channel_state = ofdmState([1, 1, F]);
  const refused = (code: string, params: JsonObject, inputs: Record<string, GivenInput> = { symbols, channel_state }) =>
    refuses(code, () => allocate(params, inputs));
  await refused("csi_power_policy_state_missing", { policy: "water_filling" }, { symbols });
  await refused("csi_power_policy_state_missing", { policy: "fixed", ...LOADED }, { symbols, bits: payloadInput([1]) });
  await refused("input_missing", { policy: "fixed", ...LOADED });
  await refused("params_conflict", { min_power: 3 });
  const box = { policy: "causal_ar_box_water_filling" };
  await refused("params_conflict", { ...box, allocation_lower_power_ratio: 1.1 });
  await refused("params_conflict", { ...box, allocation_upper_power_ratio: 0.9 });
  await allocate({ ...box, allocation_lower_power_ratio: 1, allocation_upper_power_ratio: 1 }, {
    symbols,
    channel_state,
  });
  const learned = per("learned_checkpoint", { checkpoint_path: "p", checkpoint_sha256: "a".repeat(64) });
  await refused("learned_power_checkpoint_path_missing", { ...learned, checkpoint_path: "" });
  await refused("learned_power_checkpoint_sha_missing", { ...learned, checkpoint_sha256: "A".repeat(64) });
  await refused("learned_power_granularity_invalid", { ...learned, granularity: "global" });
  await refused("learned_power_budget_invalid", { ...learned, budget_mode: "variable_average" });
});

Deno.test("refuses a state of another budget, outdated CSI given as true, and too many symbols", async () => {
  const symbols = symbolsInput(8);
  const refused = (code: string, params: JsonObject, channel_state: Described, count = symbols) =>
    refuses(code, () => allocate(params, { symbols: count, channel_state }));
  await refused("ofdm_scenario_conflict", per("water_filling", { target_power: 2 }), ofdmState([1, 1, F]));
  await refused("delayed_csi_water_filling_policy_invalid", per("water_filling"), reports([1, 2, F]));
  await refused("boundary_count_mismatch", per("fixed"), ofdmState([1, 1, F]), symbolsInput(9));
  // One report serves three OFDM symbols.
  await allocate(per("fixed"), { symbols: symbolsInput(24), channel_state: reports([1, 1, F]) });
  await refused("boundary_count_mismatch", per("fixed"), reports([1, 1, F]), symbolsInput(25));
});
