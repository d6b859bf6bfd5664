/** Messages between the scheduler and its worker threads. Typed documents travel as JSON text, arrays as shared memory. */

/** An input handed to a step: the file image in shared memory, or the path to read it from. */
export interface TaskInput {
  port: string;
  kind: string;
  bytes: Uint8Array | null;
  path: string;
  sha256: string;
}

/** A trained artifact: the model to run, and what the plan says of it as JSON text. */
export interface LearnedTask {
  path: string;
  sha256: string;
  record: string;
}

/** A model that a step runs by name: its files, and what the plan says of it as JSON text. */
export interface ModelTask {
  role: string;
  record: string;
  files: Record<string, { path: string; sha256: string }>;
  /** The runtime, when it is not the portable one. */
  accelerator: string | null;
}

export interface StepTask {
  type: "run";
  taskId: number;
  operationId: string;
  moduleUrl: string;
  /** What the module makes the operation from, JSON text; null where it exports the operation itself. */
  binding: string | null;
  /** Effective parameters, JSON text with typed numbers. */
  params: string;
  /** Decimal digits, or null for an operation without a seed. */
  seed: string | null;
  inputs: TaskInput[];
  /** Absolute path of the private staging directory. */
  staging: string;
  backend: string;
  implementation: string;
  /** Threads the step may work on, itself included. */
  threads: number;
  projectRoot: string;
  stateDir: string;
  /** The artifact of a step in its learned mode. */
  learned: LearnedTask | null;
  models: ModelTask[];
  cancelFlag: Int32Array<SharedArrayBuffer>;
}

/** An output as it lies in the staging directory and in shared memory. */
export interface WrittenOutput {
  port: string;
  kind: string;
  fileName: string;
  bytes: Uint8Array;
  /** JSON text. */
  metadata: string;
}

export interface WrittenReply {
  type: "written";
  taskId: number;
  outputs: WrittenOutput[];
  /** JSON text with typed numbers. */
  metrics: string;
  /** JSON text. */
  metadata: string;
  /** Digests of the images in memory, when they were cheap enough to come along; otherwise they follow. */
  sha256?: Record<string, string>;
}

export interface HashedReply {
  type: "hashed";
  taskId: number;
  sha256: Record<string, string>;
}

export interface FailedReply {
  type: "failed";
  taskId: number;
  code: string;
  message: string;
  hint: string | null;
  /** Class name of what was thrown. */
  errorType: string;
}

export interface ProgressReply {
  type: "progress";
  taskId: number;
  completed: number;
  total: number;
  phase: string | null;
  unit: string | null;
}

/** The thread has loaded its modules and can begin. */
export interface ReadyReply {
  type: "ready";
}

export type WorkerReply = ReadyReply | WrittenReply | HashedReply | FailedReply | ProgressReply;
