import assert from "node:assert/strict";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import type { Operation } from "../../../lib/contract/operation.ts";
import digitalDemodulate from "../../../ops/demodulation/digital_demodulate.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import ofdmWaveform from "../../../ops/modulation/ofdm_waveform.ts";
import randomBits from "../../../ops/source/random_bits.ts";
import channel from "../../../ops/wireless/channel.ts";
import digitalLink from "../../../ops/wireless/digital_link.ts";
import mimoOfdmChannel from "../../../ops/wireless/mimo_ofdm_channel.ts";
import multipathWaveform from "../../../ops/wireless/multipath_waveform.ts";
import { type GivenInput, runOperation, type RunResult } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

/** Enough for every step to share its work between threads. */
const BITS = 2 ** 20;

/** Random bits over a link, each step on so many threads. */
async function link(preset: string, threads: number): Promise<RunResult[]> {
  const run = async (operation: Operation, params: JsonObject, inputs: Record<string, GivenInput> = {}) => {
    // A number of threads that is none shows that the operation passes the number on.
    await assert.rejects(
      runOperation(operation, { params, inputs, threads: 1.5 }),
      /on 1.5 threads/,
      operation.definition.id,
    );
    return await runOperation(operation, { params, inputs, threads });
  };
  const source = await run(randomBits, { bit_count: BITS });
  const mapped = await run(digitalModulate, {}, { bits: source.outputs.bits });
  const received = await run(channel, { channel: preset }, { symbols: mapped.outputs.symbols });
  const demapped = await run(digitalDemodulate, {}, { rx_symbols: received.outputs.rx_symbols });
  const whole = await run(digitalLink, { channel: preset }, { bits: source.outputs.bits });
  return [source, mapped, received, demapped, whole];
}

for (const preset of ["awgn", "flat_rayleigh"]) {
  Deno.test(`${preset}: a long link has the same bytes on one thread and on three`, async () => {
    const [one, three] = [await link(preset, 1), await link(preset, 3)];
    one.forEach(({ bytes }, step) => {
      for (const [name, alone] of Object.entries(bytes)) assert.deepEqual(three[step].bytes[name], alone, name);
    });
  });
}

Deno.test("channels in motion have the same bytes on one thread and on three", async () => {
  const motion = { time_variation: "doppler", mobility_kmh: float(120), snr_db: float(10), seed: 5 };
  const mapped = await runOperation(digitalModulate, { inputs: { bits: payloadInput(someBits(BITS / 8)) } });
  const symbols = mapped.outputs.symbols, sent = await runOperation(ofdmWaveform, { inputs: { symbols } });
  const links: [Operation, JsonObject, Record<string, GivenInput>][] = [
    [channel, { channel: "ofdm_tdl", ofdm_fft_size: 64 }, { symbols }],
    [channel, { channel: "ofdm_cdl", ofdm_fft_size: 64, receiver_processing: "none" }, { symbols }],
    [mimoOfdmChannel, { channel_model: "tdl", ofdm_fft_size: 64 }, { symbols }],
    [multipathWaveform, {}, { waveform: sent.outputs.waveform }],
  ];
  for (const [operation, params, inputs] of links) {
    const run = (threads: number) => runOperation(operation, { inputs, params: { ...motion, ...params }, threads });
    const [one, three] = [await run(1), await run(3)];
    for (const [name, alone] of Object.entries(one.bytes)) assert.deepEqual(three.bytes[name], alone, name);
  }
});
