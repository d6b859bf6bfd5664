/**
 * Follows bits and symbols through a recipe. A stream is a content source with layers: packets, a channel code, a
 * modulation. Encoders add a layer, decoders remove one, boundaries and links keep it. Two streams of one source have
 * equal lengths exactly when they have the same layers.
 */
import type { OperationContract } from "../../contract/operation.ts";
import type { OutputKinds } from "../../contract/output_kinds.ts";
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

export type LayerKind =
  | "packets"
  | "repetition"
  | "ldpc"
  | "polar"
  | "convolutional"
  | "turbo"
  | "table_ldpc"
  | "reed_solomon"
  | "bch"
  | "interleaved"
  | "scrambled"
  | "unequal"
  | "symbols"
  | "pilots";

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

interface Transform {
  /** The input of the content. */
  from: string;
  puts?: LayerKind;
  takes?: LayerKind;
  /** Outputs that carry it; default all. */
  outputs?: readonly string[];
}

/** Effect of channel-path operations on a stream; outputs of other operations are sources. */
export const TRANSFORMS: ReadonlyMap<string, Transform> = new Map(Object.entries({
  "channel.bit_boundary": { from: "bits" },
  "channel.payload_passthrough_encoder": { from: "bits" },
  "channel.payload_passthrough_decoder": { from: "bits" },
  "channel.identity_encoder": { from: "bits" },
  "channel.identity_decoder": { from: "coded_bits" },
  "channel.identity_link": { from: "bits" },
  "channel.capacity_oracle_digital_link": { from: "bits" },
  "wireless.digital_link": { from: "bits" },
  "channel.symbol_boundary": { from: "symbols" },
  "channel.symbol_power_identity": { from: "symbols" },
  "channel.symbol_power_normalize": { from: "symbols" },
  "model.symbol_power_allocator": { from: "symbols", outputs: ["symbols"] },
  "model.causal_csi_power_allocator": { from: "symbols", outputs: ["symbols"] },
  "channel.identity_symbol_link": { from: "symbols" },
  "wireless.ofdm_channel_state": { from: "symbols", outputs: ["symbols"] },
  "wireless.channel": { from: "symbols" },
  "modulation.ofdm_pilot_insert": { from: "symbols", puts: "pilots", outputs: ["symbols"] },
  "wireless.mimo_ofdm_channel": { from: "symbols", outputs: ["rx_grid"] },
  "modulation.ofdm_waveform": { from: "symbols" },
  "wireless.multipath_waveform": { from: "waveform", outputs: ["waveform"] },
  "demodulation.ofdm_receive": { from: "waveform" },
  "demodulation.ofdm_equalize": { from: "rx_symbols", takes: "pilots" },
  "hardware.receiver_iq_imbalance": { from: "rx_symbols" },
  "hardware.power_amplifier": { from: "signal" },
  "hardware.quantizer": { from: "signal" },
  "hardware.envelope_clip": { from: "signal" },
  "wireless.carrier_phase_impairment": { from: "rx_symbols", outputs: ["rx_symbols"] },
  "channel.packetize_crc32": { from: "bits", puts: "packets" },
  "channel.packetize_crc32.v2": { from: "bits", puts: "packets" },
  "channel.crc32_check": { from: "bits", takes: "packets" },
  "channel.repetition_encoder": { from: "bits", puts: "repetition" },
  "channel.repetition_decoder": { from: "coded_bits", takes: "repetition" },
  "channel.nr_ldpc_encoder": { from: "bits", puts: "ldpc" },
  "channel.nr_harq_combine": { from: "llr" },
  "channel.nr_ldpc_decoder": { from: "llr", takes: "ldpc", outputs: ["bits"] },
  "channel.nr_polar_encoder": { from: "bits", puts: "polar" },
  "channel.nr_polar_decoder": { from: "llr", takes: "polar", outputs: ["bits"] },
  "channel.convolutional_encoder": { from: "bits", puts: "convolutional" },
  "channel.convolutional_decoder": { from: "llr", takes: "convolutional", outputs: ["bits", "payload_llr"] },
  "channel.turbo_encoder": { from: "bits", puts: "turbo" },
  "channel.turbo_decoder": { from: "llr", takes: "turbo", outputs: ["bits", "payload_llr"] },
  "channel.ldpc_encoder": { from: "bits", puts: "table_ldpc" },
  "channel.ldpc_decoder": { from: "llr", takes: "table_ldpc", outputs: ["bits", "payload_llr"] },
  "channel.reed_solomon_encoder": { from: "bits", puts: "reed_solomon" },
  "channel.reed_solomon_decoder": { from: "llr", takes: "reed_solomon", outputs: ["bits"] },
  "channel.bch_encoder": { from: "bits", puts: "bch" },
  "channel.bch_decoder": { from: "llr", takes: "bch", outputs: ["bits"] },
  "channel.block_interleaver": { from: "bits", puts: "interleaved" },
  "channel.block_deinterleaver": { from: "llr", takes: "interleaved" },
  "channel.scrambler": { from: "bits", puts: "scrambled" },
  "channel.descrambler": { from: "llr", takes: "scrambled" },
  "channel.unequal_error_protection": { from: "bits", puts: "unequal", outputs: ["coded_bits"] },
  "channel.unequal_error_protection_decoder": { from: "received", takes: "unequal" },
  "modulation.digital_modulate": { from: "bits", puts: "symbols" },
  "modulation.identity_modulate": { from: "bits", puts: "symbols" },
  "modulation.learned_constellation": { from: "bits", puts: "symbols", outputs: ["symbols"] },
  "modulation.qpsk_pilot_modulate": { from: "bits", puts: "symbols", outputs: ["symbols"] },
  "demodulation.digital_demodulate": { from: "rx_symbols", takes: "symbols" },
  "demodulation.identity_demodulate": { from: "rx_symbols", takes: "symbols" },
  "demodulation.constellation_demapper": { from: "rx_symbols", takes: "symbols" },
  "demodulation.neural_receiver_adapter": { from: "rx_symbols", takes: "symbols" },
  "demodulation.phase_tracking_receiver_adapter": {
    from: "rx_symbols",
    takes: "symbols",
    outputs: ["bits", "llr"],
  },
}));

export const top = ({ layers }: Stream): Layer | undefined => layers[layers.length - 1];
const CODES: readonly (LayerKind | undefined)[] = [
  "repetition",
  "ldpc",
  "polar",
  "convolutional",
  "turbo",
  "table_ldpc",
  "reed_solomon",
  "bch",
  "unequal",
];
export const isCode = (layer: Layer | undefined): boolean => CODES.includes(layer?.kind);
/** Encoders and decoders of all families. */
export const [ENCODERS, DECODERS] = (["puts", "takes"] as const).map((effect) =>
  [...TRANSFORMS].flatMap(([op, transform]) => CODES.includes(transform[effect]) && transform[effect] ? [op] : [])
);

const WORDS: Record<LayerKind, string> = {
  packets: "packets",
  repetition: "repetition code",
  ldpc: "LDPC code",
  polar: "polar code",
  convolutional: "convolutional code",
  turbo: "turbo code",
  table_ldpc: "LDPC code of a table",
  reed_solomon: "Reed-Solomon code",
  bch: "BCH code",
  interleaved: "interleaver",
  scrambled: "scrambler",
  unequal: "unequal error protection",
  symbols: "modulation",
  pilots: "pilots",
};

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
