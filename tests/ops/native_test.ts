/** Operations on the native extension against the same operations on the portable kernels. */
import assert from "node:assert/strict";
import type { InputArtifact, Requirement } from "../../lib/contract/operation.ts";
import { plainParams } from "../../lib/contract/schema.ts";
import { float, type JsonObject } from "../../lib/contract/value.ts";
import { hasNativeKernels, isRefusal, materialize } from "../../lib/plan/materialize.ts";
import { planRecipe } from "../../lib/plan/planner.ts";
import { compileRecipe } from "../../lib/recipe/compile.ts";
import channel from "../../ops/wireless/channel.ts";
import { createRegistry } from "../../ops/registry.ts";
import { nativeKernels } from "../../lib/numeric/native/kernels.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import demodulate from "../../ops/demodulation/digital_demodulate.ts";
import relay from "../../ops/channel/relay.ts";
import { NATIVE_LIBRARY, needsNative } from "../support/native.ts";
import { FIXTURES } from "./_fixtures/index.ts";
import { materialise, refuses, runOperation } from "./harness.ts";
import { arrayInput, bitsInput, someBits, symbolsInput } from "./inputs.ts";

const [boundary] = relay;

if (NATIVE_LIBRARY !== null) nativeKernels();

/** Operations with native kernels for some parameters. */
const NATIVE = BUILTIN_OPERATIONS.map(({ operation }) => operation).filter(({ definition, contract }) =>
  definition.nativeKernels !== undefined || contract.backends.benchmark_run.includes("cpp")
);

/** Arrays as they lie in the file: exact, where the contract allows a tolerance. */
function arraysOf(output: InputArtifact): [string, string, number[], Uint8Array][] {
  return output.arrayNames.map((name) => {
    const { dtype, shape, data } = output.array(name);
    return [name, dtype, [...shape], new Uint8Array(data.buffer, data.byteOffset, data.byteLength)];
  });
}

Deno.test("the operations of the native extension", () => {
  assert.deepEqual(NATIVE.map(({ id }) => id), [
    "channel.bit_boundary",
    "channel.bit_count_match",
    "channel.bits_to_indices",
    "channel.bits_to_latents",
    "channel.capacity_oracle_digital_link",
    "channel.crc32_check",
    "channel.identity_decoder",
    "channel.identity_encoder",
    "channel.identity_link",
    "channel.indices_to_bits",
    "channel.latents_to_bits",
    "channel.packetize_crc32",
    "channel.packetize_crc32.v2",
    "channel.repetition_decoder",
    "channel.repetition_encoder",
    "demodulation.digital_demodulate",
    "demodulation.identity_demodulate",
    "demodulation.neural_receiver_adapter",
    "metrics.bit_error_rate",
    "metrics.block_error_rate",
    "modulation.digital_modulate",
    "modulation.identity_modulate",
    "modulation.qpsk_pilot_modulate",
    "source.random_bits",
    "wireless.channel",
    "wireless.digital_link",
  ]);
});

for (const operation of NATIVE) {
  Deno.test(`${operation.id} gives the bytes of the portable kernels`, needsNative(), async () => {
    const cases = FIXTURES[operation.id];
    assert.ok(!("skip" in cases));
    let compared = 0;
    for (const { inputs, params, files, model } of cases) {
      const asked = { ...params as JsonObject, data_plane_backend: "cpp_native" };
      const effective = materialise(operation.contract.params_schema, asked);
      const nativeKernels = hasNativeKernels(operation.definition, effective);
      const choice = materialize(operation.contract, effective, {
        runner: "benchmark_run",
        authored: asked,
        nativeKernels,
      });
      const given = await inputs?.() ?? {};
      const problems = operation.definition.check?.(plainParams(effective), new Set(Object.keys(given))) ?? [];
      if (isRefusal(choice) || problems.length > 0) continue;
      const options = { inputs: given, files: await files?.(), model };
      const portable = await runOperation(operation, { ...options, params: params as JsonObject });
      const native = await runOperation(operation, { ...options, params: asked });
      for (const [port, output] of Object.entries(native.outputs)) {
        if (output.arrayNames.length === 0) {
          assert.deepEqual(native.bytes[port], portable.bytes[port], port);
          continue;
        }
        assert.deepEqual(arraysOf(output), arraysOf(portable.outputs[port]), port);
        const { data_plane_backend: plane, ...metadata } = output.metadata;
        const { data_plane_backend: portablePlane, ...expected } = portable.outputs[port].metadata;
        assert.deepEqual(metadata, expected);
        if (portablePlane !== undefined) assert.deepEqual([plane, portablePlane], ["cpp_native", "python_numpy"]);
      }
      assert.deepEqual(native.metrics, portable.metrics);
      assert.deepEqual(native.metadata, portable.metadata);
      compared++;
    }
    assert.ok(compared > 0);
  });
}

