/** What the wrapped contracts promise: bits in their declared form through a noisy link, and every other kind. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { loadAdapters } from "../../../lib/adapter/load.ts";
import { WRAPS } from "../../../lib/adapter/manifest_schema.ts";
import { WRAP_CONTRACTS } from "../../../lib/adapter/wraps.ts";
import { bitsOf } from "../../../lib/artifact/values.ts";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { artifactOf, outputOf, runOperation } from "../../ops/harness.ts";
import { FILES, images, manifestOf, operationsOf, withFolder, writeFolder } from "./support.ts";
import { tables } from "../../support/tables.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";

const DATA = tables(import.meta.url);

/** The encoder sends `params.bits` as its manifest holds them; the decoder answers what it received as an image. */
const LINK = DATA.CODE;

for (
  const [storage, order] of [["unpacked_bits", "big"], ["packed_bytes", "big"], ["packed_bytes", "little"]] as const
) {
  Deno.test(`a decoder gets exactly the received bits as ${storage}, ${order} first`, () =>
    withFolder(async (project) => {
      const call = `call_style: dict, bit_storage: ${storage}, bit_order: ${order}`;
      const encoder = manifestOf(["encode"], { call });
      const decoder = manifestOf(["decode"], { call, wraps: "model.external_decode_bits" });
      const schema = "{ type: object, properties: { count: { type: integer }, seed: { type: integer } } }";
      const manifest = (encoder + decoder.slice(decoder.indexOf("\n  - id"))).replace(
        /params_schema: .*/g,
        `params_schema: ${schema}`,
      )
        .replaceAll(
          "adapter: {",
          `fixed_params: { packed: ${storage === "packed_bytes"}, little: ${order === "little"} }\n    adapter: {`,
        );
      const operations = operationsOf(
        writeFolder(join(project, "probe"), { "svc_adapter.yaml": manifest, "code.ts": LINK }),
      );
      const random = Generator.seeded(20n);
      // None, less than a byte, whole bytes and more; a process for each.
      for (const count of FULL_SIZE ? [0, 1, 7, 8, 9, 63, 64, 65, 1000, 1003] : [0, 7, 64, 1003]) {
        const sent = await runOperation(operations.get("probe.encode")!, {
          inputs: { images: images() },
          params: { count, seed: 1 + count },
        });
        const bits = bitsOf(sent.outputs.bits);
        let state = 1 + count;
        const expected = Array.from(
          { length: count },
          () => (state = (state * 1103515245 + 12345) % 2147483648) >> 16 & 1,
        );
        assert.deepEqual([...bits], expected, `${count} bits arrive on the link, one an element, without padding`);
        assert.equal(sent.metrics["codec.bit_count"], BigInt(count));

        const flips = random.random(count);
        const received = bits.map((bit, index) => flips[index] < 0.2 ? 1 - bit : bit);
        const noisy = artifactOf("bits", "channel.payload_bits.numpy", {
          ...outputOf(sent.outputs.bits),
          array: ndarray("uint8", received),
        });
        const { image_count: _sent, ...metadata } = noisy.metadata;
        const given: InputArtifact = { ...noisy, metadata };
        const { outputs } = await runOperation(operations.get("probe.decode")!, { inputs: { bits: given } });
        const seen = [...outputs.images.array().data as Uint8Array];
        assert.deepEqual(seen.splice(-2), [count & 255, count >> 8], "the decoder receives the number of bits");
        const form = storage === "unpacked_bits"
          ? [...received]
          : Array.from({ length: Math.ceil(count / 8) }, (_, byte) =>
            Array.from(
              { length: 8 },
              (_, bit) => (received[8 * byte + bit] ?? 0) << (order === "little" ? bit : 7 - bit),
            )
              .reduce((sum, value) => sum + value, 0));
        assert.deepEqual(seen, form, `${count} bits`);
      }
    }));
}

Deno.test("ports and kinds are those of the built-in contracts", async () => {
  const registry = await createRegistry();
  const known = WRAPS.filter((id) => registry.has(id));
  assert.ok(known.length >= 8);
  for (const id of known) {
    const { contract } = registry.get(id).operation;
    assert.deepEqual(JSON.parse(JSON.stringify(contract.input_kinds)), WRAP_CONTRACTS[id].inputs, id);
    assert.deepEqual(contract.output_kinds, WRAP_CONTRACTS[id].outputs, id);
  }
});

const CODERS = DATA.WRAPPED;

/** Arrays that a contract does not allow, for two images, and the form that the hint names. */
const FORMS: readonly [wraps: string, dtype: string, shapes: number[][], expected: string][] = DATA.SHAPES;

