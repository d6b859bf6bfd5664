/** The linear analog image code: round trip through noise and fading, channel uses, refusals. */
import assert from "node:assert/strict";
import decoder from "../../../ops/joint_coding/linear_analog_decode.ts";
import encoder from "../../../ops/joint_coding/linear_analog_encode.ts";
import { symbolsArtifact } from "../../../lib/artifact/values.ts";
import { pictures } from "../_fixtures/deepjscc.ts";
import { refuses, runOperation } from "../harness.ts";

const RX = "channel.rx_symbols.complex_numpy";
const ALL = { channel_uses_per_pixel: 4 };

async function sent(images = pictures(), params = {}) {
  const { outputs, metrics } = await runOperation(encoder, { inputs: { images }, params });
  const { data } = outputs.symbols.array(), { metadata } = outputs.symbols;
  const received = (more = {}, symbols = data as Float32Array) => ({
    symbols: { kind: RX, ...symbolsArtifact(symbols, { ...metadata, noise_variance: 1e-9, ...more }) },
  });
  return { data: data as Float32Array, metadata, metrics, received };
}

for (const [channels, dtype] of [[3, "uint8"], [3, "float32"], [1, "uint8"]] as const) {
  Deno.test(`${dtype} images of ${channels} channels come back exactly from a turned and shrunk signal`, async () => {
    const images = pictures(channels, dtype), { data, received } = await sent(images, ALL);
    // Times 0.3j.
    const turned = data.map((_, at) => at % 2 === 0 ? -0.3 * data[at + 1] : 0.3 * data[at - 1]);
    const { outputs } = await runOperation(decoder, { inputs: received({}, turned) });
    const back = outputs.images.array();
    assert.deepEqual([back.dtype, back.shape], [dtype, [2, 13, 17, channels]]);
    const furthest = Math.max(
      ...Array.from(back.data as Uint8Array, (v, at) => Math.abs(v - Number(images.array!.data[at]))),
    );
    assert.ok(furthest <= (dtype === "uint8" ? 0 : 1e-3), `${furthest}`);
    assert.equal(outputs.images.metadata.analog_block_size, undefined);
  });
}

Deno.test("channel uses are kept, with the symbols of each image as a source item", async () => {
  const { metadata, metrics, data } = await sent();
  assert.equal((metrics as Record<string, number>)["channel.uses_per_pixel"], 110 / 221);
  assert.deepEqual(metadata.source_item_counts, [110, 110]);
  assert.equal(metadata.analog_pilot_count, 1);
  assert.deepEqual([data[0], data[1], data[220], data[221]], [1, 0, 1, 0], "each image starts with its pilot");
});

Deno.test("the estimated size is that of the symbols, also when all coefficients fit", async () => {
  for (const channel_uses_per_pixel of [0.5, 4]) {
    const { data } = await sent(pictures(), { channel_uses_per_pixel });
    const params = { channel_uses_per_pixel, block_size: 16, pixel_correlation: 0.95, pilot_fraction: 0.01 };
    const images = { bytes: 2 * 13 * 17 * 3, shape: [2, 13, 17, 3], exact: true };
    assert.deepEqual(encoder.definition.estimate!(params, { images }), { symbols: [["complex64", data.length / 2]] });
  }
});

Deno.test("too much noise gives the mean of the prior; an unknown noise variance is reported", async () => {
  const { received } = await sent();
  const { outputs } = await runOperation(decoder, {
    inputs: received({ noise_variance: 1e12 }),
    params: { coefficient_variances: "prior" },
  });
  assert.ok((outputs.images.array().data as Uint8Array).every((value) => value === 127 || value === 128));
  const assumed = await runOperation(decoder, { inputs: received({ noise_variance: null }) });
  assert.match(JSON.stringify(assumed.metadata), /noise_variance_assumed/);
});

Deno.test("refused: too few symbols, an alpha channel, symbols of another code", async () => {
  const { received } = await sent();
  const image = (channels: number, side: number) => ({
    images: {
      ...pictures(),
      array: {
        dtype: "uint8" as const,
        shape: [1, side, side, channels],
        data: new Uint8Array(side * side * channels),
      },
    },
  });
  await refuses("params_conflict", () => runOperation(encoder, { inputs: image(3, 1) }));
  await refuses("boundary_shape_invalid", () => runOperation(encoder, { inputs: image(4, 16) }));
  await refuses("boundary_count_mismatch", () => runOperation(decoder, { inputs: received({ image_count: 3 }) }));
  await refuses(
    "boundary_count_mismatch",
    () => runOperation(decoder, { inputs: received({ image_height: 9000000 }) }),
  );
  await refuses(
    "boundary_count_mismatch",
    () => runOperation(decoder, { inputs: received({ analog_pilot_count: 110 }) }),
  );
  await refuses(
    "input_metadata_missing",
    () => runOperation(decoder, { inputs: received({ analog_block_size: null }) }),
  );
});
