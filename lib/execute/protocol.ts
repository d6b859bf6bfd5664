/**
 * Messages between the scheduler and its worker threads. Typed documents travel as JSON text, arrays in shared memory.
 */
import type { FilePart } from "../artifact/npz_blocks.ts";
import type { Code, SourceLocation } from "../contract/error.ts";
import type { Digest } from "../contract/names.ts";
import type { BundleJob } from "./bundle_files.ts";
import type { StoreJob } from "./contents.ts";

/** An input of a step: the file image in shared memory, or the path of the file. */
export interface TaskInput {
  port: string;
  kind: string;
  bytes: Uint8Array | null;
  /** Whether no other step reads the image meanwhile: this one may read it in place. */
  sole: boolean;
  path: string;
  sha256: string;
  /** An output of an earlier step of the task, in place of kind, image and path; null for one that is complete. */
  from: { step: number; output: string } | null;
}

/** An input of a step in a chain: an output of an earlier step of the task. */
export interface ChainInput {
  port: string;
  step: number;
  output: string;
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

/** One step, the steps of a chain, or steps that run one after another; in plan order. */
export interface Task {
  type: "run";
  taskId: number;
  /** Whether the steps run block by block. */
  chain: boolean;
  steps: StepTask[];
}

/** A bundle to write. */
export interface SaveTask {
  type: "save";
  taskId: number;
  job: BundleJob;
}

/** A committed file to hash and share. */
export interface StoreTask {
  type: "store";
  taskId: number;
  job: StoreJob;
}

/** Operations that are about to run: the thread loads their modules while it has nothing else to do. */
export interface LoadTask {
  type: "load";
  operations: LoadedOperation[];
}

/** What a thread loads an operation by. */
export type LoadedOperation = Pick<StepTask, "operationId" | "moduleUrl" | "binding">;

export interface StepTask {
  operationId: string;
  moduleUrl: string;
  /** Document from which the module constructs the operation, JSON text; null where it exports the operation. */
  binding: string | null;
  /** Effective parameters, JSON text with typed numbers. */
  params: string;
  /** Decimal digits, or null for an operation without a seed. */
  seed: string | null;
  /** Of a step outside chains. */
  inputs: TaskInput[];
  /** Of a step in a chain. */
  chained: ChainInput[];
  /** Whether arrays have the form of blocks: the plan has the step in a chain. */
  streamed: boolean;
  /** Outputs of a step in a chain that are hashed and not written: no other step reads them, and the run does not keep them. */
  unwritten: readonly string[];
  /** Absolute path of the private staging directory; null where outputs are hashed and stay in memory. */
  staging: string | null;
  backend: string;
  implementation: string;
  /** Threads the step may use, its own included. */
  threads: number;
  /** Whether a processor was free when the step was started: arrays that are not written are then hashed on a thread of their own. */
  spare: boolean;
  projectRoot: string;
  stateDir: string;
  /** Folder of the program's files; null where a program that was imported by URL could not fetch them. */
  program: string | null;
  /** The artifact of a step in its learned mode. */
  learned: LearnedTask | null;
  models: ModelTask[];
  cancelFlag: Int32Array<SharedArrayBuffer>;
}

/** An output in the staging directory, and in shared memory where it was written as a whole. */
export interface WrittenOutput {
  port: string;
  kind: string;
  fileName: string;
  parts: readonly FilePart[];
  /** SHA-256 of an output that was not written to a file; null for the others, whose files are hashed. */
  sha256: string | null;
  /** JSON text. */
  metadata: string;
}

export interface WrittenReply {
  type: "written";
  taskId: number;
  /** Null for a chain with a step that needs whole arrays, and for a bundle. Of steps one after another, those since the reply before. */
  steps: WrittenStep[] | null;
  /** Whether the next step of the task has started. */
  more: boolean;
}

export interface StoredReply {
  type: "stored";
  taskId: number;
  sha256: Digest | null;
}

/** The files of a bundle are written, and the thread is free while they become durable; `written` follows. */
export interface FreeReply {
  type: "free";
  taskId: number;
}

export interface WrittenStep {
  /** Time of the step within its task; null for a step by itself. */
  seconds: number | null;
  /** Seconds from the start of the task to that of the step. */
  offset: number;
  outputs: WrittenOutput[];
  /** JSON text with typed numbers. */
  metrics: string;
  /** JSON text. */
  metadata: string;
}

export interface FailedReply {
  type: "failed";
  taskId: number;
  code: Code;
  /** Error code of the operating system, where it failed. */
  system_code?: string;
  message: string;
  hint: string | null;
  /** In the code of a user. */
  location: SourceLocation | null;
  /** Class name of the thrown value. */
  errorType: string;
  /** Whether the steps since the last reply are to run again, one after another. */
  again?: boolean;
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

export type WorkerReply =
  | ReadyReply
  | FreeReply
  | WrittenReply
  | StoredReply
  | FailedReply
  | ProgressReply;

/** The bytes of an output that was written as a whole; null for one in blocks. */
export const wholeFile = ({ parts: [first, ...more] }: WrittenOutput): Uint8Array | null =>
  more.length === 0 && first instanceof Uint8Array ? first : null;

export const writtenSize = ({ parts }: Pick<WrittenOutput, "parts">): number =>
  parts.reduce((sum, part) => sum + (part instanceof Uint8Array ? part.length : part.size), 0);
