/**
 * SSIM and MS-SSIM of RGB images in pixels a second, on one thread: `deno run -A tests/bench/image_bench.ts`. Below 161 rows there is
 * SSIM alone. Best of several rounds.
 */
import { structuralSimilarity } from "../../lib/numeric/scores/image_quality.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { row, sized, timesOf } from "./measure.ts";

const ROUNDS = sized(40, 1), WIDTH = sized(512, 176), generator = Generator.seeded(5);
const best = (work: () => unknown) => Math.min(...timesOf(ROUNDS, work));

for (const [what, height] of [["SSIM", sized(160, 12)], ["SSIM and MS-SSIM", sized(320, 176)]] as const) {
  const shape = { height, width: WIDTH, channels: 3 }, count = 3 * height * WIDTH;
  const bytes = generator.integers(0, 256, count, "uint8") as Uint8Array;
  const other = bytes.map((value, at) => at % 5 ? value : 255 - value);
  const fractions = (samples: Uint8Array) => Float32Array.from(samples, (value) => value / 255);
  for (
    const [type, x, y, range] of [
      ["uint8", bytes, other, 255],
      ["float32", fractions(bytes), fractions(other), 1],
    ] as const
  ) {
    const own = best(() => structuralSimilarity(x, y, shape, range));
    row(`${what}, RGB, ${type}`, `${(height * WIDTH / own / 1e3).toFixed(1)} Mpixel/s`);
  }
}