Deno.test("an array of a rank or shape that the contract does not allow is refused, with the expected one as the hint", () =>
  withFolder(async (project) => {
    for (const [index, [wraps, dtype, shapes, expected]] of FORMS.entries()) {
      const functions = shapes.map((_, i) => `shape${i}`);
      const classOf = { uint8: "Uint8Array", int32: "Int32Array" }[dtype] ?? "Float32Array";
      const folder = writeFolder(join(project, `probe${index}`), {
        "svc_adapter.yaml": manifestOf(functions, { wraps }),
        "code.ts": shapes.map((shape, i) => {
          const length = shape.reduce((product, size) => product * size, dtype === "complex64" ? 2 : 1);
          return `export const shape${i} = () => ({ array: { dtype: "${dtype}", shape: [${shape}], ` +
            `data: new ${classOf}(${length}) }, metadata: { codebook_size: 2 } });`;
        }).join("\n"),
      });
      const operations = operationsOf(folder);
      const bits = { array: ndarray("uint8", new Uint8Array(8)) };
      for (const [i, shape] of shapes.entries()) {
        const inputs: Parameters<typeof runOperation>[1] = wraps.includes("decode")
          ? { inputs: { bits } }
          : { inputs: { images: images(2) } };
        await assert.rejects(runOperation(operations.get(`probe.shape${i}`)!, inputs), {
          code: "adapter_result_invalid",
          message: `Cannot use the adapter's result: it is ${dtype} [${shape.join(", ")}]`,
          hint: `Return ${expected}`,
        });
      }
    }
  }));

Deno.test("coders and tasks of every wrapped contract", () =>
  withFolder(async (project) => {
    const row = (name: string, wraps: string, style = "array_params") => `
  - id: probe.${name.toLowerCase()}
    name: ${name}
    wraps: ${wraps}
    adapter: { path: code.ts, callable: ${name}, call_style: ${style} }
    params_schema: { type: object, properties: { level: { type: number, default: 0.5 }, seed: { type: integer } } }`;
    const manifest = `schema_version: 1\nname: probe\nversion: "1"\noperations:${
      [
        row("indices", "model.external_encode_indices"),
        row("badIndex", "model.external_encode_indices"),
        row("noSize", "model.external_encode_indices"),
        row("latents", "model.external_encode_latents"),
        row("infinite", "model.external_encode_latents"),
        row("symbols", "model.deepjscc_external_encode"),
        row("realImag", "model.deepjscc_external_encode"),
        row("back", "model.deepjscc_external_decode", "array"),
        row("tooBright", "model.external_decode_latents", "array"),
        row("examples", "source.external_classification_dataset", "dict"),
        row("twice", "source.external_classification_dataset", "none"),
        row("accuracy", "metrics.external_classification", "dict"),
        row("posing", "metrics.external_classification", "none"),
        row("sentences", "source.external_texts", "params"),
        row("nameless", "source.external_texts", "none"),
        row("long", "source.external_texts", "none"),
        row("signs", "model.external_read_texts", "array"),
        row("mute", "model.external_read_texts", "array"),
        row("lengths", "metrics.external_text", "dict"),
      ].join("")
    }\n`;
    const operations = operationsOf(
      writeFolder(join(project, "probe"), { "svc_adapter.yaml": manifest, "code.ts": CODERS }),
    );
    const call = (name: string, inputs: Parameters<typeof runOperation>[1] = {}) =>
      runOperation(operations.get(`probe.${name.toLowerCase()}`)!, inputs);
    const batch = { inputs: { images: images(2) } };
    const indices = (await call("indices", batch)).outputs.indices;
    assert.deepEqual([...indices.array().data], [0, 1, 2, 3, 4, 5]);
    assert.deepEqual([indices.metadata.codebook_size, indices.metadata.source_item_counts], [6, [3, 3]]);
    const latents = (await call("latents", { ...batch, params: { level: 0.25, seed: 9 } })).outputs.latents;
    assert.deepEqual([...latents.array().data], [0.25, 9, 0, -1]);
    const encoded = await call("symbols", batch), symbols = encoded.outputs.symbols;
    // Four complex symbols for two images of 4 x 4 pixels, as the slot of trained artifacts counts them.
    assert.equal(encoded.metrics["channel.uses_per_pixel"], 4 / 32);
    const realImag = (await call("realImag", batch)).outputs.symbols;
    assert.deepEqual([...symbols.array().data], [1, 2, 3, 4, 5, 6, 7, 8]);
    assert.deepEqual(realImag.array(), symbols.array());
    assert.deepEqual([symbols.metadata.symbol_shape, symbols.metadata.source_item_counts], [[2, 1, 1, 2], [2, 2]]);
    const back = await call("back", { inputs: { symbols: outputOf(symbols) } });
    // The decoder sees the shape that the encoder gave.
    assert.deepEqual([...back.outputs.images.array().data], [0.5, 0.625, 0.75, 0.875]);
    assert.ok(back.metrics["decoder.external_call"] as number >= 0);

    const data = await call("examples");
    const [candidate, reference] = [data.outputs.candidate, data.outputs.reference];
    assert.deepEqual(candidate.json().items, [{ id: "a", label: "3" }, { id: "b", label: "3" }]);
    const scored = await call("accuracy", {
      inputs: { candidate: outputOf(candidate), reference: outputOf(reference) },
    });
    assert.equal(scored.metrics["external.probe.accuracy"], 0.5);
    assert.equal(scored.metrics["external.probe.count"], 2n);

    const { texts } = (await call("sentences", { params: { level: 0.75 } })).outputs;
    assert.deepEqual(texts.json().items, [{ id: "a", text: "über 0.75" }, { id: "b", text: "" }]);
    assert.deepEqual(texts.metadata.text_ids, ["a", "b"]);
    const compared = await call("lengths", { inputs: { candidate: outputOf(texts), reference: outputOf(texts) } });
    assert.equal(compared.metrics["external.probe.characters"], 18n);

    const plain = images(2), named = { ...plain, metadata: { ...plain.metadata, image_ids: ["b", "a"] } };
    const signs = (await call("signs", { inputs: { images: named } })).outputs.texts;
    assert.deepEqual(signs.json().items, [{ id: "b", text: "sign 0" }, { id: "a", text: "sign 1" }]);
    assert.deepEqual((await call("signs", batch)).outputs.texts.metadata.text_ids, ["image_0", "image_1"]);

    const refused: [string, Parameters<typeof runOperation>[1], RegExp][] = [
      ["mute", batch, /does not have 2 texts/],
      ["badIndex", batch, /outside a codebook of 6/],
      ["noSize", batch, /size of its codebook/],
      ["infinite", batch, /Infinity/],
      ["tooBright", { inputs: { latents: outputOf(latents) } }, /lie in \[0, 1\]/],
      ["twice", {}, /two examples have the id "a"/],
      ["nameless", {}, /the text 1 has no id/],
      ["long", {}, /the text of a is longer than 1 MiB/],
      [
        "posing",
        { inputs: { candidate: outputOf(candidate), reference: outputOf(reference) } },
        /not a metric name/,
      ],
    ];
    for (const [name, options, message] of refused) {
      await assert.rejects(call(name, options), { code: "adapter_result_invalid", message }, name);
    }
  }));

