/**
 * What an operation is: one object that holds its contract and the reference implementation, `run`, typed from it.
 */
import type { NdArray } from "../numeric/ndarray.ts";
import type { Generator } from "../numeric/random.ts";
import type { Place } from "./error.ts";
import type { ArtifactKind } from "./kinds.ts";
import type { z } from "./zod.ts";
import type { JsonObject, Value } from "./value.ts";

export type Runner = "benchmark_run" | "dataset_capture" | "differentiable_export";
export const RUNNERS: readonly Runner[] = ["benchmark_run", "dataset_capture", "differentiable_export"];
export type OperationStatus = "implemented" | "planned";

export interface Differentiability {
  framework: "torch" | "phylib" | "tensorflow" | "numpy" | "blackbox" | "none";
  gradient: "full" | "stop" | "surrogate" | "none";
  trainable_params: boolean;
  exportable: boolean;
  reason?: string;
}

/** What two implementations of one operation promise each other. */
export interface Equivalence {
  type: "exact" | "numerical" | "statistical" | "behavioral";
  tolerance?: { atol: number; rtol: number };
  reason?: string;
}

export interface Formats {
  artifact: string;
  tensor: string;
  checkpoint?: string;
}

/** One way to execute an operation under a runner. */
export interface Materialization {
  runner: Runner;
  backend: string;
  /** "default" when left out. */
  implementation?: string;
  /** "implemented" when left out. */
  status?: OperationStatus;
  /** Effective parameters that choose this entry. */
  parameter_bindings?: JsonObject;
  /** Why it is planned, or what it asks for. */
  notes?: string;
}

/** Metadata keys that an input must carry, checked before anything runs. */
export interface MetadataRequirement {
  all_of?: readonly string[];
  any_of?: readonly string[];
}

/** Metadata keys that an output always carries, besides those it inherits from an input. */
export interface MetadataGuarantee {
  keys?: readonly string[];
  /** Input whose metadata travels to this output. */
  from?: string;
}

/** Something that must be present on the machine before a step can run. */
export interface Requirement {
  kind: "dataset" | "model" | "native" | "adapter" | "file";
  id: string;
}

/** A cross-field finding about parameters; `place` is relative to the step's params. */
export interface ParameterProblem {
  message: string;
  place?: Place;
  /** The port that the finding is about, instead of a parameter. */
  input?: string;
  hint?: string;
  /** `params_conflict` unless said otherwise. */
  code?: string;
}

/** An artifact as an operation reads it. Arrays are private copies: changing one is caught and fails the step. */
export interface InputArtifact {
  readonly kind: ArtifactKind;
  readonly metadata: JsonObject;
  /** The named array, or the main one. @throws SvcError when it is not there */
  array(name?: string): NdArray;
  /** Names of all arrays, the main one first. */
  readonly arrayNames: readonly string[];
  /** The document of a JSON artifact, or `bundle.json` of a bundle. */
  json(): JsonObject;
  /** The files of a bundle by name, in private memory; undefined for other artifacts. */
  readonly files?: ReadonlyMap<string, Uint8Array>;
}

/** An artifact as an operation returns it: one main array with companions, a JSON document, or a document with files. */
export interface OutputArtifact {
  /** Main array; in the file it is named after the output port. */
  array?: NdArray;
  /** Further arrays by name. */
  companions?: Record<string, NdArray>;
  json?: JsonObject;
  /** Files of a bundle by name; their digests go into its document. */
  files?: Readonly<Record<string, Uint8Array>>;
  metadata?: JsonObject;
}

/** Step metrics: a number is real-valued, a bigint is a count. */
export type Metrics = Record<string, number | bigint>;

/** The timing vocabulary of comparative metrics. */
export type TimingMetric =
  | "encoder.inference"
  | "encoder.payload_encode"
  | "decoder.payload_decode"
  | "decoder.inference";

export interface OperationResult<Outputs extends string = string> {
  outputs: Record<Outputs, OutputArtifact>;
  metrics?: Metrics;
  /** Facts about this execution for the step row, such as provenance; never timings of artifacts. */
  metadata?: JsonObject;
}

/** Progress of a long step; also a cancellation checkpoint. */
export interface Progress {
  (completed: number, total: number, more?: { phase?: string; unit?: string }): void;
}

