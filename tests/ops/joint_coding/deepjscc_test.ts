/** The joint source-channel coder around its networks: order of planes and symbols, forms of pictures, refusals. */
import assert from "node:assert/strict";
import type { OutputArtifact } from "../../../lib/contract/operation.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import decoder from "../../../ops/joint_coding/deepjscc_external_decode.ts";
import encoder from "../../../ops/joint_coding/deepjscc_external_encode.ts";
import { blockModel, LEARNED, pictures, sampleModel } from "../_fixtures/deepjscc.ts";
import { type Model, refuses, runOperation } from "../harness.ts";
import { symbolsInput } from "../inputs.ts";

const RX = "channel.rx_symbols.complex_numpy";

async function encoded(channels: 1 | 3 = 3, dtype: "uint8" | "float32" = "uint8") {
  const images = pictures(channels, dtype);
  const { outputs, metrics } = await runOperation(encoder, { inputs: { images }, params: LEARNED, model: sampleModel });
  return { images, symbols: { ...outputs.symbols, kind: RX }, metrics };
}

Deno.test("symbols stand in C order, real parts before imaginary parts in the network", async () => {
  const { images, symbols, metrics } = await encoded();
  const { data, shape } = symbols.array();
  assert.deepEqual(shape, [2 * 2 * 2 * 3]);
  assert.deepEqual(symbols.metadata.symbol_shape, [2, 2, 2, 3]);
  assert.deepEqual(symbols.metadata.source_item_counts, [12, 12]);
  assert.ok(Math.abs((metrics as Record<string, number>)["channel.uses_per_pixel"] - 12 / 221) < 1e-12);
  const sample = (image: number, row: number, column: number, channel: number) =>
    Math.fround(Number(images.array!.data[((image * 13 + 8 * row) * 17 + 8 * column) * 3 + channel]) / 255);
  // Symbol (image 1, channel 0, row 1, column 2): red as real part, blue as imaginary part.
  const at = 12 + 1 * 3 + 2;
  assert.deepEqual([data[2 * at], data[2 * at + 1]], [sample(1, 1, 2, 0), sample(1, 1, 2, 2)]);
  // The second channel: green and the constant.
  assert.deepEqual([data[2 * (at + 6)], data[2 * (at + 6) + 1]], [sample(1, 1, 2, 1), 1]);
});

for (const [channels, dtype] of [[3, "uint8"], [3, "float32"], [1, "uint8"]] as const) {
  Deno.test(`${dtype} pictures of ${channels} channels come back in their form, at the sampled pixels exactly`, async () => {
    const { images, symbols } = await encoded(channels, dtype);
    const { outputs } = await runOperation(decoder, { inputs: { symbols }, params: LEARNED, model: blockModel });
    const back = outputs.images.array();
    assert.equal(back.dtype, dtype);
    assert.deepEqual(back.shape, [2, 13, 17, channels]);
    for (let image = 0; image < 2; image++) {
      for (const y of [0, 8]) {
        for (const x of [0, 8, 16]) {
          const at = ((image * 13 + y) * 17 + x) * channels;
          assert.ok(Math.abs(Number(back.data[at]) - Number(images.array!.data[at])) < 1e-6);
        }
      }
    }
    assert.equal("symbol_shape" in outputs.images.metadata, false);
  });
}

Deno.test("what is no output of the encoder, or too small, is refused", async () => {
  const { symbols } = await encoded();
  const decode = (metadata: Record<string, unknown>, model = blockModel) =>
    runOperation(decoder, {
      inputs: { symbols: { ...symbols, metadata: { ...symbols.metadata, ...metadata } as never } },
      params: LEARNED,
      model,
    });
  await refuses("boundary_value_invalid", () => decode({ symbol_shape: [24] }));
  await refuses("boundary_count_mismatch", () => decode({ symbol_shape: [2, 2, 2, 4] }));
  await refuses("artifact_output_invalid", () => decode({ image_height: 17 }));
  await refuses("artifact_output_invalid", () =>
    runOperation(encoder, {
      inputs: { images: pictures() },
      params: LEARNED,
      model: ({ images: { shape: [count] } }) => ({
        symbols_ri: ndarray("float32", new Float32Array(count * 3), [count, 3, 1, 1]),
      }),
    }));
});

Deno.test("what does not run here says why, and an artifact is pinned by its digest", () => {
  for (const { definition } of [encoder, decoder]) {
    const planned = (definition.materializations ?? []).filter(({ status }) => status === "planned");
    assert.ok(planned.every(({ notes }) => notes));
    assert.match(String(planned.find(({ backend }) => backend === "external")?.notes), /svc adapter scaffold/);
    const params = { runtime: "learned_artifact", artifact_manifest_path: "", artifact_package_sha256: "" };
    assert.equal(definition.check?.(params as never, new Set()).length, 1);
  }
});

Deno.test("networks are told the SNR that each side assumes, and the rate", async () => {
  const fed: Record<string, number[]>[] = [];
  const kept = (model: Model): Model => (feeds) => {
    const scalars = Object.entries(feeds).filter(([, { shape }]) => shape.length === 1);
    fed.push(Object.fromEntries(scalars.map(([name, { data }]) => [name, Array.from(data as Float32Array)])));
    return model(feeds);
  };
  const params = { ...LEARNED, snr_db: 3, channel_uses_per_pixel: 0.25 };
  await runOperation(encoder, { inputs: { images: pictures() }, params, model: kept(sampleModel) });
  const decode = (metadata: JsonObject, companions: OutputArtifact["companions"], more: JsonObject = {}) => {
    const symbols = symbolsInput(24, { symbol_shape: [2, 2, 2, 3], ...metadata }, { kind: RX, companions });
    return runOperation(decoder, { inputs: { symbols }, params: { ...LEARNED, ...more }, model: kept(blockModel) });
  };
  await decode({ noise_variance: 0.1 }, {});
  const perSymbol = Float32Array.from({ length: 24 }, (_, i) => i < 12 ? (i % 2 === 0 ? 0.5 : 1.5) : 0.01);
  await decode({}, { noise_variance: ndarray("float32", perSymbol) });
  await decode({ noise_variance: 0.1 }, {}, { snr_db: -2 });
  const { metadata } = await decode({}, {});
  assert.deepEqual(
    fed.map((scalars) =>
      Object.fromEntries(
        Object.entries(scalars).map(([name, values]) => [name, values.map((value) => Math.round(1e4 * value) / 1e4)]),
      )
    ),
    [
      { snr_db: [3, 3], channel_uses_per_pixel: [0.25, 0.25] },
      { snr_db: [10, 10] },
      { snr_db: [0, 20] },
      { snr_db: [-2, -2] },
      { snr_db: [0, 0] },
    ],
  );
  assert.equal((metadata as { warnings: { code: string }[] }).warnings[0].code, "noise_variance_assumed");
});
