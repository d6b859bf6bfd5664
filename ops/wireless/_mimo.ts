/**
 * mimo_flat: consecutive symbols form vectors x of tx symbols, the last one zero-padded (the last of each source item
 * if an item shares one H); H has independent CN(0, 1) entries.
 *
 *     y = H·x/sqrt(tx) + n        x̂ = sqrt(tx)·(HᴴH)⁻¹Hᴴ·y        variance of stream i: tx·N0·[(HᴴH)⁻¹]_ii
 *
 * Draws: H [vector or item, rx, tx], then noise [vector, rx].
 */
import { complexNormal64Parallel } from "../../lib/numeric/parallel/draws.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";
import { ZeroForcing } from "../../lib/numeric/link/zero_forcing.ts";
import type { PresetSettings, Received } from "./_params.ts";

export function mimoFlat(symbols: Float32Array, settings: PresetSettings, generator: Generator): Received {
  const { noiseVariance, fadingItems, txAntennas: tx, rxAntennas: rx } = settings;
  const runs = fadingItems ?? [symbols.length / 2];
  const vectors = runs.map((count) => Math.ceil(count / tx));
  const total = vectors.reduce((sum, count) => sum + count, 0);
  const channels = complexNormal64Parallel(generator, (fadingItems?.length ?? total) * rx * tx, 1, settings);
  const noise = complexNormal64Parallel(generator, total * rx, noiseVariance, settings);

  const receiver = new ZeroForcing(rx, tx);
  const received = new Float32Array(symbols.length);
  const variance = new Float32Array(symbols.length / 2);
  const x = new Float64Array(2 * tx), y = new Float64Array(2 * rx), estimate = new Float64Array(2 * tx);
  const amplitude = 1 / Math.sqrt(tx), gain = Math.sqrt(tx);
  let vector = 0, start = 0;
  runs.forEach((count, item) => {
    if (fadingItems) receiver.train(channels, item * rx * tx);
    for (let at = start; at < start + count; at += tx, vector++) {
      const used = Math.min(tx, start + count - at);
      const offset = fadingItems ? item * rx * tx : vector * rx * tx;
      if (!fadingItems) receiver.train(channels, offset);
      x.fill(0);
      x.set(symbols.subarray(2 * at, 2 * (at + used)));
      for (let r = 0; r < rx; r++) {
        let real = 0, imaginary = 0;
        for (let t = 0; t < used; t++) {
          const h = 2 * (offset + r * tx + t);
          real += channels[h] * x[2 * t] - channels[h + 1] * x[2 * t + 1];
          imaginary += channels[h] * x[2 * t + 1] + channels[h + 1] * x[2 * t];
        }
        y[2 * r] = amplitude * real + noise[2 * (vector * rx + r)];
        y[2 * r + 1] = amplitude * imaginary + noise[2 * (vector * rx + r) + 1];
      }
      receiver.apply(y, estimate);
      for (let t = 0; t < used; t++) {
        received[2 * (at + t)] = gain * estimate[2 * t];
        received[2 * (at + t) + 1] = gain * estimate[2 * t + 1];
        variance[at + t] = tx * noiseVariance * receiver.noiseGains[t];
      }
    }
    start += count;
  });
  return { symbols: received, noiseVariance, effectiveVariance: variance };
}