export interface Cancellation {
  readonly isCancelled: boolean;
  /** @throws SvcError `operation_canceled` */
  throwIfCancelled(): void;
}

/** The files a source may read. Relative paths start at the project root; a leading `.svc/` means the state directory. */
export interface FileAccess {
  /** @throws SvcError when the path leaves the project, is a symlink, or does not exist */
  read(path: string): Promise<Uint8Array>;
  /**
   * The names of the regular files of a folder, by code point; links and folders are left out.
   *
   * @throws SvcError when the path leaves the project, is a symlink, or does not exist
   */
  list(path: string): Promise<string[]>;
  /** A file of a bundled data set, by data set and path. @throws SvcError `dataset_unavailable` with what brings it */
  bundled(dataset: string, path: string): Promise<Uint8Array>;
}

/** The trained artifact of a step in its learned mode. Only what an operation feeds reaches the model. */
export interface LearnedModel {
  /**
   * Computes the outputs of the entry point, whose names, types, shapes and finiteness are checked against the ABI.
   *
   * @param feeds one array per input of the ABI
   * @param options.rows at most so many rows (axis 0) a call of the model, joined in their order; all at once when left out
   * @throws SvcError `artifact_output_invalid`, `artifact_abi_mismatch`, `operation_canceled`
   */
  run(feeds: Record<string, NdArray>, options?: { rows?: number }): Promise<Record<string, NdArray>>;
  /** What the plan says of the artifact: its digests, its entry point. */
  readonly record: JsonObject;
}

/** A model that an operation runs by a name of its parameters, outside of any slot. */
export interface ModelRequest {
  /** What the operation calls it. */
  role: string;
  /**
   * As the recipe names it: a package that comes with the program, a fetched model, or a file or folder of the project.
   */
  id: string;
  /** Full commit of a fetched model; left out or empty for the one that is there. */
  revision?: string;
  /** SHA-256 that the first file must have. */
  sha256?: string;
  /** Files that must be there, relative to the model's folder; a name that is a single file stands for the first. */
  files: readonly string[];
  /** Files that are used when they are there. */
  optionalFiles?: readonly string[];
  /** Parameter that names the model, for findings; `model_id` when left out. */
  parameter?: string;
  /** The step can do without: whether it needs the model shows in its inputs. Where it is missing it has no files. */
  optional?: boolean;
}

/** A model of a step, hash checked whenever a file is read. */
export interface NamedModel {
  /** What the plan says of it: name, source, revision, and the digest of every file. */
  readonly record: JsonObject;
  /** Whether an optional file is there. */
  has(file: string): boolean;
  /** @throws SvcError `model_unavailable` for a file that is not there, `artifact_hash_mismatch` for other bytes */
  read(file: string): Promise<Uint8Array>;
  /**
   * Opens an ONNX file; it is closed with the step.
   *
   * @throws SvcError as `read` does, `runtime_unavailable` for a graph that cannot be loaded
   */
  open(file: string): Promise<ModelSession>;
}

/** A graph and its tensors. */
export interface ModelSession {
  readonly inputs: readonly ModelTensor[];
  readonly outputs: readonly ModelTensor[];
  /** What the exporter wrote beside the graph, such as names of classes: texts by key. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Version of the standard operators that the graph is written in. */
  readonly opset: number;
  /**
   * Computes every output.
   *
   * @param feeds one array per input
   * @param options.rows at most so many rows (axis 0) a call, joined in their order; all at once when left out
   * @throws SvcError `artifact_abi_mismatch` for feeds that the graph does not take, `operation_canceled`
   */
  run(feeds: Record<string, NdArray>, options?: { rows?: number }): Promise<Record<string, NdArray>>;
}

/** A tensor that a graph takes or gives; open dimensions have a name or null. */
export interface ModelTensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly (number | string | null)[];
}

type Ports = Readonly<Record<string, readonly ArtifactKind[]>>;
type Outputs = Readonly<Record<string, ArtifactKind>>;

