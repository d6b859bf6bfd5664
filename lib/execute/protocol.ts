/**
 * Messages between the scheduler and its worker threads. Typed documents travel as JSON text, arrays in shared memory.
 */

/** An input of a step: the file image in shared memory, or the path of the file. */
export interface TaskInput {
  port: string;
  kind: string;
  bytes: Uint8Array | null;
  /** Whether no other step reads the image meanwhile: this one may read it in place. */
  sole: boolean;
  path: string;
  sha256: string;
}

/** A trained artifact: the model to run, and the plan's record as JSON text. */
export interface LearnedTask {
  path: string;
  sha256: string;
  record: string;
}

/** A named model of a step: its files, and the plan's record as JSON text. */
export interface ModelTask {
  role: string;
  record: string;
  files: Record<string, { path: string; sha256: string }>;
  /** Null for the portable runtime. */
  accelerator: string | null;
}

export interface StepTask {
  type: "run";
  taskId: number;
  operationId: string;
  moduleUrl: string;
  /** Document from which the module constructs the operation, JSON text; null where it exports the operation. */
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
  /** Threads the step may use, its own included. */
  threads: number;
  projectRoot: string;
  stateDir: string;
  /** Folder of the program's files; null where a program that was imported by URL could not fetch them. */
  program: string | null;
  /** The artifact of a step in its learned mode. */
  learned: LearnedTask | null;
  models: ModelTask[];
  cancelFlag: Int32Array<SharedArrayBuffer>;
}

/** An output in the staging directory and in shared memory. */
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
}

export interface FailedReply {
  type: "failed";
  taskId: number;
  code: string;
  /** Error code of the operating system, where it failed. */
  system_code?: string;
  message: string;
  hint: string | null;
  /** Class name of the thrown value. */
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

/** The thread has loaded its modules. */
export interface ReadyReply {
  type: "ready";
}

export type WorkerReply = ReadyReply | WrittenReply | FailedReply | ProgressReply;
