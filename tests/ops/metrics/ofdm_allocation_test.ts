/** Scores of power allocations: by hand, at the optimum, for short packets, and for transport blocks. */
import assert from "node:assert/strict";
import delivery from "../../../ops/metrics/nr_ldpc_ofdm_delivery.ts";
import finite from "../../../ops/metrics/ofdm_finite_blocklength_allocation.ts";
import scores from "../../../ops/metrics/ofdm_power_allocation.ts";
import allocator from "../../../ops/resource/symbol_power_allocator.ts";
import { recordedPooled } from "../../../lib/contract/metric_metadata.ts";
import type { Metrics, Operation } from "../../../lib/contract/operation.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { complexAwgn, normalApproximationErrorRate } from "../../../lib/numeric/link/finite_blocklength.ts";
import { payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { type GivenInput, refuses, runOperation } from "../harness.ts";
import { decoderReport, ofdmState, powerAllocation, reports } from "../_fixtures/power.ts";

const measure = async (operation: Operation, inputs: Record<string, GivenInput>, params: JsonObject = {}) => {
  const { metrics, outputs } = await runOperation(operation, { inputs, params });
  const of = (id: string) => {
    assert.ok(id in metrics, `${id} was not measured`);
    return Number((metrics as Metrics)[id]);
  };
  return { metrics, of, resource: (id: string) => of(`resource.${id}`), json: outputs.report.json() };
};
const near = (actual: number, expected: number, tolerance = 1e-12) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);

/** Two states of two subcarriers, gains 1, 4 and 0, 9, at N0 = 1. */
const STATE = ofdmState([1, 2, 2], { h: [1, 0, 0, 2, 0, 0, -3, 0], noiseVariance: 1 });

Deno.test("rates, outage and fairness by hand", async () => {
  const allocation = powerAllocation([1, 0.75, 0, 7 / 9], [2, 2]);
  const { resource } = await measure(scores, { state: STATE, allocation }, {
    outage_target_spectral_efficiency_bps_hz: 1.5,
  });
  // SNRs 1, 3, 0, 7: rates 1, 2, 0, 3 bits.
  near(resource("theoretical_shannon_sum_bits_per_ofdm_symbol"), 3);
  near(resource("theoretical_shannon_spectral_efficiency_bps_hz"), 1.5);
  near(resource("theoretical_shannon_min_subcarrier_spectral_efficiency_bps_hz"), 0.5);
  near(resource("theoretical_shannon_min_state_spectral_efficiency_bps_hz"), 1.5);
  near(resource("theoretical_shannon_p05_state_spectral_efficiency_bps_hz"), 1.5);
  near(resource("fairness_jain"), (9 / 10 + 1 / 2) / 2);
  const { resource: uneven } = await measure(scores, {
    state: STATE,
    allocation: powerAllocation([1, 0, 0, 7 / 9], [2, 2]),
  }, {
    outage_target_spectral_efficiency_bps_hz: 1,
  });
  // Efficiencies 0.5 and 1.5.
  assert.equal(uneven("theoretical_outage_probability"), 0.5);
  assert.equal(uneven("theoretical_outage_target_bps_hz"), 1);
  near(uneven("theoretical_shannon_p05_state_spectral_efficiency_bps_hz"), 0.55);
  const { resource: silent } = await measure(scores, {
    state: STATE,
    allocation: powerAllocation([0, 0, 0, 0], [2, 2]),
  });
  assert.equal(silent("fairness_jain"), 1);
});

Deno.test("the oracle, and what is lost against it", async () => {
  const { resource, of } = await measure(scores, { state: STATE, allocation: powerAllocation([1, 1, 1, 1], [2, 2]) });
  // Levels: floors 1 and 1/4 share 2 at 13/8; all power on the one element with gain.
  const oracle = (Math.log2(13 / 8) + Math.log2(13 / 2) + Math.log2(19)) / 4;
  const equal = (1 + Math.log2(5) + Math.log2(10)) / 4;
  near(resource("water_filling_oracle_spectral_efficiency_bps_hz"), oracle);
  near(resource("water_filling_optimality_gap_bps_hz"), oracle - equal);
  near(resource("water_filling_relative_optimality_gap"), 1 - equal / oracle);
  near(of("task.score"), equal / oracle);
  // Powers 5/8, 11/8 and 0, 2.
  near(resource("water_filling_power_rmse"), Math.sqrt((2 * (3 / 8) ** 2 + 2) / 4));
  assert.equal(resource("water_filling_kkt_normalized_residual"), 1);
  near(resource("allocated_power_weighted_channel_gain_lift"), 1);
  near(resource("allocation_power_coefficient_of_variation"), 0);
  assert.equal(resource("nominal_snr_db"), 0);
  assert.equal(resource("average_transmit_power_budget"), 1);
});

