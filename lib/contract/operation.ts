/** An operation is one object with its contract and its reference implementation `run`, typed from the contract. */
import type { Dtype, NdArray } from "../numeric/array/ndarray.ts";
import type { Generator } from "../numeric/random/random.ts";
import type { Code, Place } from "./error.ts";
import type { ArtifactKind, Kind, WrittenMetadata } from "./kinds.ts";
import type { z } from "./zod.ts";
import type { JsonObject } from "./value.ts";

export type Runner = "benchmark_run" | "dataset_capture" | "differentiable_export";
export const RUNNERS: readonly Runner[] = ["benchmark_run", "dataset_capture", "differentiable_export"];
/** Names of runners in declarations of backends, besides their own. */
export const RUNNER_ALIASES = { benchmark: "benchmark_run", capture: "dataset_capture" } as const;
export type OperationStatus = "implemented" | "planned";

export type Differentiability = {
  framework: "torch" | "phylib" | "tensorflow" | "numpy" | "blackbox" | "none";
  gradient: "full" | "stop" | "surrogate" | "none";
  trainable_params: boolean;
  exportable: boolean;
  reason?: string;
};

/** Agreement between two implementations of one operation. */
export type Equivalence = {
  type: "exact" | "numerical" | "statistical" | "behavioral";
  tolerance?: { atol: number; rtol: number };
  reason?: string;
};

export type Formats = {
  artifact: string;
  tensor: string;
  checkpoint?: string;
};

/** One way to execute an operation under a runner. */
export interface Materialization {
  runner: Runner;
  backend: string;
  /** Default "default". */
  implementation?: string;
  /** Default "implemented". */
  status?: OperationStatus;
  /** Effective parameters that select this entry. */
  parameter_bindings?: JsonObject;
  /** The reason of a planned entry, or a requirement. */
  notes?: string;
}

/** Metadata keys that an input must have, checked before the run. */
export type MetadataRequirement = {
  all_of?: string[];
  any_of?: string[];
};

/** Metadata keys that an output always has, besides those taken over from an input. */
export type MetadataGuarantee = {
  keys?: string[];
  /** Input whose metadata this output takes over. */
  from?: string;
};

/** A part of the machine that a step needs before it runs. */
export type Requirement = {
  kind: "dataset" | "model" | "native" | "runtime" | "adapter" | "file";
  id: string;
};

/** A finding about several parameters; `place` is relative to the step's params. */
export interface ParameterProblem {
  message: string;
  place?: Place;
  /** The port of the finding, instead of a parameter. */
  input?: string;
  hint?: string;
  /** Default `params_conflict`. */
  code?: Code;
}

/** An input artifact of an operation. Arrays are private copies; a changed input fails the step. */
export interface InputArtifact {
  readonly kind: ArtifactKind;
  readonly metadata: JsonObject;
  /**
   * The named array, or the main one.
   * @param inPlace the caller only reads the array and gives it to no other code: it may then lie in shared memory
   * @throws SvcError for an unknown name
   */
  array(name?: string, inPlace?: boolean): NdArray;
  /** Names of all arrays, the main one first. */
  readonly arrayNames: readonly string[];
  /** The document of a JSON artifact, or `bundle.json` of a bundle. */
  json(): JsonObject;
  /** The files of a bundle by name, in private memory; undefined for other artifacts. */
  readonly files?: ReadonlyMap<string, Uint8Array>;
}

/** An output artifact: one main array with companions, a JSON document, or a document with files. */
export interface OutputArtifact {
  /** Main array; its name in the file is the output port. */
  array?: NdArray;
  /** Arrays of items of several shapes, in place of the main array; named `item_000000`, `item_000001`, …. */
  items?: readonly NdArray[];
  /** Further arrays by name. */
  companions?: Record<string, NdArray>;
  json?: JsonObject;
  /** Files of a bundle by name; their digests go into its document. */
  files?: Readonly<Record<string, Uint8Array>>;
  metadata?: JsonObject;
}

/** Step metrics: a number is real-valued, a bigint is a count. */
export type Metrics = Record<string, number | bigint>;

/** Metric names for times in comparisons. */
export type TimingMetric =
  | "encoder.inference"
  | "encoder.payload_encode"
  | "decoder.payload_decode"
  | "decoder.inference";

