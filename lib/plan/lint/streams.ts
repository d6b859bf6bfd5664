/**
 * Follows bits and symbols through a recipe. A stream is a content source with layers: packets, a channel code, a
 * modulation. Encoders add a layer, decoders remove one, boundaries and links keep it. Two streams of one source have
 * equal lengths exactly when they have the same layers.
 */
import type { OperationContract } from "../../contract/operation.ts";
import type { OutputKinds } from "../../contract/output_kinds.ts";
import { CODES, type LayerKind, TRANSFORMS, WORDS } from "../../contract/transforms.ts";
import type { JsonObject } from "../../contract/value.ts";

export interface LintStep {
  index: number;
  id: string;
  op: string;
  params: JsonObject;
  /** Parameters that the author wrote. */
  authored: ReadonlySet<string>;
  inputs: { [port: string]: string };
  /** Undefined for an unknown operation. */
  contract: OperationContract | undefined;
  /** The record of an adapter. */
  external: JsonObject | undefined;
  /** Kinds of its outputs; empty where they are not known. */
  outputs: OutputKinds;
}

/** A connected output. */
export interface Wire {
  step: LintStep;
  output: string;
}

export interface Layer {
  kind: LayerKind;
  /** The step that added it. */
  step: LintStep;
}

export interface Stream {
  /** The output that produced the content. */
  source: Wire;
  /** Innermost first. */
  layers: readonly Layer[];
}

export const top = ({ layers }: Stream): Layer | undefined => layers[layers.length - 1];
export const isCode = (layer: Layer | undefined): boolean => layer !== undefined && CODES.includes(layer.kind);

/** A stream as text: `sender.bits in packets and repetition code`. */
export function describeStream({ source, layers }: Stream): string {
  const worn = layers.map(({ kind }) => WORDS[kind]).join(" and ");
  return `${source.step.id}.${source.output}${worn === "" ? "" : ` in ${worn}`}`;
}

/** Whether two streams have the same source output. */
export function sameSource(a: Stream, b: Stream): boolean {
  return a.source.step === b.source.step && a.source.output === b.source.output;
}

/** Whether layers have the same kinds; then lengths agree unless parameters differ. */
export const sameKinds = (a: readonly Layer[], b: readonly Layer[]): boolean =>
  a.length === b.length && a.every(({ kind }, index) => kind === b[index].kind);

/** Follows wires back to their sources, each only once. */
export class StreamTracer {
  readonly #known = new Map<string, Stream | undefined>();

  /** @param streamOf the stream of an input, which asks this tracer for the stream of its wire */
  constructor(readonly streamOf: (step: LintStep, port: string) => Stream | undefined) {}

  of(wire: Wire): Stream | undefined {
    const key = `${wire.step.index}.${wire.output}`;
    if (!this.#known.has(key)) this.#known.set(key, this.#trace(wire));
    return this.#known.get(key);
  }

  #trace(wire: Wire): Stream | undefined {
    const transform = TRANSFORMS.get(wire.step.op);
    if (transform === undefined) return { source: wire, layers: [] };
    if (transform.outputs !== undefined && !transform.outputs.includes(wire.output)) return undefined;
    // A wire leads to an earlier step, so the recursion ends.
    const stream = this.streamOf(wire.step, transform.from);
    if (stream === undefined) return undefined;
    const { puts, takes } = transform;
    if (puts !== undefined) return { ...stream, layers: [...stream.layers, { kind: puts, step: wire.step }] };
    if (takes === undefined) {
      return wire.step.op === "channel.identity_decoder" && isCode(top(stream)) ? undefined : stream;
    }
    // A decoder that does not match is a separate finding; the stream after it is unknown.
    return top(stream)?.kind === takes ? { ...stream, layers: stream.layers.slice(0, -1) } : undefined;
  }
}