Deno.test("water-filling scores as its own oracle; equal power does not", async () => {
  const channel_state = ofdmState([3, 4, 16], { budget: 0.5, noiseVariance: 0.3 });
  const inputs = { symbols: symbolsInput(192), channel_state };
  const params = { granularity: "per_subcarrier", target_power: 0.5 };
  const water = await runOperation(allocator, { inputs, params: { ...params, policy: "water_filling" } });
  const { resource, of } = await measure(scores, { state: channel_state, allocation: water.outputs.allocation });
  near(resource("water_filling_optimality_gap_bps_hz"), 0);
  near(of("task.score"), 1);
  assert.ok(resource("water_filling_kkt_normalized_residual") <= 1e-9);
  for (const id of ["max_abs_error", "max_relative_error"]) assert.ok(resource(`power_constraint.${id}`) <= 1e-9);
  assert.equal(resource("power_constraint.max_negative_violation"), 0);
  assert.ok(resource("active_resource_element_fraction") < 1);
  assert.ok(resource("allocated_power_weighted_channel_gain_lift") > 1);
  const fixed = await runOperation(allocator, { inputs, params: { ...params, policy: "fixed" } });
  const equal = await measure(scores, { state: channel_state, allocation: fixed.outputs.allocation });
  assert.ok(equal.resource("water_filling_optimality_gap_bps_hz") > 0.01);
  assert.ok(equal.resource("water_filling_kkt_normalized_residual") > 0.01);
  // Three grids of four OFDM symbols, which share a realisation.
  const record = recordedPooled(equal.json as JsonObject, "resource.water_filling_power_rmse");
  assert.deepEqual([record!.sums.units, record!.sums.denominator], [3, 192]);
});

/** The exponential integral E1(x) for x < 2: Abramowitz and Stegun, 5.1.11. */
function exponentialIntegral(x: number): number {
  let value = -0.5772156649015329 - Math.log(x);
  for (let k = 1, term = 1; k < 60; k++) {
    term *= -x / k;
    value -= term / k;
  }
  return value;
}

Deno.test("over Rayleigh fading equal power and water-filling reach the capacities in closed form", async () => {
  const states = 40, subcarriers = 4000, snr = 2;
  const h = Generator.seeded(41n).complexNormal64(states * subcarriers, 1);
  const state = ofdmState([1, states, subcarriers], { h, noiseVariance: 1 / snr });
  const { outputs } = await runOperation(allocator, {
    inputs: { symbols: symbolsInput(4), channel_state: state },
    params: { policy: "fixed" },
  });
  const { resource } = await measure(scores, { state, allocation: outputs.allocation });
  // e^(1/g) E1(1/g) log2 e; with knowledge E1(x) log2 e, where e^-x/x - E1(x) = g: Goldsmith and Varaiya, "Capacity of
  // fading channels with channel side information", IEEE Trans. Inf. Theory 43, 1997.
  const equal = Math.exp(1 / snr) * exponentialIntegral(1 / snr) * Math.LOG2E;
  let [low, high] = [1e-3, 1];
  for (let i = 0; i < 60; i++) {
    const x = (low + high) / 2;
    if (Math.exp(-x) / x - exponentialIntegral(x) > snr) low = x;
    else high = x;
  }
  const water = exponentialIntegral(low) * Math.LOG2E;
  assert.ok(water > 1.05 * equal);
  // Rates have a standard deviation of about 1 bit: four standard errors of 160 000 elements.
  near(resource("theoretical_shannon_spectral_efficiency_bps_hz"), equal, 0.01);
  near(resource("water_filling_oracle_spectral_efficiency_bps_hz"), water, 0.01);
});

Deno.test("the budget is that of a state, or of everything where states share it", async () => {
  const powers = [2.5, 0.5, 0.25, 0.75];
  const miss = async (granularity: string) =>
    (await measure(scores, { state: STATE, allocation: powerAllocation(powers, [2, 2], { granularity }) }))
      .resource("power_constraint.max_abs_error");
  near(await miss("per_subcarrier"), 0.5);
  near(await miss("per_symbol"), 0);
  const { resource } = await measure(scores, { state: STATE, allocation: powerAllocation([1, -0.25, 1, 1], [2, 2]) });
  assert.equal(resource("power_constraint.max_negative_violation"), 0.25);
});

