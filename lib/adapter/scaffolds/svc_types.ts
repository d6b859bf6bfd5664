/**
 * What svc hands to a callable and what it takes back. Types only: they are here so that an editor can check the code
 * beside them; svc itself does not need this file.
 */

/** An array in C order (last axis fastest), as NumPy has it; complex data is interleaved: real, imaginary, real, … */
export type ArrayValue =
  | { dtype: "uint8"; shape: number[]; data: Uint8Array }
  | { dtype: "int32"; shape: number[]; data: Int32Array }
  | { dtype: "int64"; shape: number[]; data: BigInt64Array }
  | { dtype: "float32" | "complex64"; shape: number[]; data: Float32Array }
  | { dtype: "float64"; shape: number[]; data: Float64Array };

/**
 * What an artifact carries besides its array. It travels along the link; what an encoder of one's own returned as metadata
 * is its member `adapter_metadata`, and image_count, image_height, image_width, image_channels and image_dtype tell what
 * was encoded.
 */
// deno-lint-ignore no-explicit-any -- any JSON
export type Metadata = Record<string, any>;

/** What a coder returns: the array alone, or with metadata. */
export type CoderResult = ArrayValue | { array: ArrayValue; metadata?: Metadata };

/** The argument of a callable whose call_style is dict. */
export interface Call<Params = Record<string, unknown>> {
  array: ArrayValue;
  metadata: Metadata;
  params: Params;
}

/** The last argument of every call. */
export interface Context {
  /** Aborted when the run is cancelled or the time is over; whoever looks at it can end tidily. */
  readonly signal: AbortSignal;
  /** The bytes of the files under `models` in the manifest, by id. */
  readonly models: Readonly<Record<string, Uint8Array>>;
  /** The step's seed: what is random must follow from it, or a run cannot be repeated. Null without a parameter `seed`. */
  readonly seed: number | bigint | null;
  report_progress(completed: number, total: number, message?: string): void;
  /** Runs a listed ONNX model: inputs and outputs by name. */
  infer(model: string, feeds: Record<string, ArrayValue>): Promise<Record<string, ArrayValue>>;
}

/** One example of a classification dataset: what is true, and what somebody's classifier said. */
export interface Example {
  id: string;
  label: string;
  prediction: string;
}

/** What a classification dataset returns. */
export interface Dataset {
  examples: Example[];
  metadata?: Metadata;
}

/** A row of labels or predictions. */
export interface Item {
  id: string;
  label: string;
}

/** What a metric returns: finite numbers by name, and whatever is worth keeping of each example. */
export interface Score {
  metrics: Record<string, number>;
  per_example?: Record<string, unknown>[];
}
