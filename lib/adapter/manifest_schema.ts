/** The manifest of an adapter, `svc_adapter.yaml`: its schema, and its types. */
import { RUNNER_ALIASES, RUNNERS } from "../contract/operation.ts";
import { digest, documentCheck, mapping } from "../contract/document.ts";
import type { JsonObject } from "../contract/value.ts";
import { z } from "../contract/zod.ts";

/** `<host>` or `<host>:<port>`; an IPv6 address is in brackets. */
export const NET_REQUEST = "^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\])(?::[0-9]{1,5})?$";
export const ENV_REQUEST = "^[A-Za-z_][A-Za-z0-9_]*$";

/** `numpy>=1.24`, with further conditions after commas. */
const REQUIREMENT =
  "^[A-Za-z0-9][A-Za-z0-9._-]*(?:\\s*(?:==|!=|>=|<=|>|<|~=)\\s*[0-9][0-9A-Za-z.+!*-]*\\s*(?:,(?=.)|$))*$";

/** The built-in contracts that an adapter's operation can wrap. */
export const WRAPS = [
  "model.external_encode_bits",
  "model.external_encode_indices",
  "model.external_encode_latents",
  "model.deepjscc_external_encode",
  "model.external_decode_bits",
  "model.external_decode_indices",
  "model.external_decode_latents",
  "model.deepjscc_external_decode",
  "model.external_read_texts",
  "source.external_classification_dataset",
  "metrics.external_classification",
  "source.external_texts",
  "metrics.external_text",
] as const;
/** `custom` has the ports of its manifest. */
export type Wrap = typeof WRAPS[number] | "custom";

/** Call style of a coder. */
export const ARRAY_CALL_STYLES = ["array_params", "array", "dict"] as const;
/** Call style of a dataset or a metric. */
export const TASK_CALL_STYLES = ["dict", "params", "none"] as const;
export type CallStyle = typeof ARRAY_CALL_STYLES[number] | typeof TASK_CALL_STYLES[number];

const text = z.string().min(1).max(4096);
const list = <T extends z.ZodType>(item: T) => z.array(item).max(64);
const matching = (pattern: string) => z.string().regex(new RegExp(pattern));

/** A declaration of the contract, whose values are checked here. */
const declared = (schema: z.ZodType) => schema.optional() as unknown as z.ZodOptional<z.ZodType<JsonObject>>;

/** Form of bits in arguments and results of the callable: one element per bit, or eight bits per byte. */
const bitStorage = z.enum(["unpacked_bits", "packed_bytes"]);
export type BitStorage = z.infer<typeof bitStorage>;
/** Which bit of a packed byte comes first: the most (big) or the least (little) significant. */
const bitOrder = z.enum(["big", "little"]);
export type BitOrder = z.infer<typeof bitOrder>;

const operation = z.strictObject({
  id: matching("^[a-z][a-z0-9_]*(\\.[a-z0-9_]+)+$"),
  name: text,
  description: text.optional(),
  wraps: text,
  inputs: mapping.optional(),
  outputs: mapping.optional(),
  params: mapping.optional(),
  adapter: z.strictObject({
    path: text.optional(),
    module: matching("^(?:@[a-z0-9_.-]+/)?[A-Za-z0-9_][A-Za-z0-9_./-]*$").optional(),
    callable: matching("^[A-Za-z_$][A-Za-z0-9_$]*$"),
    call_style: z.enum([...new Set([...ARRAY_CALL_STYLES, ...TASK_CALL_STYLES])]).optional(),
    bit_storage: bitStorage.optional(),
    bit_order: bitOrder.optional(),
  }),
  fixed_params: mapping.optional(),
  params_schema: mapping.optional(),
  differentiability: declared(z.strictObject({
    framework: z.enum(["torch", "phylib", "tensorflow", "numpy", "blackbox", "none"]),
    gradient: z.enum(["full", "stop", "surrogate", "none"]),
    trainable_params: z.boolean(),
    exportable: z.boolean(),
    reason: text.optional(),
  })),
  backends: declared(z.strictObject(
    Object.fromEntries([...RUNNERS, ...Object.keys(RUNNER_ALIASES)].map((runner) => [runner, list(text).optional()])),
  )),
  equivalence: declared(z.strictObject({
    type: z.enum(["exact", "numerical", "statistical", "behavioral"]),
    tolerance: z.strictObject({ atol: z.number().min(0), rtol: z.number().min(0) }).optional(),
    reason: text.optional(),
  })),
  formats: declared(z.strictObject({ artifact: text, tensor: text, checkpoint: text.optional() })),
  materializations: z.array(z.strictObject({
    runner: z.enum(RUNNERS as [string, ...string[]]),
    backend: text,
    implementation: text.optional(),
    status: z.enum(["implemented", "planned"]).optional(),
    parameter_bindings: mapping.optional(),
    notes: text.optional(),
  }) as unknown as z.ZodType<JsonObject>).optional(),
});
/** An operation as written. */
export type WrittenOperation = z.infer<typeof operation>;

