/**
 * A run over 1e8 bits with all of its evidence: random bits, QPSK, AWGN, demapper, bit error rate. Its artifacts have 1.4 GB.
 * Peak memory is that of the process, which reports it on Linux.
 *
 *     deno run -A tests/bench/link_bench.ts     TMPDIR names the disk
 */
import { join } from "node:path";
import { resourceUsage } from "node:process";
import { run } from "../../mod.ts";
import { row, sized } from "./measure.ts";

const BITS = sized(100_000_000, 10_000);
const folder = await Deno.makeTempDir({ prefix: "svc-bench-" });
const recipe = {
  name: "link",
  metadata: { seed: 23 },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: BITS } },
    { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
    { id: "channel", op: "wireless.channel", inputs: { symbols: "modulator.symbols" } },
    { id: "demodulator", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "channel.rx_symbols" } },
    { id: "ber", op: "metrics.bit_error_rate", inputs: { reference: "data.bits", candidate: "demodulator.bits" } },
  ],
};
const started = performance.now();
const { status } = await run(recipe, { projectRoot: folder, stateDir: join(folder, ".svc") });
if (status !== "completed") throw new Error(status);
const seconds = (performance.now() - started) / 1000;
row(`run over ${BITS} bits`, `${seconds.toFixed(2)} s`, `${(BITS / seconds / 1e6).toFixed(1)} Mbit/s`);
row("peak memory of that run", `${(resourceUsage().maxRSS / 1e6).toFixed(2)} GB`);
await Deno.remove(folder, { recursive: true });
