/**
 * Arguments and results of callables, so that an editor can check the code of this folder, and a helper for its tests; svc
 * itself does not read this file.
 */

/** An array in C order (last axis fastest), as in NumPy; complex data is interleaved: real, imaginary, real, … */
export type ArrayValue =
  | { dtype: "uint8"; shape: number[]; data: Uint8Array }
  | { dtype: "int32"; shape: number[]; data: Int32Array }
  | { dtype: "int64"; shape: number[]; data: BigInt64Array }
  | { dtype: "float32" | "complex64"; shape: number[]; data: Float32Array }
  | { dtype: "float64"; shape: number[]; data: Float64Array };

/**
 * Metadata of an artifact, passed along the link with its array. The metadata of your encoder is in its field
 * `adapter_metadata`, counted as rate beyond 64 bytes an item; image_count, image_height, image_width, image_channels and image_dtype describe the encoded
 * images.
 */
// deno-lint-ignore no-explicit-any -- any JSON
export type Metadata = Record<string, any>;

/** The metadata that a decoder gets: what svc states about the encoded images, and what their encoder added. For tests. */
export function decoderMetadata({ shape, dtype }: ArrayValue, adapter_metadata: Metadata = {}): Metadata {
  const [image_count, image_height, image_width, image_channels] = shape;
  return { image_count, image_height, image_width, image_channels, image_dtype: dtype, adapter_metadata };
}

/** The result of a coder: only the array, or the array with metadata. */
export type CoderResult = ArrayValue | { array: ArrayValue; metadata?: Metadata };

/** The argument of a callable whose call_style is dict. */
export interface Call<Params = Record<string, unknown>> {
  array: ArrayValue;
  metadata: Metadata;
  params: Params;
}

/** A value of an output: an array, an array with metadata for later steps, or rows with ids. */
// deno-lint-ignore no-explicit-any -- any JSON
export type OutputValue = ArrayValue | { array: ArrayValue; metadata?: Metadata } | Record<string, any>[];

/** The result of an operation with ports of its own. A report is made of the metrics. */
export interface OperationResult {
  outputs?: Record<string, OutputValue>;
  metrics?: Record<string, number>;
  per_example?: Record<string, unknown>[];
}

/** The last argument of every call. */
export interface Context {
  /** Aborted when the run is cancelled or the time limit is reached; code that checks it can end in order. */
  readonly signal: AbortSignal;
  /** The bytes of the files under `models` in the manifest, by id. */
  readonly models: Readonly<Record<string, Uint8Array>>;
  /**
   * The step's seed: derive all random numbers from it, or a run cannot be repeated. Null without a parameter `seed`.
   */
  readonly seed: number | bigint | null;
  report_progress(completed: number, total: number, message?: string): void;
  is_cancelled(): boolean;
  /** @throws where the run was cancelled */
  raise_if_cancelled(): void;
  /** Runs a listed ONNX model: inputs and outputs by name. */
  infer(model: string, feeds: Record<string, ArrayValue>): Promise<Record<string, ArrayValue>>;
}

/** One example of a classification dataset: the true label, and the prediction of a classifier. */
export interface Example {
  id: string;
  label: string;
  prediction: string;
}

/** The result of a classification dataset. */
export interface Dataset {
  examples: Example[];
  metadata?: Metadata;
}

/** A row of labels or predictions. */
export interface Item {
  id: string;
  label: string;
}

/** A text and its id. */
export interface TextItem {
  id: string;
  text: string;
}

/** The result of a source of texts; ids are unique, and a text has at most 1 MiB in UTF-8. */
export interface Texts {
  texts: TextItem[];
  metadata?: Metadata;
}

/** The texts of a reader: one for each image, in their order, each at most 1 MiB in UTF-8. */
export interface Reading {
  texts: string[];
  metadata?: Metadata;
}

/** The result of a metric: finite numbers by name, and optional values of each example. */
export interface Score {
  metrics: Record<string, number>;
  per_example?: Record<string, unknown>[];
}
