/**
 * Follows bits and symbols through a recipe. A stream is where its content comes from, and the layers it wears there:
 * packets, a channel code, a modulation. Encoders put a layer on, decoders take it off, boundaries and links leave it.
 * Two streams of one source have equal lengths exactly when they wear the same layers.
 */
import type { LintStep, LintView, Wire } from "./view.ts";

export type LayerKind = "packets" | "repetition" | "ldpc" | "symbols";

export interface Layer {
  kind: LayerKind;
  /** The step that put it on. */
  step: LintStep;
}

export interface Stream {
  /** The output where the content comes from. */
  source: Wire;
  /** Innermost first. */
  layers: readonly Layer[];
}

interface Transform {
  /** The input that the content comes in by. */
  from: string;
  puts?: LayerKind;
  takes?: LayerKind;
  /** Outputs that carry it; all when left out. */
  outputs?: readonly string[];
}

/** What each operation of the channel path does to a stream; outputs of any other operation are sources. */
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
  "hardware.receiver_iq_imbalance": { from: "rx_symbols" },
  "wireless.carrier_phase_impairment": { from: "rx_symbols", outputs: ["rx_symbols"] },
  "channel.packetize_crc32": { from: "bits", puts: "packets" },
  "channel.packetize_crc32.v2": { from: "bits", puts: "packets" },
  "channel.crc32_check": { from: "bits", takes: "packets" },
  "channel.repetition_encoder": { from: "bits", puts: "repetition" },
  "channel.repetition_decoder": { from: "coded_bits", takes: "repetition" },
  "channel.nr_ldpc_encoder": { from: "bits", puts: "ldpc" },
  "channel.nr_ldpc_decoder": { from: "llr", takes: "ldpc", outputs: ["bits"] },
  "modulation.digital_modulate": { from: "bits", puts: "symbols" },
  "modulation.identity_modulate": { from: "bits", puts: "symbols" },
  "modulation.qpsk_pilot_modulate": { from: "bits", puts: "symbols", outputs: ["symbols"] },
  "demodulation.digital_demodulate": { from: "rx_symbols", takes: "symbols" },
  "demodulation.identity_demodulate": { from: "rx_symbols", takes: "symbols" },
  "demodulation.neural_receiver_adapter": { from: "rx_symbols", takes: "symbols" },
  "demodulation.phase_tracking_receiver_adapter": {
    from: "rx_symbols",
    takes: "symbols",
    outputs: ["bits", "llr"],
  },
}));

export const top = ({ layers }: Stream): Layer | undefined => layers[layers.length - 1];
export const isCode = (layer: Layer | undefined): boolean => layer?.kind === "repetition" || layer?.kind === "ldpc";

const WORDS: Record<LayerKind, string> = {
  packets: "packets",
  repetition: "repetition code",
  ldpc: "LDPC code",
  symbols: "modulation",
};

/** A stream in words: `sender.bits in packets and repetition code`. */
export function describeStream({ source, layers }: Stream): string {
  const worn = layers.map(({ kind }) => WORDS[kind]).join(" and ");
  return `${source.step.id}.${source.output}${worn === "" ? "" : ` in ${worn}`}`;
}

/** Whether two streams come from one output. */
export function sameSource(a: Stream, b: Stream): boolean {
  return a.source.step === b.source.step && a.source.output === b.source.output;
}

/** Whether two layers are of one kind; then their lengths agree unless their parameters differ. */
export const sameKinds = (a: readonly Layer[], b: readonly Layer[]): boolean =>
  a.length === b.length && a.every(({ kind }, index) => kind === b[index].kind);

/** Follows wires back to their sources, each only once. */
export class StreamTracer {
  readonly #known = new Map<string, Stream | undefined>();

  constructor(readonly view: LintView) {}

  of(wire: Wire): Stream | undefined {
    const key = `${wire.step.index}.${wire.output}`;
    if (!this.#known.has(key)) this.#known.set(key, this.#trace(wire));
    return this.#known.get(key);
  }

  #trace(wire: Wire): Stream | undefined {
    const transform = TRANSFORMS.get(wire.step.op);
    if (transform === undefined) return { source: wire, layers: [] };
    if (transform.outputs !== undefined && !transform.outputs.includes(wire.output)) return undefined;
    // A wire leads to an earlier step, so this ends.
    const stream = this.view.stream(wire.step, transform.from);
    if (stream === undefined) return undefined;
    const { puts, takes } = transform;
    if (puts !== undefined) return { ...stream, layers: [...stream.layers, { kind: puts, step: wire.step }] };
    if (takes === undefined) {
      return wire.step.op === "channel.identity_decoder" && isCode(top(stream)) ? undefined : stream;
    }
    // A decoder that does not fit is a finding of its own; nothing can be told behind it.
    return top(stream)?.kind === takes ? { ...stream, layers: stream.layers.slice(0, -1) } : undefined;
  }
}
