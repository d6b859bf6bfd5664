/** A small registry for tests of the planner: every kind of contract that the planner looks at, and nothing that runs. */
import { defineOperation } from "../../../lib/contract/define.ts";
import type { Operation, OperationDefinition, Requirement } from "../../../lib/contract/operation.ts";
import { BITS, BITS_ANY, IMAGES, PAYLOAD_BITS, REPORT, RX_SYMBOLS, SYMBOLS } from "../../../lib/contract/kinds.ts";
import { Registry } from "../../../lib/contract/registry.ts";
import { seedParameter } from "../../../lib/contract/schema.ts";
import { z } from "../../../lib/contract/zod.ts";
import { PlanCache } from "../../../lib/plan/cache.ts";
import type { SourceHashes } from "../../../lib/plan/implementation_source.ts";
import { type PlanOptions, planRecipe, type PlanResult } from "../../../lib/plan/planner.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";

const run = () => {
  throw new Error("Toy operations do not run");
};
const kernels = z.enum(["auto", "python_numpy", "cpp_native"]).default("auto");

/** An operation that has a contract and does not run. The metadata of its first input travels to all outputs. */
export function standIn(
  id: string,
  parts: Pick<OperationDefinition, "inputs" | "outputs" | "backends">,
): Operation {
  const [from] = Object.keys(parts.inputs ?? {});
  const travelling = Object.fromEntries(Object.keys(parts.outputs).map((output) => [output, { from }]));
  const guarantees = from === undefined ? {} : { outputMetadataGuarantees: travelling };
  return defineOperation({ name: id, params: z.looseObject({}), threadSafe: true, run, ...guarantees, ...parts, id });
}

