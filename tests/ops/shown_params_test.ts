/**
 * Parameters that a form folds away: each condition names parameters and values that exist, and what it hides changes no bit
 * of the payload.
 */
import assert from "node:assert/strict";
import { imagesArtifact } from "../../lib/artifact/values.ts";
import { isShown, shownWhen } from "../../lib/contract/schema.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import type { Operation } from "../../lib/contract/operation.ts";
import { sha256Hex } from "../../lib/contract/hash.ts";
import jpeg from "../../ops/codec/jpeg.ts";
import webpAvif from "../../ops/codec/webp_avif.ts";
import { createRegistry } from "../../ops/registry.ts";
import { runOperation } from "./harness.ts";

const contracts = (await createRegistry()).contracts();
const propertiesOf = (schema: JsonObject) => (schema.properties ?? {}) as { [name: string]: JsonObject };

Deno.test("conditions of forms name parameters of the operation, and values that these have", () => {
  const wrong: string[] = [];
  for (const { id, params_schema } of contracts) {
    const properties = propertiesOf(params_schema);
    for (const [name, node] of Object.entries(properties)) {
      const { used_with = [], unused_with = [] } = (node["x-svc-ui"] ?? {}) as Record<string, string[] | undefined>;
      for (const other of [...used_with, ...unused_with]) {
        if (properties[other] === undefined || properties[other].default !== undefined) {
          wrong.push(`${id} ${name} ${other}`);
        }
      }
      for (const [controller, wanted] of Object.entries(shownWhen(node) ?? {})) {
        const values = properties[controller]?.enum as unknown[] | undefined;
        const known = properties[controller] !== undefined &&
          (values === undefined || [wanted].flat().every((value) => values.includes(value)));
        if (!known) wrong.push(`${id} ${name} ${controller}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("a parameter is folded with the one that its condition names", () => {
  const estimator = contracts.find(({ id }) => id === "model.ofdm_channel_estimator")!.params_schema;
  const shown = (params: JsonObject) =>
    ["delay_profile", "delay_spread_ns", "tdl_model", "maximum_delay_ns"].filter((name) =>
      isShown(estimator, name, params)
    );
  assert.deepEqual(shown({ method: "least_squares" }), []);
  assert.deepEqual(shown({ method: "lmmse" }), ["delay_profile", "delay_spread_ns"]);
  assert.deepEqual(shown({ method: "lmmse", delay_profile: "uniform" }), ["delay_profile", "maximum_delay_ns"]);
  assert.deepEqual(shown({ method: "lmmse", delay_profile: "tdl" }), ["delay_profile", "delay_spread_ns", "tdl_model"]);
});

Deno.test("the parameters of a trained artifact are folded unless the operation runs one", () => {
  const slots = contracts.filter(({ trained_artifact_abi }) => trained_artifact_abi !== undefined);
  assert.ok(slots.length >= 18, String(slots.length));
  for (const { id, params_schema, trained_artifact_abi } of slots) {
    const chosen = trained_artifact_abi!.binding_params;
    const names = ["artifact_manifest_path", "artifact_package_sha256", "artifact_entrypoint"];
    assert.deepEqual(names.filter((name) => !isShown(params_schema, name, chosen)), [], id);
    assert.deepEqual(names.filter((name) => isShown(params_schema, name, {})), [], id);
  }
});

const shape = { count: 1, height: 48, width: 40, channels: 3, dtype: "uint8" as const };
const data = Uint8Array.from({ length: 48 * 40 * 3 }, (_, i) => (i * 7 + (i >> 4) * 5) % 251);
const IMAGES = { images: { kind: "image.batch.numpy", ...imagesArtifact({ ...shape, data }) } };
const CHANGED: JsonObject = { quality: 20, modulation: "qam64", code_rate: 0.25 };
/** Encoders, each with channel uses per pixel that leave some qualities out, at both values of modulation and code_rate. */
const ENCODERS: [Operation, number][] = [[jpeg[0], 9], [webpAvif[0], 3]];

for (const [operation, channel_uses_per_pixel] of ENCODERS) {
  Deno.test(`${operation.id}: what a form folds changes no bit, and what it shows does`, async () => {
    const bytesOf = async (params: JsonObject) => {
      const { outputs } = await runOperation(operation, { inputs: IMAGES, params });
      return await sha256Hex(Uint8Array.from(outputs.bits.array().data as Uint8Array));
    };
    for (const budget of [{}, { target_bpp: 20 }, { channel_uses_per_pixel }] as JsonObject[]) {
      const base = { wire_format: "compact_binary_v1", ...budget }, before = await bytesOf(base);
      for (const [name, value] of Object.entries(CHANGED)) {
        const shown = isShown(operation.contract.params_schema, name, base);
        const same = await bytesOf({ ...base, [name]: value }) === before;
        assert.equal(same, !shown, `${name} with ${JSON.stringify(budget)}`);
      }
    }
  });
}