Deno.test("what was sent and delivered, by hand", async () => {
  const inputs = {
    state: STATE,
    allocation: powerAllocation([1, 1, 0, 1], [2, 2], {}, [2, 0, 2, 0]),
    symbols: symbolsInput([1, 0, 0, 0, 2, 0]),
    reference: payloadInput([0, 1, 1, 0, 1]),
    candidate: payloadInput([0, 1, 0, 0, 1]),
  };
  const { of, metrics } = await measure(scores, inputs, { transport_block_size_bits: 2 });
  assert.equal(metrics["channel.scheduled_resource_element_count"], 3n);
  // Element 0 alone has power and bits.
  assert.equal(metrics["channel.data_bearing_resource_element_count"], 1n);
  near(of("channel.resource_element_utilization"), 1 / 3);
  near(of("channel.payload_delivery_block_error_rate"), 1 / 3);
  assert.equal(of("channel.payload_delivery_success"), 0);
  near(of("channel.offered_payload_goodput_bits_per_resource_element"), 5 / 3);
  near(of("channel.achieved_payload_goodput_bits_per_resource_element"), 1);
  near(of("channel.goodput_to_theoretical_shannon_efficiency_ratio"), 4 / (1 + Math.log2(5) + Math.log2(10)));
  near(of("channel.payload_energy_efficiency_bits_per_normalized_energy"), 3 / 5);
  near(of("channel.tx_energy_per_delivered_payload_bit"), 5 / 3);
  const whole = await measure(scores, { ...inputs, candidate: inputs.reference });
  assert.equal(whole.of("channel.payload_delivery_success"), 1);
  const lost = await measure(scores, { ...inputs, candidate: payloadInput([]) });
  assert.equal("channel.tx_energy_per_delivered_payload_bit" in lost.metrics, false);
  const { candidate: _candidate, ...half } = inputs;
  await refuses("input_missing", () => measure(scores, half));
  await refuses("boundary_count_mismatch", () => measure(scores, { ...inputs, symbols: symbolsInput(5) }));
  await refuses(
    "boundary_count_mismatch",
    () => measure(scores, { state: STATE, allocation: powerAllocation([1, 1, 1], [1, 3]) }),
  );
});

Deno.test("short packets: one parallel channel a state, by hand", async () => {
  // Gains 1 and 1, then 0 and 4.
  const actual_state = ofdmState([1, 2, 2], { h: [1, 0, 0, 1, 0, 0, 2, 0], noiseVariance: 0.5 });
  const allocation = powerAllocation([1, 3, 1, 1], [2, 2]);
  const inputs = { actual_state, allocation, transmitter_csi: reports([1, 1, 2], { delay: 5 }) };
  for (const include_third_order_term of [true, false]) {
    const { resource } = await measure(finite, inputs, {
      blocklength_channel_uses: 200,
      target_rate_bps_hz: 1.6,
      include_third_order_term,
    });
    const failures = [[2, 6], [0, 8]].map((snrs) => {
      const [a, b] = snrs.map(complexAwgn);
      const channel = { capacity: (a.capacity + b.capacity) / 2, dispersion: (a.dispersion + b.dispersion) / 2 };
      return normalApproximationErrorRate(channel, 1.6, { blocklength: 200, thirdOrder: include_third_order_term });
    });
    assert.ok(failures[0] > 1e-12 && failures[0] < 1e-3 && failures[1] > 0.05 && failures[1] < 0.95);
    near(resource("finite_blocklength.predicted_bler"), (failures[0] + failures[1]) / 2);
    const goodputs = failures.map((failure) => 1.6 * (1 - failure));
    near(resource("finite_blocklength.expected_goodput_bps_hz"), (goodputs[0] + goodputs[1]) / 2);
    near(resource("finite_blocklength.p05_goodput_bps_hz"), goodputs[1] + 0.05 * (goodputs[0] - goodputs[1]));
    near(resource("finite_blocklength.mean_capacity_bps_hz"), (Math.log2(21) + Math.log2(9)) / 4);
    assert.equal(resource("finite_blocklength.blocklength_channel_uses"), 200);
    assert.equal(resource("csi.feedback_delay_ofdm_symbols"), 5);
    near(resource("csi.feedback_delay_seconds"), 5 / 14e3, 1e-15);
  }
});

