import assert from "node:assert/strict";
import communicationResourceAccounting from "../../../ops/channel/accounting.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { bitsInput, payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { refuses, runOperation } from "../harness.ts";

const [accounting, accountingV2, accountingV3] = communicationResourceAccounting;

const QPSK = { modulation: "qpsk", bits_per_symbol: 2, modulation_padding_bits: 1 };

function link(sizes: Partial<Record<"payload" | "framed" | "coded" | "symbols", number>> = {}, more: {
  payload?: JsonObject;
  symbols?: JsonObject;
} = {}) {
  const { payload = 100, framed = 151, coded = 453, symbols = 227 } = sizes;
  return {
    payload_bits: payloadInput(someBits(payload), more.payload),
    framed_bits: payloadInput(someBits(framed)),
    coded_bits: bitsInput(someBits(coded), {}, "channel.coded_bits.numpy"),
    symbols: symbolsInput(symbols, more.symbols ?? QPSK),
  };
}

Deno.test("the tally is exact, and rates follow from its counts", async () => {
  const { metrics, outputs } = await runOperation(accounting, {
    inputs: link({}, { payload: { image_count: 2, image_height: 5, image_width: 4 } }),
    params: { pilot_symbol_count: 10, physical_header_symbol_count: 3, total_channel_use_count: 256 },
  });
  assert.deepEqual(metrics, {
    "channel.payload_bit_count": 100n,
    "channel.transmitted_bit_count": 454n,
    "channel.channel_use_count": 256n,
    "channel.code_rate": 151 / 453,
    "channel.bits_per_symbol": 2,
    "channel.pilot_overhead_fraction": 10 / 256,
    "channel.effective_payload_bits_per_channel_use": 100 / 256,
    "channel.uses_per_pixel": 256 / 40,
    "rate.framed_bpp": 151 / 40,
    "rate.coded_bpp": 453 / 40,
    "rate.padded_bpp": 454 / 40,
  });
  assert.deepEqual(outputs.report.json().accounting, {
    payload_bits: 100,
    framing_bits: 51,
    framed_bits: 151,
    fec_bits: 302,
    coded_bits: 453,
    modulation_padding_bits: 1,
    transmitted_bits: 454,
    pilot_symbols: 10,
    header_symbols: 3,
    data_symbols: 227,
    grid_padding_symbols: 16,
    channel_uses: 256,
  });
});

Deno.test("without a stated total the channel uses are pilots, header and data", async () => {
  const { metrics } = await runOperation(accounting, { inputs: link(), params: { pilot_symbol_count: 3 } });
  assert.equal(metrics["channel.channel_use_count"], 230n);
  assert.equal(metrics["rate.framed_bpp"], undefined);
});

Deno.test("the effective payload counts the items that arrived", async () => {
  const inputs = link({}, { payload: { source_item_counts: [60, 30, 10] } });
  const received = (failed_item_indices: number[]) => ({
    ...inputs,
    delivered_bits: payloadInput(someBits(100), { failed_item_indices }),
  });
  const effective = async (failed: number[]) => {
    const { metrics, outputs } = await runOperation(accountingV3, { inputs: received(failed) });
    const { accounting: facts } = outputs.report.json() as { accounting: JsonObject };
    return [Number(metrics["channel.effective_payload_bits_per_channel_use"]) * 227, facts.delivered_payload_bits].map(
      Number,
    );
  };
  assert.deepEqual(await effective([]), [100, 100]);
  assert.deepEqual(await effective([1]), [70, 70]);
  assert.deepEqual(await effective([0, 1, 2]), [0, 0]);
  await refuses("boundary_accounting_mismatch", () => runOperation(accountingV3, { inputs: received([3]) }));
  const silent = { ...inputs, delivered_bits: payloadInput(someBits(100)) };
  await refuses("input_metadata_missing", () => runOperation(accountingV3, { inputs: silent }));
});

Deno.test("counts that do not add up are refused", async () => {
  const account = (inputs: ReturnType<typeof link>, params: JsonObject = {}) =>
    runOperation(accounting, { inputs, params });
  await refuses("boundary_accounting_mismatch", () => account(link({ framed: 99 })));
  await refuses("boundary_accounting_mismatch", () => account(link({ coded: 150 })));
  await refuses("boundary_accounting_mismatch", () => account(link({ symbols: 226 })));
  await refuses("boundary_accounting_mismatch", () => account(link(), { total_channel_use_count: 226 }));
  await refuses(
    "boundary_accounting_mismatch",
    () => account(link(), { total_channel_use_count: 229, pilot_symbol_count: 3 }),
  );
  await refuses("boundary_count_negative", () => account(link({}, { payload: { native_codec_bit_count: 101 } })));
});

Deno.test("the strict version tallies the same from framed bits of their own kind", async () => {
  const inputs = link();
  const strict = { ...inputs, framed_bits: { ...inputs.framed_bits, kind: "channel.framed_bits.numpy" } };
  const [first, second] = [
    await runOperation(accounting, { inputs }),
    await runOperation(accountingV2, { inputs: strict }),
  ];
  assert.deepEqual(second.metrics, first.metrics);
});