export interface OperationResult<Out extends Outputs = PlainOutputs> {
  /** Metadata that the kind of an output declares is required. */
  outputs: { [Name in keyof Out]: OutputArtifact & (Out[Name] extends Kind<infer F> ? WrittenMetadata<F> : unknown) };
  metrics?: Metrics;
  /** Facts about this execution for the step row, such as provenance. */
  metadata?: JsonObject;
}

/** Progress of a long step; each call is a cancellation checkpoint. */
export interface Progress {
  (completed: number, total: number, more?: { phase?: string; unit?: string }): void;
}

export interface Cancellation {
  readonly isCancelled: boolean;
  /** @throws SvcError `operation_canceled` */
  throwIfCancelled(): void;
}

/** Progress and cancellation of a context, under both of their names. */
export const checkpoints = (progress: Progress, cancellation: Cancellation) => ({
  progress,
  cancellation,
  report_progress: progress,
  is_cancelled: () => cancellation.isCancelled,
  raise_if_cancelled: () => cancellation.throwIfCancelled(),
});

/** Without reports of progress, and never cancelled: for tests of operations and stored vectors. */
export const UNWATCHED = checkpoints(() => {}, { isCancelled: false, throwIfCancelled() {} });

/** File access of sources. Relative paths start at the project root; a leading `.svc/` means the state directory. */
export interface FileAccess {
  /** @throws SvcError for a path that leaves the project, is a symlink, or does not exist */
  read(path: string): Promise<Uint8Array>;
  /** As `read`, in blocks of at most 1 MiB, for files of any size. */
  blocks(path: string): AsyncIterable<Uint8Array>;
  /**
   * The names of the regular files of a folder, by code point, without links and folders.
   * @throws SvcError for a path that leaves the project, is a symlink, or does not exist
   */
  list(path: string): Promise<string[]>;
  /** A file of a bundled dataset. @throws SvcError `dataset_unavailable` with the command that fetches it */
  bundled(dataset: string, path: string): Promise<Uint8Array>;
}

/** The trained artifact of a step in its learned mode. The model receives only the operation's feeds. */
export interface LearnedModel {
  /**
   * Computes the outputs of the entry point; names, dtypes, shapes and finiteness are checked against the ABI.
   * @param feeds one array per input of the ABI; optional ones that the model lacks are not passed on
   * @param options.rows maximum rows (axis 0) per call of the model, joined in order; default all
   * @throws SvcError `artifact_output_invalid`, `artifact_abi_mismatch`, `operation_canceled`
   */
  run(feeds: Record<string, NdArray>, options?: { rows?: number }): Promise<Record<string, NdArray>>;
  /** Whether the model has an input. */
  takes(name: string): boolean;
  /** The plan's record of the artifact: its digests and entry point. */
  readonly record: JsonObject;
}

/** A model that an operation names in its parameters, not a trained artifact. */
export interface ModelRequest {
  /** Name within the operation. */
  role: string;
  /** Name in the recipe: a bundled package, a fetched model, or a file or folder of the project. */
  id: string;
  /** Full commit of a fetched model; empty for the fetched one. */
  revision?: string;
  /** Required SHA-256 of the first file. */
  sha256?: string;
  /** Required files, relative to the model's folder; an id of a single file stands for the first. */
  files: readonly string[];
  /** Optional files. */
  optionalFiles?: readonly string[];
  /** Parameter that names the model, for findings; default `model_id`. */
  parameter?: string;
  /** Whether the step may run without the model, depending on its inputs. A missing model has no files. */
  optional?: boolean;
}

/** A model of a step; every read checks the digest. */
export interface NamedModel {
  /** The plan's record: name, source, revision, and the digest of every file. */
  readonly record: JsonObject;
  /** Whether an optional file exists. */
  has(file: string): boolean;
  /** @throws SvcError `model_unavailable` for a missing file, `artifact_hash_mismatch` for changed bytes */
  read(file: string): Promise<Uint8Array>;
  /**
   * Opens an ONNX file; the session is closed with the step.
   * @throws SvcError as for `read`, `runtime_unavailable` for a graph that cannot be loaded
   */
  open(file: string): Promise<ModelSession>;
}

/** The native runtime for a graph. */
export interface GraphRuntime {
  readonly accelerator: "onnxruntime-node";
  /** Its threads; the result may depend on them. */
  readonly threads: number;
}

