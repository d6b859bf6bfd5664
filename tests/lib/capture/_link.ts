/** A small link with a slot for a trained receiver, and what a capture of it needs. */
import { captureDataset, type CaptureOptions, type CaptureResult } from "../../../lib/capture/capture.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { readinessOf } from "../../../lib/execute/readiness.ts";
import { WorkerPool } from "../../../lib/execute/pool.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { step } from "../../support/step.ts";

export const registry = await createRegistry();

/** QPSK over noise with a neural receiver slot; `metadata` and `steps` may be changed by a test. */
export const link = (metadata: JsonObject = {}): JsonObject & { steps: JsonObject[] } => ({
  schema_version: 1,
  name: "small_link",
  metadata: { seed: 23, ...metadata },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 32 } },
    step("modulator", "modulation.digital_modulate", { bits: "data.bits" }, { modulation: "qpsk" }),
    step("wireless_channel", "wireless.channel", { symbols: "modulator.symbols" }, { channel: "awgn", snr_db: 6 }),
    step("receiver", "demodulation.neural_receiver_adapter", { rx_symbols: "wireless_channel.rx_symbols" }, {
      mode: "reference_qpsk",
    }),
    { id: "ber", op: "metrics.bit_error_rate", inputs: { reference: "data.bits", candidate: "receiver.bits" } },
  ],
});

export const TAPS = [
  { id: "rx", from: "wireless_channel.rx_symbols" },
  { id: "bits", from: "data.bits" },
];

/** Calls a body with a function that captures into a folder of its own, which is removed afterwards. */
export function capturing(
  body: (
    capture: (raw: JsonObject, config: JsonObject, more?: Partial<CaptureOptions>) => Promise<CaptureResult>,
    folder: string,
  ) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const folder = await Deno.makeTempDir({ prefix: "svc-capture-" });
    const workspace = openWorkspace({ projectRoot: folder });
    const pool = new WorkerPool();
    try {
      await body((raw, config, more = {}) =>
        captureDataset({
          raw,
          config,
          registry,
          workspace,
          readiness: readinessOf(workspace),
          cancellation: createCancellation(),
          pool,
          ...more,
        }), folder);
    } finally {
      pool.close();
      await Deno.remove(folder, { recursive: true });
    }
  };
}