Deno.test("adapters are registered all or nothing, and never over a known id", () =>
  withFolder(async (project) => {
    const good = writeFolder(join(project, "good"), FILES);
    const registry = await createRegistry();
    const before = registry.ids();
    const clash = writeFolder(join(project, "clash"), {
      "svc_adapter.yaml": manifestOf(["encode"], { name: "clash" }).replace("clash.encode", "model.jpeg_encode"),
      "code.ts": "export const encode = 1;",
    });
    await assert.rejects(loadAdapters(registry, [{ folder: good }, { folder: clash }], { projectRoot: project }), {
      code: "adapter_operation_conflict",
    });
    assert.deepEqual(registry.ids(), before);
    const missing = writeFolder(join(project, "missing"), {
      "svc_adapter.yaml": manifestOf(["encode"], { name: "missing" }),
      "code.ts": "export const encode = 1;",
    });
    const thrower = writeFolder(join(project, "thrower"), {
      "svc_adapter.yaml": manifestOf(["encode"], { name: "thrower" }),
      "code.ts": "throw new Error('at load');",
    });
    await assert.rejects(
      loadAdapters(registry, [{ folder: good }, { folder: missing }, { folder: thrower }], { projectRoot: project }),
      (error: { diagnostics: { code: string }[] }) => {
        assert.deepEqual(error.diagnostics.map(({ code }) => code), [
          "adapter_callable_missing",
          "adapter_load_failed",
        ]);
        return true;
      },
    );
    assert.deepEqual(registry.ids(), before);
    await assert.rejects(loadAdapters(registry, [{ folder: good }], { projectRoot: project, grants: ["god:env=A"] }), {
      code: "adapter_permission_unsupported",
    });
    await loadAdapters(registry, [{ folder: good }, { folder: good }], { projectRoot: project });
    const { contract } = registry.get("my_codec.encode").operation;
    assert.equal((contract.external_adapter as { wraps: string }).wraps, "model.external_encode_bits");
    assert.equal(contract.execution_safety.thread_safe, false);
    const verify = registry.get("my_codec.encode").verify!;
    assert.deepEqual(verify(), []);
    writeFolder(good, { "lib/half.ts": "export const half = (v: number) => v & 0;\n" });
    assert.deepEqual(verify().map(({ code }) => code), ["adapter_changed"]);
  }));