export interface ModelSession {
  readonly inputs: readonly ModelTensor[];
  readonly outputs: readonly ModelTensor[];
  /** The exporter's metadata of the graph, such as class names: texts by key. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Version of the standard operators. */
  readonly opset: number;
  /**
   * Computes every output.
   * @param feeds one array per input
   * @param options.rows maximum rows (axis 0) per call, joined in order; default all
   * @throws SvcError `artifact_abi_mismatch` for feeds that do not match the graph, `operation_canceled`
   */
  run(feeds: Record<string, NdArray>, options?: { rows?: number }): Promise<Record<string, NdArray>>;
}

/** An input or output tensor of a graph; open dimensions have a name or null. */
export interface ModelTensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly (number | string | null)[];
}

/**
 * The accepted kinds of an input. Learned code does not receive a secret one, such as the true state of a simulation.
 */
export type Port =
  | readonly (ArtifactKind | Kind)[]
  | { readonly kinds: readonly (ArtifactKind | Kind)[]; readonly secret: true };
export type Ports = Readonly<Record<string, Port>>;
/** An output with the kind of the artifact at a required input, whose accepted kinds have one file format. */
export interface SameKind {
  readonly sameKindAs: string;
}
export type Outputs = Readonly<Record<string, ArtifactKind | Kind | SameKind>>;
export type PlainPorts = Readonly<Record<string, readonly ArtifactKind[]>>;
export type PlainOutputs = Readonly<Record<string, ArtifactKind>>;

/**
 * The arrays of an output, the main one first; or bytes, where the number of elements depends on data; or null, where files
 * that only a run reads determine the size.
 */
export type OutputEstimate = readonly (readonly [dtype: Dtype, ...shape: number[]])[] | number | null;

/** Bytes of an output, and the shape of its main array if known. */
export interface OutputSize {
  bytes: number;
  shape?: readonly number[];
}

export interface RunContext<In extends Ports, Opt extends Ports, Params extends z.ZodObject> {
  readonly inputs: { readonly [K in keyof In]: InputArtifact } & { readonly [K in keyof Opt]?: InputArtifact };
  readonly params: z.output<Params>;
  /** PCG64 stream of the step's seed; use without a `seed` parameter is a defect. */
  readonly generator: Generator;
  readonly progress: Progress;
  readonly cancellation: Cancellation;
  /** As {@link progress}, by the name that the contexts of all languages share; so are the next two. */
  readonly report_progress: Progress;
  is_cancelled(): boolean;
  /** @throws SvcError `operation_canceled` */
  raise_if_cancelled(): void;
  readonly files: FileAccess;
  /** The bound artifact of a learned mode; use in another mode is a defect. */
  readonly learned: LearnedModel;
  /** A model of `models`, by its role; another role is a defect. */
  model(role: string): NamedModel;
  /**
   * Opens an ONNX graph of an artifact; the session is closed with the step.
   * @param runtime the native runtime, for an operation that requires it; default the sandbox
   * @throws SvcError `runtime_unavailable` for a graph that cannot be loaded, `artifact_onnx_unsafe` for references to
   *   other files or operators outside the standard
   */
  openGraph(bytes: Uint8Array, runtime?: GraphRuntime): Promise<ModelSession>;
  /** The backend of the chosen materialisation. */
  readonly backend: string;
  readonly implementation: string;
  /** Threads this step may use, its own included; the result does not depend on it. */
  readonly threads: number;
}

/** An input that arrives in blocks: kind, metadata and length; `array` refuses. */
export interface StreamInput extends InputArtifact {
  /** Number of elements. */
  readonly length: number;
  readonly shape: readonly number[];
  /** Forms of its companions, which arrive in blocks too. */
  readonly companions?: StreamedArray["companions"];
}

/** An array that is made in blocks, with its metadata as `run` returns them. */
export interface StreamedArray {
  dtype: Dtype;
  /** Number of elements. */
  length: number;
  /** Default one axis. */
  shape?: readonly number[];
  /** Further arrays of the output, which are made in blocks too. */
  companions?: Readonly<Record<string, Pick<NdArray, "dtype" | "shape">>>;
  metadata: JsonObject;
}

