/** The named models of a step in its worker thread: read by digest, and closed with the step. */
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { asObject, parseJson } from "../contract/json.ts";
import type { Cancellation, GraphRuntime, ModelSession, NamedModel } from "../contract/operation.ts";
import { chunked } from "../onnx/chunked.ts";
import { type OnnxGraph, readOnnxGraph } from "../onnx/graph.ts";
import { onnxProblems } from "../onnx/safety.ts";
import type { SessionLimits } from "../onnx/limits.ts";
import { type OnnxAccelerator, type OnnxSession, openOnnxSession, type SessionOptions } from "../onnx/session.ts";
import type { ModelTask } from "./protocol.ts";

export interface StepModels {
  /** @throws TypeError for a role that the operation did not request */
  model(role: string): NamedModel;
  /** Opens a graph of an artifact. @throws SvcError as for `openGraph` of a step's context */
  openGraph(bytes: Uint8Array, runtime?: GraphRuntime): Promise<ModelSession>;
  /** Closes all open sessions. */
  release(): Promise<void>;
}

/**
 * Models for one step, read on request.
 * @param read reads a file; tests replace it
 */
export function stepModels(
  tasks: readonly ModelTask[],
  cancellation: Cancellation,
  read: (path: string) => Promise<Uint8Array> = (path) => Deno.readFile(path),
): StepModels {
  const sessions: Promise<OnnxSession>[] = [];
  const load = (bytes: Uint8Array, { metadata, opsets }: OnnxGraph, options: SessionOptions = {}): Promise<Opened> => {
    const session = openOnnxSession(bytes, options);
    sessions.push(session);
    return session.then((session) => ({ session, metadata, opset: opsets[""] ?? 0 }));
  };
  const models = new Map(tasks.map((task) => [task.role, namedModel(task)]));

  function namedModel(task: ModelTask): NamedModel {
    const { record: text, files, accelerator } = task;
    const { limits, ...record } = asObject(parseJson(text));
    const options = {
      owner: task,
      accelerator: (accelerator ?? undefined) as OnnxAccelerator | undefined,
      limits: limits as SessionLimits | undefined,
    };
    const opened = new Map<string, Promise<Opened>>();
    const bytesOf = async (file: string) => {
      const known = Object.hasOwn(files, file) ? files[file] : undefined;
      if (known === undefined) throw new SvcError("model_unavailable", `The model has no file ${file}`);
      const bytes = await read(known.path);
      if (sha256Hex(bytes) === known.sha256) return bytes;
      throw new SvcError("artifact_hash_mismatch", `Cannot use ${file} of the model: it changed after it was planned`);
    };
    return {
      record,
      has: (file) => Object.hasOwn(files, file),
      read: bytesOf,
      async open(file) {
        let entry = opened.get(file);
        if (entry === undefined) {
          entry = bytesOf(file).then((bytes) => load(bytes, readOnnxGraph(bytes, file), options));
          opened.set(file, entry);
        }
        return modelSession(await entry, cancellation);
      },
    };
  }

  return {
    model(role) {
      const model = models.get(role);
      if (model === undefined) throw new TypeError(`The operation uses the model ${role} without requesting it`);
      return model;
    },
    async openGraph(bytes, runtime) {
      const graph = readOnnxGraph(bytes, "the graph");
      // The graph comes from another step and was not checked yet.
      const problems = onnxProblems(graph, [], "the graph of the bundle");
      if (problems.length > 0) throw new SvcError(problems[0].code, problems[0].message, { hint: problems[0].hint });
      return modelSession(await load(bytes, graph, { ...runtime, owner: sessions }), cancellation);
    },
    async release() {
      await Promise.allSettled(sessions.map(async (session) => await (await session).release()));
    },
  };
}

/** A session with the metadata of its file. */
interface Opened {
  session: OnnxSession;
  metadata: ModelSession["metadata"];
  opset: number;
}

function modelSession({ session, metadata, opset }: Opened, cancellation: Cancellation): ModelSession {
  const { inputs, outputs } = session;
  const infer: ModelSession["run"] = (feeds) => session.run(feeds, { cancellation });
  return {
    inputs,
    outputs,
    metadata,
    opset,
    run: (feeds, { rows } = {}) => rows === undefined ? infer(feeds) : chunked(infer, feeds, { rows }),
  };
}