/** A file that the callable receives as bytes. */
const model = z.strictObject({
  id: matching("^[A-Za-z0-9][A-Za-z0-9_.-]*$").max(200),
  /** Relative to the folder, with `/`. */
  path: text,
  sha256: digest,
});
export type AdapterModel = z.infer<typeof model>;

const manifest = z.strictObject({
  schema_version: z.literal(1),
  name: matching("^[a-z0-9][a-z0-9_-]*$").max(100),
  version: z.string().min(1).max(100),
  description: z.string().max(4096).optional(),
  /** The language of its code. */
  runtime: z.enum(["deno", "python"]).optional(),
  /** What it needs of its interpreter. */
  python: z.strictObject({
    /** Packages with conditions on their versions, such as `numpy>=1.24`. */
    requires: list(matching(REQUIREMENT).max(200)).optional(),
    /** `python3` or `python3.N`; a path comes from the user. */
    interpreter: matching("^python3(?:\\.[0-9]{1,2})?$").optional(),
  }).optional(),
  // The reader refuses other names, with a message for permissions that no adapter can have.
  permissions: z.object({
    /** `host` or `host:port`. */
    net: list(matching(NET_REQUEST).max(253)).optional(),
    /** Paths besides the folder itself, absolute or relative to the folder. */
    read: list(text).optional(),
    /** Names of environment variables. */
    env: list(matching(ENV_REQUEST).max(200)).optional(),
  }).optional(),
  /** Of one call. */
  limits: z.strictObject({
    timeout_s: z.int().min(1).max(3600).optional(),
    /** MiB of the process, beside those of the runtime. */
    memory_mb: z.int().min(16).max(8192).optional(),
  }).optional(),
  models: z.array(model).max(256).optional(),
  /** Origin of the model; recorded, never used. */
  training: z.strictObject({
    source_recipe: text.optional(),
    source_recipe_sha256: text.optional(),
    differentiable_export_id: text.optional(),
    capture_id: text.optional(),
    framework: text.optional(),
    checkpoint_path: text.optional(),
    checkpoint_sha256: text.optional(),
    input_schema: z.unknown().optional(),
    output_schema: z.unknown().optional(),
    model_card: z.unknown().optional(),
  }).optional() as unknown as z.ZodOptional<z.ZodType<JsonObject>>,
  operations: z.array(operation).min(1).max(256),
});
/** A manifest as written; rules between its fields are checked separately. */
export type WrittenManifest = z.infer<typeof manifest>;
type Present<Name extends "python" | "permissions" | "limits"> = Required<NonNullable<WrittenManifest[Name]>>;
/** What an adapter needs of its interpreter. */
export type PythonNeeds = Present<"python">;
/** Requested or granted permissions of an adapter; there are no others. */
export type PermissionSet = Present<"permissions">;
/** The limits of one call. */
export type AdapterLimits = Present<"limits">;
export const checkManifestForm = documentCheck(manifest, "adapter_manifest_invalid");
