/** A small package that runs, for tests to bend: a receiver that scales symbols, and a codec of two halves. */
import { dirname, join } from "node:path";
import { writeZip } from "../../../lib/artifact/zip_write.ts";
import { defineOperation } from "../../../lib/contract/define.ts";
import { sha256Hex, sha256Json } from "../../../lib/contract/hash.ts";
import { prettyJson } from "../../../lib/contract/json.ts";
import type { OperationAbi, OperationContract } from "../../../lib/contract/operation.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { z } from "../../../lib/contract/zod.ts";
import { scalingModel } from "../../support/onnx_writer.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const slotParams = z.strictObject({
  mode: z.enum(["reference", "learned_artifact"]).default("reference"),
  antennas: z.int().default(2),
  artifact_manifest_path: z.string().default(""),
  artifact_package_sha256: z.string().default(""),
  artifact_entrypoint: z.string().default(""),
});

interface Slot {
  id: string;
  role: string;
  component: string;
  input: string;
  output: string;
}

const SLOTS: Slot[] = [
  { id: "toy.receiver", role: "toy_receiver", component: "receiver", input: "symbols_ri", output: "llr" },
  { id: "toy.encode", role: "encoder", component: "encoder", input: "images", output: "symbols" },
  { id: "toy.decode", role: "decoder", component: "decoder", input: "symbols", output: "images" },
];

const abi = ({ role, component, input, output }: Slot): OperationAbi => ({
  binding_params: {
    mode: "learned_artifact",
    artifact_manifest_path: "trained_artifact.yaml",
    artifact_entrypoint: component,
  },
  component_id: component,
  component_role: role,
  entrypoint_id: component,
  inputs: {
    [input]: { dtype: "float32", shape: ["batch", "antenna", 2] },
    snr_db: { dtype: "float32", shape: ["batch"], optional: true },
  },
  outputs: { [output]: { dtype: "float32", shape: ["batch", "antenna", 2] } },
  required_operation_inputs: ["signal"],
});

const contracts = new Map(
  [...SLOTS, null].map((slot): [string, OperationContract] => {
    const id = slot?.id ?? "toy.plain";
    const { contract } = defineOperation({
      id,
      name: "Toy",
      inputs: { signal: ["channel.bits.numpy"] },
      outputs: { out: "channel.bits.numpy" },
      params: slotParams,
      threadSafe: true,
      ...(slot === null ? {} : { trainedArtifactAbi: abi(slot) }),
      run: () => {
        throw new Error("no test runs this");
      },
    });
    return [id, contract];
  }),
);

/** Contracts of `toy.receiver`, `toy.encode`, `toy.decode`, and `toy.plain`, which has no slot. */
export const contractOf = (id: string): OperationContract | undefined => contracts.get(id);

export type Files = Map<string, Uint8Array>;
/** A document whose members tests change freely. */
// deno-lint-ignore no-explicit-any -- tests bend documents into every shape
export type Bendable = any;

/** What a package is made of before its digests are filled in. */
export interface Parts {
  manifest: Bendable;
  contract: Bendable;
  /** Every file but manifest and contract. */
  files: Files;
}

function entrypoint({ component, input, output }: Slot): JsonObject {
  const value = (name: string) => ({
    name,
    dtype: "float32",
    shape: ["batch", "antenna", 2],
    semantic: `${name} as re, im`,
  });
  return { id: component, component, inputs: [value(input)], outputs: [value(output)] };
}

/** The parts of a sound package that fills the slots named. */
export function parts(...ids: string[]): Parts {
  const slots = SLOTS.filter(({ id }) => (ids.length === 0 ? ["toy.receiver"] : ids).includes(id));
  const joint = slots.length > 1;
  const files: Files = new Map();
  for (const { component, input, output } of slots) {
    files.set(`models/${component}.onnx`, scalingModel(["batch", "antenna", 2], 2, { input, output }));
  }
  files.set("training/loss.csv", new TextEncoder().encode("step,loss\n0,1.0\n"));
  return {
    files,
    contract: {
      schema_version: 1,
      kind: "svc.trainable_slot_contract",
      id: "toy_slot",
      version: "1",
      slots: slots.map((slot) => ({ operation: slot.id, ...abi(slot) })),
    },
    manifest: {
      schema_version: 2,
      kind: "svc.trained_block_artifact",
      id: "toy-artifact",
      name: "Toy artifact",
      contract: { id: "toy_slot", version: "1", path: "slot_contract.json", sha256: "", file_sha256: "" },
      components: slots.map(({ component, role }) => ({
        id: component,
        role,
        path: `models/${component}.onnx`,
        format: "onnx",
        sha256: "",
      })),
      runtime: { backend: "onnxruntime", abi_version: 1, entrypoints: slots.map(entrypoint) },
      application: { mode: joint ? "all_group_bindings" : "single_binding" },
      compatible_operations: slots.map(({ id, component }) => ({
        operation: id,
        runtime_entrypoint: component,
        required_inputs: ["signal"],
        params: { mode: "learned_artifact" },
        ...(joint ? { binding_group: "codec" } : {}),
      })),
      support_files: [{ path: "training/loss.csv", sha256: "", role: "training_log" }],
      source: { origin: "project_trained" },
    },
  };
}

/** Fills in every digest that was left empty and gives all files of the package. */
export function seal({ manifest, contract, files }: Parts, manifestName = "trained_artifact.yaml"): Files {
  const all: Files = new Map(files);
  const contractBytes = new TextEncoder().encode(prettyJson(contract));
  all.set(manifest.contract.path, contractBytes);
  manifest.contract.sha256 ||= sha256Json(contract);
  manifest.contract.file_sha256 ||= sha256Hex(contractBytes);
  for (const listed of [...manifest.components, ...(manifest.support_files ?? [])]) {
    listed.sha256 ||= sha256Hex(all.get(listed.path) ?? "");
  }
  // JSON is YAML.
  all.set(manifestName, new TextEncoder().encode(prettyJson(manifest)));
  return all;
}

/** The files of a sound package with changes to its parts. */
export function packageFiles(change: (parts: Parts) => void = () => {}, ...ids: string[]): Files {
  const made = parts(...ids);
  change(made);
  return seal(made);
}

export function writeFolder(folder: string, files: Files): string {
  for (const [path, bytes] of files) {
    Deno.mkdirSync(dirname(join(folder, path)), { recursive: true });
    Deno.writeFileSync(join(folder, path), bytes);
  }
  return folder;
}

export function zipOf(files: Files): Uint8Array {
  return writeZip([...files].map(([name, bytes]) => ({ name, parts: [bytes] })));
}

/** Calls a body with a fresh folder that is removed afterwards. */
export const inFolder = (body: (folder: string) => void | Promise<void>) => () =>
  body(temporaryFolder("svc-artifact-"));
