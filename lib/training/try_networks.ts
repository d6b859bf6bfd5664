/**
 * Tries the networks of a package: each entry point runs twice in one session and once in that of another sandbox on the same
 * inputs, and must give the same bits. Both sandboxes serve this package alone. Sizes that the network leaves open are those of
 * the first trial that runs; where the first axis is open, batches of 1 and 3 are tried.
 */
import { type Code, type Diagnostic, diagnostic, messageOf, type Place, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { type Dtype, elementCount, type NdArray, ndarray } from "../numeric/array/ndarray.ts";
import { Generator } from "../numeric/random/random.ts";
import { DTYPES } from "../numeric/array/ndarray.ts";
import { NOT_DETERMINISTIC, UNSUPPORTED } from "../onnx/function.ts";
import type { Dimension, OnnxGraph } from "../onnx/graph.ts";
import { type OnnxSession, type OwnSandbox, ownSandbox } from "../onnx/session.ts";
import type { InspectedPackage } from "./inspect.ts";
import { MAX_COMPONENT_BYTES } from "./limits.ts";
import type { PackageSource } from "./source.ts";
import type { TrainedManifest } from "./types.ts";

const SEED = 20n;
const BATCHES = [1, 3];
/** Open sizes to try, small ones first: pictures are often multiples of 16 or 64. */
const SIZES = [16, 64, 8, 4, 2, 1, 128];

type Feeds = Record<string, NdArray>;

/** Digests of networks that this process has tried without a problem. */
const sound = new Set<string>();

/**
 * @param source the package that was inspected
 * @returns diagnostics `artifact_not_deterministic`, `artifact_unsupported`
 * @throws SvcError `runtime_unavailable`, and the limits of sessions
 */
export async function tryNetworks(
  source: Pick<PackageSource, "read">,
  { manifest, graphs }: Pick<InspectedPackage, "graphs"> & { manifest: Pick<TrainedManifest, "components"> | null },
): Promise<Diagnostic[]> {
  if (manifest === null) return [];
  const found: Diagnostic[] = [];
  let sandboxes: OwnSandbox[] = [];
  const end = () => sandboxes.splice(0).forEach((sandbox) => sandbox.end());
  try {
    for (const [index, { id, path, sha256 }] of manifest.components.entries()) {
      const graph = graphs.get(id), bytes = source.read(path, MAX_COMPONENT_BYTES);
      if (graph === undefined || bytes === null) continue;
      if (sound.has(sha256) && sha256Hex(bytes) === sha256) continue;
      if (sandboxes.length === 0) sandboxes = [ownSandbox(), ownSandbox()];
      const problems = await tryNetwork(bytes, graph, { sandboxes, sha256, path, place: ["components", index] });
      found.push(...problems);
      if (problems.length === 0) sound.add(sha256);
      // A network that fails may have ended its sandbox.
      else end();
    }
  } finally {
    end();
  }
  return found;
}

async function tryNetwork(
  bytes: Uint8Array,
  graph: OnnxGraph,
  { sandboxes: [one, other], sha256, path, place }: {
    sandboxes: readonly OwnSandbox[];
    sha256: string;
    path: string;
    place: Place;
  },
): Promise<Diagnostic[]> {
  const refuse = (code: Code, why: string, hint: string) => [
    diagnostic(code, place, `Cannot use ${path}: ${why}`, { hint }),
  ];
  const first = await opened(one, bytes, sha256);
  if (first instanceof Error) return refuse(UNSUPPORTED, "the runtime cannot load it", saidOf(first));
  try {
    const fresh = await opened(other, bytes, sha256);
    if (fresh instanceof Error) return refuse(UNSUPPORTED, "the runtime cannot load it", saidOf(fresh));
    try {
      const open = graph.inputs.some(({ shape }) => typeof shape?.[0] !== "number" && shape?.length);
      for (const batch of open ? BATCHES : [1]) {
        const tried = await trial(first, graph, batch);
        if (tried instanceof Error) {
          return refuse(
            UNSUPPORTED,
            `it does not run on inputs of its shapes, with a batch of ${batch}`,
            saidOf(tried),
          );
        }
        const [feeds, once] = tried, wrong = open ? otherRows(graph, once, batch) : null;
        if (wrong !== null) {
          return refuse(
            UNSUPPORTED,
            `${wrong} for a batch of ${batch}`,
            "Export it with a reshape that keeps the first axis",
          );
        }
        for (const session of [first, fresh]) {
          const changed = differing(once, await session.run(feeds));
          if (changed === null) continue;
          const hint = "Export it after model.eval(), without random operators";
          return refuse(NOT_DETERMINISTIC, `${changed} differs between two runs on the same inputs`, hint);
        }
      }
      return [];
    } finally {
      await fresh.release();
    }
  } finally {
    await first.release();
  }
}

/** A session; the error of a network that cannot be loaded. */
async function opened(sandbox: OwnSandbox, bytes: Uint8Array, sha256: string): Promise<OnnxSession | SvcError> {
  try {
    return await sandbox.open(bytes, sha256);
  } catch (error) {
    if (error instanceof SvcError && /^Cannot load the model/.test(error.message)) return error;
    throw error;
  }
}

/** The first run that succeeds, with its inputs; else the error of the last one. */
async function trial(session: OnnxSession, graph: OnnxGraph, batch: number): Promise<[Feeds, Feeds] | SvcError> {
  let last: SvcError | undefined;
  const sizes = graph.inputs.some(({ shape }) => shape?.slice(1).some(isOpen)) ? SIZES : SIZES.slice(0, 1);
  for (const size of sizes) {
    const feeds = feedsOf(graph, batch, size);
    try {
      return [feeds, await session.run(feeds)];
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== "operation_failed") throw error;
      last = error;
    }
  }
  return last!;
}