/** An operation under way that works in blocks. */
export interface OperationStream<Ports extends string = string> {
  /** The outputs that are made in blocks. */
  readonly arrays: Readonly<Record<string, StreamedArray>>;
  /** Outputs that are complete before the first block. */
  readonly whole?: Readonly<Record<string, OutputArtifact>>;
  /** Elements of each input that belong together: a block has a multiple of them, except at the end. */
  readonly unit?: Readonly<Record<string, number>>;
  /**
   * The next block of every array, as much as the blocks of the inputs give. Without it, the values of inputs have no use.
   * @param blocks the next block of every input, and as `input.companion` of its companions, to be read only until the next call;
   *   form and values of an input are as its kind asks, which is checked where a block is made, but not those of companions
   * @param count elements that a source makes: a multiple of 24, except at the end
   * @returns data by output, and by `output.companion`, valid until the next call
   */
  next?(
    blocks: Readonly<Record<Ports, NdArray>> & Readonly<Record<string, NdArray>>,
    count: number,
  ): Readonly<Record<string, NdArray["data"]>>;
  /** What is known after the last block: outputs without arrays, metrics, facts for the step row. */
  end?(): Partial<OperationResult<PlainOutputs>>;
}

/** How an operation works in blocks, with the same results as `run` from one thread. */
export interface Streaming<In extends Ports, Params extends z.ZodObject> {
  /** Parameters with which it can; default all. */
  allows?(params: z.output<Params>): boolean;
  /** Inputs that it reads before the first block, optional ones included: outputs that are complete by then. */
  whole?: readonly string[];
  /** Optional inputs that arrive in blocks. */
  optional?: readonly string[];
  /** Companions that its inputs may have; with others, steps run one after another. */
  companions?: readonly string[];
  /** Outputs that are complete after the last block only: steps that read them are in no chain with this one. */
  late?: readonly string[];
  /** Least bytes of the outputs of a chain that it takes part in; default that of all chains. */
  least?: number;
  /** @returns null for inputs that need the whole arrays */
  open(
    context:
      & Pick<RunContext<In, Record<never, never>, Params>, "params" | "generator" | "backend" | "threads">
      & { readonly inputs: { readonly [K in keyof In]: StreamInput } & { readonly [port: string]: StreamInput } },
  ): OperationStream<keyof In & string> | null | Promise<OperationStream<keyof In & string> | null>;
}

/**
 * What an operation does with weighted inputs: `symbol` computes each output element from one symbol; `block` computes it
 * from one block of symbols; `metric` applies the weights. Other operations refuse them.
 */
export type ImportanceRole = "symbol" | "block" | "metric";

export interface OperationDefinition<
  In extends Ports = PlainPorts,
  Opt extends Ports = PlainPorts,
  Out extends Outputs = PlainOutputs,
  Params extends z.ZodObject = z.ZodObject,
> {
  id: string;
  /** In sentence case. */
  name: string;
  description?: string;
  /** Default "implemented". */
  status?: OperationStatus;
  inputs?: In;
  optionalInputs?: Opt;
  outputs: Out;
  params: Params;
  /** The published parameter schema of an operation without a zod object. */
  paramsSchema?: JsonObject;
  /** Default numpy/none/false/false. */
  differentiability?: Differentiability;
  /** Default those of `materializations`; without any, `python` under benchmark_run and dataset_capture. */
  backends?: Partial<Record<Runner | keyof typeof RUNNER_ALIASES, readonly string[]>>;
  /** Default behavioral. */
  equivalence?: Equivalence;
  /** Default operation-defined / none. */
  formats?: Formats;
  /** Default one entry per runner and backend. */
  materializations?: readonly Materialization[];
  inputMetadataRequirements?: { readonly [K in keyof In]?: MetadataRequirement };
  /** Guaranteed metadata of outputs besides those of their kinds. */
  outputMetadataGuarantees?: { readonly [K in keyof Out]?: MetadataGuarantee };
  /** Whether `run` may overlap with other steps; `false` has a comment with the shared state. */
  threadSafe: boolean;
  /**
   * For thread-safe operations whose output elements depend on the input elements at their place alone, and on carried
   * state: long chains of them run in constant memory. Without it, arrays are held as a whole.
   */
  streaming?: Streaming<In, Params>;
  /** Treatment of weighted inputs of importance sampling; without it they are refused. */
  importance?: ImportanceRole;
  /** Metric for the time of `run` in seconds, for comparisons of codecs and models. */
  timingMetric?: TimingMetric;
  /**
   * Whether training projects contain the operation as a PyTorch module (lib/capture/python/twins), which computes the
   * same with gradients. Its exports for these backends are then implemented, torch alone for true; all others are planned.
   */
  twin?: boolean | readonly string[];
  /** Whether the operation fine-tunes its network itself; it then supplies `fineTune`. */
  fineTuningSupported?: boolean;
  fineTune?: FineTuningProvider;
  trainedArtifactAbi?: OperationAbi;
  entropyInfo?: JsonObject;
  /** The adapter of the operation: {name, version, wraps, call_style, permissions_requested}. */
  externalAdapter?: JsonObject;
  /** Checks of parameters together that schemas cannot express. */
  check?(params: z.output<Params>, connected: ReadonlySet<string>): ParameterProblem[];
  /**
   * Whether `data_plane_backend: cpp_native` selects native kernels inside the entry that these parameters select;
   * default never. A declared `cpp` backend takes precedence.
   */
  nativeKernels?: true | ((params: z.output<Params>) => boolean);
  /**
   * Sizes of the outputs, from the parameters and the sizes of the inputs; required for sources. An omitted output
   * counts with the size of the largest input.
   */
  estimate?(
    params: z.output<Params>,
    inputs: { readonly [port: string]: OutputSize },
  ): { readonly [K in keyof Out]?: OutputEstimate };
  /** Required parts of the machine for these parameters. */
  requires?(params: z.output<Params>): Requirement[];
  /** Models that these parameters name; they are found and hashed before the run. */
  models?(params: z.output<Params>): ModelRequest[];
  run(
    context: RunContext<In, Opt, Params>,
  ): OperationResult<Out> | Promise<OperationResult<Out>>;
}

