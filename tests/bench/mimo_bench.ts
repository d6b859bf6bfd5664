/**
 * MIMO detection in resource elements a second on one thread: four layers of 16QAM at four antennas, one channel matrix for the
 * 14 symbols of a slot.
 *
 *     deno run -A tests/bench/mimo_bench.ts
 */
import { kBestDetector, linearDetector } from "../../lib/numeric/link/mimo_detection.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { row, sized, timesOf } from "./measure.ts";

const ANTENNAS = 4, LAYERS = 4, SYMBOLS = 14, NOISE = 0.05, CHANNELS = 64, ROUNDS = sized(9, 1);
const generator = Generator.seeded(1);
const channels = Array.from({ length: CHANNELS }, () => generator.standardNormal(2 * ANTENNAS * LAYERS));
const received = Float32Array.from(generator.standardNormal(2 * ANTENNAS * SYMBOLS));
const out = {
  symbols: new Float32Array(2 * LAYERS * SYMBOLS),
  variance: new Float32Array(LAYERS * SYMBOLS),
  llr: new Float32Array(4 * LAYERS * SYMBOLS),
};

for (
  const [name, detector, slots, aim] of [
    ["MMSE", linearDetector(ANTENNAS, LAYERS, true), sized(20_000, 4), "aim 2"],
    ["K-best, 32 vectors", kBestDetector(ANTENNAS, LAYERS, "qam16", 32, false), sized(300, 2), "aim 0.02"],
  ] as const
) {
  const milliseconds = Math.min(...timesOf(ROUNDS, () => {
    for (let slot = 0; slot < slots; slot++) {
      detector.prepare(channels[slot % CHANNELS], NOISE);
      for (let symbol = 0; symbol < SYMBOLS; symbol++) {
        detector.detect(received, 2 * ANTENNAS * symbol, out, LAYERS * symbol);
      }
    }
  }));
  row(name, `${(slots * SYMBOLS / milliseconds / 1e3).toPrecision(3)} M/s`, `resource elements, ${aim}`);
}