const isOpen = (dimension: Dimension) => typeof dimension !== "number";

/** Seeded inputs: real ones in (0, 1], since variances may be among them, integers 0 and 1. */
function feedsOf({ inputs }: OnnxGraph, batch: number, size: number): Feeds {
  const generator = Generator.seeded(SEED);
  return Object.fromEntries(inputs.map(({ name, dtype, shape }): [string, NdArray] => {
    const sizes = (shape ?? []).map((dimension, axis) =>
      isOpen(dimension) ? axis === 0 ? batch : size : Number(dimension)
    );
    const count = elementCount(sizes), draws = generator.random(count), known = dtype as Dtype;
    const data = DTYPES[known].make(new ArrayBuffer(DTYPES[known].itemSize * count), 0, count * DTYPES[known].slots);
    const real = dtype.startsWith("float");
    for (let i = 0; i < count; i++) {
      const value = real ? 1 - draws[i] : Math.round(draws[i]);
      data[i] = (typeof data[i] === "bigint" ? BigInt(value) : value) as never;
    }
    return [name, ndarray(known, data, sizes)];
  }));
}

/** An output whose first axis is named as that of an input, and has another size. */
function otherRows({ inputs, outputs }: OnnxGraph, results: Feeds, batch: number): string | null {
  const names = new Set(inputs.map(({ shape }) => shape?.[0]).filter((size) => typeof size === "string"));
  const wrong = outputs.find(({ name, shape }) => names.has(shape?.[0] as string) && results[name].shape[0] !== batch);
  return wrong === undefined ? null : `${wrong.name} has ${results[wrong.name].shape[0]} rows`;
}

/** The name of an output whose bits differ. */
function differing(one: Feeds, other: Feeds): string | null {
  const bits = ({ data }: NdArray) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return Object.keys(one).find((name) => {
    const [a, b] = [bits(one[name]), bits(other[name])];
    return a.length !== b.length || a.some((byte, i) => byte !== b[i]);
  }) ?? null;
}

/** What the runtime said, without the places in its own source. */
function saidOf(error: Error): string {
  const said = messageOf(error).replace(/\s*\/\S+:\d+ [^[]*?(?=\[|$)/g, " ").slice(0, 300);
  return `Export it again for its declared shapes. The runtime said: ${said}`;
}
