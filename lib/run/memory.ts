/** Resident memory of the process while a run executes, sampled every 0.05 s. */
import { messageOf } from "../contract/error.ts";
import { float, type JsonObject } from "../contract/value.ts";

const SAMPLER_INTERVAL_S = 0.05;

export interface MemoryEvidence {
  /** `memory.run.*`; empty without a measurement. */
  metrics: JsonObject;
  /** The record `measurement_evidence["memory.run.rss"]`. */
  evidence: JsonObject;
}

export interface MemorySampler {
  /** Evidence of a measurement in progress. */
  pending(): MemoryEvidence;
  /** Takes the last sample and stops; later calls return the same evidence. */
  stop(): MemoryEvidence;
}

/**
 * Starts sampling.
 * @param options `sharedProcess` reports at the end whether other jobs ran in this process; `read` replaces the source
 */
export function sampleMemory(
  options: { sharedProcess?: () => boolean; read?: () => number } = {},
): MemorySampler {
  const read = options.read ?? (() => Deno.memoryUsage().rss);
  let successful = 0, failed = 0, start = 0, peak = 0, end = 0;
  let error: string | null = null;
  const sample = () => {
    try {
      const rss = read();
      if (successful++ === 0) start = rss;
      peak = Math.max(peak, rss);
      end = rss;
    } catch (cause) {
      failed++;
      error = messageOf(cause);
    }
  };
  const evidence = (status: string): JsonObject => ({
    status,
    available: successful > 0,
    backend: "deno",
    source: "Deno.memoryUsage().rss",
    sampler_interval_s: float(SAMPLER_INTERVAL_S),
    successful_samples: successful,
    failed_samples: failed,
    error,
    ...(options.sharedProcess?.() ? { shared_process: true } : {}),
  });
  sample();
  const timer = setInterval(sample, SAMPLER_INTERVAL_S * 1000);
  let result: MemoryEvidence | undefined;
  return {
    pending: () => ({ metrics: {}, evidence: evidence("pending") }),
    stop() {
      if (result) return result;
      clearInterval(timer);
      sample();
      const status = successful === 0 ? "unavailable" : failed === 0 ? "measured" : "partially_measured";
      const metrics: JsonObject = successful === 0 ? {} : {
        "memory.run.start_rss_bytes": start,
        "memory.run.peak_rss_bytes": peak,
        "memory.run.end_rss_bytes": end,
        "memory.run.peak_rss_delta_bytes": peak - start,
        "memory.run.sampler_interval_s": float(SAMPLER_INTERVAL_S),
      };
      return result = { metrics, evidence: evidence(status) };
    },
  };
}