Deno.test("bits that are none are refused in the same words on cpp", needsNative(), async () => {
  const wrong = (dtype: "uint8" | "int8", shape: number[]) => ({
    bits: arrayInput(
      "channel.bits.numpy",
      dtype,
      dtype === "int8" ? new Int8Array(4) : Uint8Array.of(0, 1, 7, 1),
      shape,
    ),
  });
  for (
    const [inputs, code] of [
      [wrong("uint8", [4]), "boundary_value_invalid"],
      [wrong("uint8", [2, 2]), "boundary_rank_invalid"],
      [wrong("int8", [4]), "boundary_dtype_invalid"],
    ] as const
  ) {
    await refuses(code, () => runOperation(boundary, { inputs, backend: "cpp" }));
    await refuses(code, () => runOperation(boundary, { inputs }));
  }
  await refuses("boundary_count_mismatch", () =>
    runOperation(boundary, {
      inputs: { bits: bitsInput(someBits(9)) },
      params: { expected_bit_count: 8 },
      backend: "cpp",
    }));
});

Deno.test("padding is cut off, and variances per symbol are heard, on cpp", needsNative(), async () => {
  const received = symbolsInput(33, { modulation: "qpsk", modulation_padding_bits: 1, noise_variance: 0.3 });
  const variances = {
    dtype: "float32",
    shape: [33],
    data: Float32Array.from({ length: 33 }, (_, i) => i / 8),
  } as const;
  for (
    const inputs of [{ rx_symbols: received }, {
      rx_symbols: { ...received, companions: { noise_variance: variances } },
    }]
  ) {
    const options = { inputs, params: { modulation: "qpsk" } };
    const native = await runOperation(demodulate, { ...options, backend: "cpp" });
    const portable = await runOperation(demodulate, options);
    assert.equal(native.outputs.bits.array().data.length, 65);
    for (const port of ["bits", "llr"]) {
      assert.deepEqual(arraysOf(native.outputs[port]), arraysOf(portable.outputs[port]));
    }
  }
});

Deno.test("exact ratios above QPSK are refused on cpp, however cpp was asked for", needsNative(), async () => {
  const inputs = { rx_symbols: symbolsInput(4, { noise_variance: 0.1, modulation: "qam16" }) };
  for (const modulation of ["auto", "qam16"]) {
    const params = { modulation, llr_method: "exact" };
    for (
      const options of [{ params, backend: "cpp" }, { params: { ...params, data_plane_backend: "cpp_native" } }]
    ) await refuses("materialization_unavailable", () => runOperation(demodulate, { inputs, ...options }));
  }
});

Deno.test("white noise of the native extension is that of the generator", needsNative(), async () => {
  const inputs = { symbols: symbolsInput(1001) }, params = { snr_db: float(3), seed: 5 };
  const portable = await runOperation(channel, { inputs, params });
  const native = await runOperation(channel, { inputs, params: { ...params, data_plane_backend: "cpp_native" } });
  assert.deepEqual(native.bytes, portable.bytes);
  assert.deepEqual(native.metrics, portable.metrics);
});

Deno.test("a plan says which kernels a channel takes, and asks for the extension only then", async () => {
  const registry = await createRegistry(), asked: Requirement[] = [];
  const readiness = {
    missing(requirement: Requirement) {
      asked.push(requirement);
      return requirement.kind === "native" ? { reason: "it is not built", hint: "Build it" } : null;
    },
  };
  const plan = (preset: string, kernels: string) => {
    const recipe = {
      schema_version: 1,
      name: "noise",
      execution_profile: "custom",
      steps: [
        { id: "bits", op: "source.random_bits", params: { bit_count: 64, seed: 1 } },
        { id: "enc", op: "channel.identity_encoder", inputs: { bits: "bits.bits" } },
        { id: "mod", op: "modulation.digital_modulate", inputs: { bits: "enc.coded_bits" } },
        {
          id: "air",
          op: "wireless.channel",
          inputs: { symbols: "mod.symbols" },
          params: { channel: preset, data_plane_backend: kernels, seed: 2 },
        },
      ],
    };
    return planRecipe(compileRecipe(recipe, { mode: "strict", registry }), { registry, readiness, singleRun: true });
  };
  assert.equal((await plan("awgn", "auto")).status, "planned");
  assert.deepEqual(asked, []);
  const refused = await plan("awgn", "cpp_native");
  assert.equal(refused.status, "refused");
  assert.deepEqual(asked.map(({ id }) => id), ["cpp_native"]);
  assert.deepEqual(refused.diagnostics.map(({ code, message }) => [code, /not built/.test(message)]), [
    ["materialization_unavailable", true],
  ]);
  const none = await plan("flat_rayleigh", "cpp_native");
  assert.match(none.diagnostics[0].message, /no kernels for it/);
});