export interface RunContext<In extends Ports, Opt extends Ports, Params extends z.ZodObject> {
  readonly inputs: { readonly [K in keyof In]: InputArtifact } & { readonly [K in keyof Opt]?: InputArtifact };
  readonly params: z.output<Params>;
  /** PCG64 stream of the step's seed; asking for it without a `seed` parameter is a defect. */
  readonly generator: Generator;
  readonly progress: Progress;
  readonly cancellation: Cancellation;
  readonly files: FileAccess;
  /** The bound artifact of a learned mode; asking for it in another mode is a defect. */
  readonly learned: LearnedModel;
  /** A model of `models`, by its role; asking for another one is a defect. */
  model(role: string): NamedModel;
  /**
   * Opens an ONNX graph that came in an artifact; it is closed with the step.
   *
   * @throws SvcError `runtime_unavailable` for a graph that cannot be loaded, `artifact_onnx_unsafe` for one that names
   * other files or operators outside the standard
   */
  openGraph(bytes: Uint8Array): Promise<ModelSession>;
  /** The materialisation that the plan chose. */
  readonly backend: string;
  readonly implementation: string;
  /** Threads this step may work on, itself included; they never change a result. */
  readonly threads: number;
}

export interface OperationDefinition<
  In extends Ports = Ports,
  Opt extends Ports = Ports,
  Out extends Outputs = Outputs,
  Params extends z.ZodObject = z.ZodObject,
> {
  id: string;
  /** Sentence case, a few words. */
  name: string;
  description?: string;
  /** "implemented" when left out. */
  status?: OperationStatus;
  inputs?: In;
  optionalInputs?: Opt;
  outputs: Out;
  params: Params;
  /** The parameters as published, where they are known as data and not as a zod object. */
  paramsSchema?: JsonObject;
  /** numpy/none/false/false when left out. */
  differentiability?: Differentiability;
  /** `python` under benchmark_run and dataset_capture when left out. */
  backends?: Partial<Record<Runner, readonly string[]>>;
  /** behavioral when left out. */
  equivalence?: Equivalence;
  /** operation-defined / none when left out. */
  formats?: Formats;
  /** One default entry per runner and backend when left out. */
  materializations?: readonly Materialization[];
  inputMetadataRequirements?: { readonly [K in keyof In]?: MetadataRequirement };
  outputMetadataGuarantees?: { readonly [K in keyof Out]?: MetadataGuarantee };
  /** Whether `run` and everything it calls may overlap with other steps; `false` comes with a comment saying why. */
  threadSafe: boolean;
  /** Metric under which the executor reports how long `run` took, in seconds, for comparing codecs and models. */
  timingMetric?: TimingMetric;
  trainingCapabilities?: { built_in_fine_tuning: boolean; portable_replacement: boolean };
  trainedArtifactAbi?: JsonObject;
  entropyInfo?: JsonObject;
  /** The adapter that the operation belongs to: {name, version, wraps, call_style, permissions_requested}. */
  externalAdapter?: JsonObject;
  /** What schemas cannot say about the parameters together. */
  check?(params: z.output<Params>, connected: ReadonlySet<string>): ParameterProblem[];
  /**
   * Whether `data_plane_backend: cpp_native` picks kernels of the native extension inside the one entry that these
   * parameters choose; never when left out. Where `cpp` is a declared backend, that decides instead.
   */
  nativeKernels?(params: z.output<Params>): boolean;
  /** What must be on the machine for these parameters. */
  requires?(params: z.output<Params>): Requirement[];
  /** Models that these parameters name; they are found and hashed before anything runs. */
  models?(params: z.output<Params>): ModelRequest[];
  run(
    context: RunContext<In, Opt, Params>,
  ): OperationResult<keyof Out & string> | Promise<OperationResult<keyof Out & string>>;
}

/** An operation whose types were forgotten, as registries and schedulers handle it. */
export interface Operation {
  readonly definition: OperationDefinition;
  readonly id: string;
  readonly contract: OperationContract;
}

/** The contract as data; its keys are those of `ops show` and GET /api/ops. */
export interface OperationContract extends JsonObject {
  schema_version: number;
  id: string;
  name: string;
  status: OperationStatus;
  input_kinds: { [port: string]: string[] };
  optional_input_kinds: { [port: string]: string[] };
  output_kinds: { [port: string]: string };
  params_schema: JsonObject;
  backends: { [runner: string]: string[] };
  materializations: JsonObject[];
  execution_safety: JsonObject;
  [key: string]: Value;
}