const bits = defineOperation({
  id: "toy.bits",
  name: "Bits",
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({ count: z.int().positive().default(8), seed: seedParameter(0), data_plane_backend: kernels }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  outputMetadataGuarantees: { bits: { keys: ["bit_count", "origin.id"] } },
  threadSafe: true,
  run,
});

/** Passes metadata on; checks two parameters against each other. */
const relay = defineOperation({
  id: "toy.relay",
  name: "Relay",
  inputs: { bits: BITS_ANY },
  optionalInputs: { hint: BITS_ANY },
  outputs: { bits: BITS },
  params: z.strictObject({ low: z.number().default(0), high: z.number().default(1) }),
  outputMetadataGuarantees: { bits: { keys: ["relayed"], from: "bits" } },
  threadSafe: true,
  check: ({ low, high }, connected) => [
    ...(low > high ? [{ message: "Cannot use a low above high", place: ["low"], hint: "Lower it" }] : []),
    ...(connected.has("hint") && low === 0.25
      ? [{ message: "Cannot use this low with a hint", place: ["low"], code: "ofdm_scenario_conflict" as const }]
      : []),
  ],
  run,
});

/** Keeps the kind of its input. */
const through = defineOperation({
  id: "toy.through",
  name: "Through",
  inputs: { signal: [BITS, SYMBOLS, RX_SYMBOLS] },
  outputs: { signal: { sameKindAs: "signal" } },
  params: z.strictObject({}),
  outputMetadataGuarantees: { signal: { from: "signal" } },
  threadSafe: true,
  run,
});

/** Forgets all metadata. */
const wash = defineOperation({
  id: "toy.wash",
  name: "Wash",
  inputs: { bits: BITS_ANY },
  outputs: { bits: BITS },
  params: z.strictObject({}),
  threadSafe: true,
  run,
});

const needy = defineOperation({
  id: "toy.needy",
  name: "Needs metadata",
  inputs: { bits: BITS_ANY },
  outputs: { report: REPORT },
  params: z.strictObject({}),
  inputMetadataRequirements: { bits: { all_of: ["origin"], any_of: ["relayed", "washed"] } },
  threadSafe: true,
  run,
});

const modulate = defineOperation({
  id: "toy.modulate",
  name: "Modulate",
  inputs: { bits: BITS_ANY },
  outputs: { symbols: SYMBOLS },
  params: z.strictObject({
    modulation: z.enum(["bpsk", "qpsk"]).default("qpsk"),
    roll_off: z.number().default(0.5).meta({ "x-svc-effective-when": { modulation: "bpsk" } }).optional(),
    rotation_deg: z.number().default(45).meta({ "x-svc-effective-when": { modulation: "qpsk" } }).optional(),
    data_plane_backend: kernels,
  }),
  backends: { benchmark_run: ["numpy", "cpp"], dataset_capture: ["numpy"] },
  materializations: [
    ...["bpsk", "qpsk"].map((modulation) => ({
      runner: "benchmark_run" as const,
      backend: "numpy",
      implementation: `numpy_${modulation}`,
      parameter_bindings: { modulation },
    })),
    { runner: "benchmark_run", backend: "cpp", implementation: "cpp_qpsk", parameter_bindings: { modulation: "qpsk" } },
    { runner: "dataset_capture", backend: "numpy", implementation: "numpy_any" },
  ],
  threadSafe: true,
  run,
});

const channel = defineOperation({
  id: "toy.channel",
  name: "Channel",
  inputs: { symbols: [SYMBOLS] },
  outputs: { rx_symbols: RX_SYMBOLS },
  params: z.strictObject({
    channel: z.enum(["awgn", "fading", "tdl"]).default("awgn"),
    snr_db: z.number().default(6),
    seed: seedParameter(),
    wireless_backend: z.enum(["auto", "numpy", "phylib"]).default("auto"),
    data_plane_backend: kernels,
  }),
  backends: {
    benchmark_run: ["numpy", "phylib"],
    dataset_capture: ["numpy"],
    differentiable_export: ["torch"],
  },
  materializations: [
    { runner: "benchmark_run", backend: "numpy", implementation: "numpy_any" },
    {
      runner: "benchmark_run",
      backend: "numpy",
      implementation: "numpy_fading",
      parameter_bindings: { channel: "fading" },
    },
    {
      runner: "benchmark_run",
      backend: "numpy",
      implementation: "numpy_tdl",
      status: "planned",
      parameter_bindings: { channel: "tdl" },
      notes: "Comes with the physical layer",
    },
    {
      runner: "benchmark_run",
      backend: "phylib",
      implementation: "phylib_awgn",
      parameter_bindings: { channel: "awgn" },
      notes: "Grade of TR 38.901",
    },
    { runner: "dataset_capture", backend: "numpy", implementation: "numpy_any" },
    { runner: "differentiable_export", backend: "torch", implementation: "torch_any" },
  ],
  twin: true,
  threadSafe: true,
  run,
});

/** The runtime `training_interface` exists only for export. */
const learned = defineOperation({
  id: "toy.learned",
  name: "Learned",
  inputs: { symbols: [SYMBOLS, RX_SYMBOLS] },
  outputs: { report: REPORT },
  params: z.strictObject({
    runtime: z.enum(["training_interface", "identity", "checkpoint"]).default("training_interface"),
    model: z.string().default(""),
  }),
  backends: { benchmark_run: ["numpy", "torch"], differentiable_export: ["torch"] },
  twin: true,
  materializations: [
    {
      runner: "benchmark_run",
      backend: "numpy",
      implementation: "identity",
      parameter_bindings: { runtime: "identity" },
    },
    {
      runner: "benchmark_run",
      backend: "torch",
      implementation: "checkpoint",
      parameter_bindings: { runtime: "checkpoint" },
    },
    {
      runner: "differentiable_export",
      backend: "torch",
      implementation: "endpoint",
      parameter_bindings: { runtime: "training_interface" },
    },
  ],
  threadSafe: true,
  requires: ({ model }) => [
    ...(model === "" ? [] : [{ kind: "model", id: model } satisfies Requirement]),
    ...(model === "heavy" ? [{ kind: "native", id: "accelerator" } satisfies Requirement] : []),
  ],
  run,
});

const photos = defineOperation({
  id: "toy.photos",
  name: "Photos",
  outputs: { images: IMAGES },
  params: z.strictObject({ dataset: z.string().default("bundled") }),
  threadSafe: true,
  requires: ({ dataset }) => dataset === "bundled" ? [] : [{ kind: "dataset", id: dataset }],
  run,
});

/** Two entries that the same parameters match equally well. */
const ambiguous = defineOperation({
  id: "toy.ambiguous",
  name: "Ambiguous",
  outputs: { bits: BITS },
  params: z.strictObject({ a: z.int().default(1), b: z.int().default(1) }),
  materializations: [
    { runner: "benchmark_run", backend: "python", implementation: "by_a", parameter_bindings: { a: 1 } },
    { runner: "benchmark_run", backend: "python", implementation: "by_b", parameter_bindings: { b: 1 } },
  ],
  threadSafe: true,
  run,
});

const planned = defineOperation({
  id: "toy.planned",
  name: "Planned",
  status: "planned",
  outputs: { bits: BITS },
  params: z.strictObject({}),
  materializations: [{ runner: "benchmark_run", backend: "python", status: "planned", notes: "Comes later" }],
  threadSafe: true,
  run,
});

const imageMetric = defineOperation({
  id: "metrics.image_reconstruction",
  name: "Image metric",
  inputs: { images: [IMAGES] },
  outputs: { report: REPORT },
  params: z.strictObject({}),
  threadSafe: true,
  run,
});

export const TOYS = [
  bits,
  relay,
  wash,
  through,
  needy,
  modulate,
  channel,
  learned,
  photos,
  ambiguous,
  planned,
  imageMetric,
];

/** A registry of the toys. */
export function toyRegistry(): Registry {
  const registry = new Registry();
  registry.register(TOYS.map((operation) => ({ operation, moduleUrl: `file:///toys/${operation.id}.ts` })));
  return registry;
}

/** Digests that never change, so that plans can be compared with stored ones. */
export const toySources: SourceHashes = {
  describe: (urls) =>
    Promise.resolve(
      new Map([...urls].map((url) => [url, { source_module: url.split("/").pop()!, source_sha256: "0".repeat(64) }])),
    ),
};

/** Compiles and plans a recipe of toys in strict mode, with a cache of its own. */
export function planToys(raw: unknown, options: Partial<PlanOptions> = {}): Promise<PlanResult> {
  const registry = options.registry ?? toyRegistry();
  const compilation = compileRecipe(raw, { mode: "strict", registry });
  return planRecipe(compilation, {
    registry,
    implementationSources: toySources,
    cache: new PlanCache(),
    ...options,
  });
}

/** A recipe of steps `[id, op, params, inputs]`. */
export function recipeOf(
  steps: [id: string, op: string, params?: unknown, inputs?: Record<string, string>][],
  more: Record<string, unknown> = {},
) {
  return {
    name: "toy",
    ...more,
    steps: steps.map(([id, op, params = {}, inputs = {}]) => ({ id, op, params, inputs })),
  };
}

/** A link of four steps that plans. */
export const LINK = recipeOf([
  ["data", "toy.bits", { count: 16 }],
  ["relay", "toy.relay", {}, { bits: "data.bits" }],
  ["modulator", "toy.modulate", { modulation: "bpsk" }, { bits: "relay.bits" }],
  ["wireless_channel", "toy.channel", { snr_db: 4.5 }, { symbols: "modulator.symbols" }],
], { metadata: { seed: 23 } });