/** What an operation that fine-tunes its network itself is given. */
interface FineTuningRequest {
  /** Effective parameters of the step. */
  params: JsonObject;
  /** Folder of a captured dataset, and the split to train on. */
  dataset: { folder: string; split: string };
  progress: Progress;
  cancellation: Cancellation;
}

/** Fine-tunes the network of an operation. @returns the folder of a trained-artifact package */
export type FineTuningProvider = (request: FineTuningRequest) => Promise<{ package_folder: string }>;

/** A definition without types: kinds are strings, and guarantees include the metadata of kinds. */
export interface PlainDefinition extends OperationDefinition {
  /** Inputs withheld from learned code. */
  readonly secretInputs: readonly string[];
  /** Outputs with the kind of an input; `outputs` names the first kind of that input. */
  readonly outputSameKindAs: Readonly<Record<string, string>>;
}

/** An operation for registries and schedulers. */
export interface Operation {
  readonly definition: PlainDefinition;
  readonly id: string;
  readonly contract: OperationContract;
}

export type MaterializationRow = {
  runner: Runner;
  backend: string;
  implementation: string;
  status: OperationStatus;
  parameter_bindings?: JsonObject;
  notes?: string;
};

/** A tensor of an artifact: content, unit and sign in `meaning`. Models may lack an input that is optional. */
type AbiTensor = { dtype: Dtype; shape: (number | string)[]; meaning?: string; optional?: true };

/** Requirements of an operation for the artifact of its learned mode. */
export type OperationAbi = {
  component_id: string;
  component_role: string;
  entrypoint_id: string;
  /** Tensors by name; a text in a shape names a dimension that has one size throughout an entry point. */
  inputs: { [name: string]: AbiTensor };
  outputs: { [name: string]: AbiTensor };
  required_operation_inputs: string[];
  binding_params: JsonObject;
};

/** The contract as data, with the keys of `ops show` and GET /api/ops. */
export type OperationContract = {
  schema_version: number;
  id: string;
  name: string;
  description?: string;
  status: OperationStatus;
  input_kinds: { [port: string]: string[] };
  optional_input_kinds: { [port: string]: string[] };
  /** Of an output with the kind of an input, the first kind that the input accepts. */
  output_kinds: { [port: string]: string };
  /** Inputs whose kind an output has; absent without such outputs. */
  output_same_kind_as?: { [output: string]: string };
  input_metadata_requirements: { [port: string]: MetadataRequirement };
  output_metadata_guarantees: { [port: string]: MetadataGuarantee };
  params_schema: JsonObject;
  differentiability: Differentiability;
  backends: { [runner: string]: string[] };
  equivalence: JsonObject;
  formats: Formats;
  materializations: MaterializationRow[];
  /** Values of enumerated parameters with which no run of this operation is possible, each with its reason. */
  unavailable_values?: { [parameter: string]: { [value: string]: string } };
  execution_safety: { thread_safe: boolean; dispatch_instance: string; undeclared_parallel_policy: string };
  entropy_info?: JsonObject;
  trained_artifact_abi?: OperationAbi;
  external_adapter?: JsonObject;
  /** Whether the operation is the user's: of an own file or an adapter. No part of the digest of the contract. */
  own?: true;
  training_capabilities: { built_in_fine_tuning: boolean; portable_replacement: boolean };
};