Deno.test("knowledge against truth: the last report against every OFDM symbol of its grid", async () => {
  const truth = [1, 0, 0, 1, 1, 1, 2, 0];
  const allocation = powerAllocation([1, 1, 1, 1], [2, 2]);
  const compare = (h: number[]) =>
    measure(finite, {
      actual_state: ofdmState([1, 2, 2], { h: truth }),
      allocation,
      transmitter_csi: reports([1, 2, 2], { h: [9, 9, 9, 9, ...h] }),
    });
  const { resource } = await compare([1, 0, 0, 1]);
  // Told 1, j; met 1, j, 1 + j, 2: products 1, 1, 1 - j, 2j; energies 4 and 8; differences j and j - 2.
  near(resource("csi.observed_actual_complex_correlation"), Math.hypot(3, 1) / Math.sqrt(32));
  near(resource("csi.observed_actual_complex_nmse"), 6 / 8);
  // All gains told are 1: no correlation.
  assert.equal("resource.csi.observed_actual_gain_correlation" in (await compare([1, 0, 0, 1])).metrics, false);
  // Told gains 1, 4, 1, 4; met 1, 1, 2, 4.
  near((await compare([1, 0, 0, 2])).resource("csi.observed_actual_gain_correlation"), 3 / Math.sqrt(9 * 6));
  const rotated = await measure(finite, {
    actual_state: ofdmState([1, 1, 2], { h: [1, 0, 0, 2] }),
    allocation: powerAllocation([1, 1], [1, 2]),
    transmitter_csi: reports([1, 1, 2], { h: [0, 1, -2, 0] }),
  });
  near(rotated.resource("csi.observed_actual_complex_correlation"), 1);
  near(rotated.resource("csi.observed_actual_gain_correlation"), 1);
  near(rotated.resource("csi.observed_actual_complex_nmse"), 2);
  await refuses(
    "boundary_count_mismatch",
    () => measure(finite, { actual_state: STATE, allocation, transmitter_csi: reports([2, 1, 2]) }),
  );
});

const BLOCKS = () => ({
  actual_state: ofdmState([1, 2, 8]),
  allocation: powerAllocation(new Float64Array(16).fill(1), [2, 8]),
  decoded_payload: payloadInput(someBits(60)),
  decoder_report: decoderReport([true, false, true], { transport_block_size_bits: 20 }),
  reference_payload: payloadInput(someBits(50)),
  tx_symbols: symbolsInput(12),
});

Deno.test("transport blocks: bits of passed CRCs, without the filler, over the elements and the energy", async () => {
  const { metrics, of, json } = await measure(delivery, BLOCKS());
  const count = (id: string) => metrics[`channel.nr_ldpc_ofdm.${id}`];
  assert.equal(count("transport_block_count"), 3n);
  assert.equal(count("delivered_block_count"), 2n);
  assert.equal(count("crc_failure_count"), 1n);
  assert.equal(count("offered_payload_bit_count"), 50n);
  assert.equal(count("delivered_payload_bit_count"), 30n);
  assert.equal(count("occupied_data_resource_element_count"), 12n);
  near(of("channel.nr_ldpc_ofdm.block_error_rate"), 1 / 3);
  near(of("channel.nr_ldpc_ofdm.data_resource_element_utilization"), 0.75);
  near(of("channel.nr_ldpc_ofdm.goodput_bits_per_resource_element"), 2.5);
  near(of("channel.nr_ldpc_ofdm.energy_per_delivered_bit"), 12 / 30, 1e-6);
  assert.equal(json.undetected_error_block_count, 0);
});

Deno.test("transport blocks: the CRC decides, errors that it missed are told, and nothing delivered has no price", async () => {
  const wrong = someBits(60);
  wrong[0] ^= 1;
  const missed = await measure(delivery, { ...BLOCKS(), decoded_payload: payloadInput(wrong) });
  assert.equal(missed.json.undetected_error_block_count, 1);
  assert.equal(missed.metrics["channel.nr_ldpc_ofdm.delivered_payload_bit_count"], 30n);
  const lost = await measure(delivery, {
    ...BLOCKS(),
    decoder_report: decoderReport([false, false, false], { transport_block_size_bits: 20 }),
  });
  assert.equal(lost.of("channel.nr_ldpc_ofdm.goodput_bits_per_resource_element"), 0);
  assert.equal("channel.nr_ldpc_ofdm.energy_per_delivered_bit" in lost.metrics, false);
});

Deno.test("transport blocks that do not fit what was sent are refused", async () => {
  const refused = (code: string, change: Record<string, GivenInput>) =>
    refuses(code, () => measure(delivery, { ...BLOCKS(), ...change }));
  const size = { transport_block_size_bits: 20 };
  await refused("boundary_count_mismatch", { decoder_report: decoderReport([true, true], size) });
  await refused("boundary_count_mismatch", { decoder_report: decoderReport([true, true, true]) });
  await refused("boundary_count_mismatch", { tx_symbols: symbolsInput(17) });
  await refused("boundary_value_invalid", { decoder_report: decoderReport(["yes"], size) });
  await refused("boundary_count_mismatch", {
    rx_symbols: symbolsInput(11, {}, { kind: "channel.rx_symbols.complex_numpy" }),
  });
});
