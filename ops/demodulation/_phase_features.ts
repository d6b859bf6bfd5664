/**
 * Features of a trained phase tracker, `receiver_features_v3`, float32 [packet, frame symbol, 11]: Re, Im of y; Re, Im
 * of z = y·exp(-jθ), θ the phase interpolated between the pilots; 1 at pilots, else 0; Re, Im of the pilot, 0 at data;
 * cos, sin of θ; k/(length - 1); log10 N0. They do not include the true phase.
 */
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { interpolatePhase, pilotPhases } from "../../lib/numeric/link/phase_tracking.ts";
import type { PilotFrame } from "../_pilot_frames.ts";

const FEATURES = 11;
/** Lower limit of the noise variance in the logarithm. */
const LEAST_NOISE = 1e-12;

/**
 * Features and interpolated phases (radians) of frames, grouped by length in the order of first occurrence, for one call of a
 * network each.
 * @param symbols of all frames, interleaved
 * @param noise N0, one for all or one per symbol
 */
export function frameBatches(frames: readonly PilotFrame[], symbols: Float32Array, noise: number | Float32Array) {
  const byLength = new Map<number, PilotFrame[]>();
  for (const frame of frames) {
    // A frame without symbols has no phase.
    if (frame.length === 0) continue;
    const own = byLength.get(frame.length);
    if (own === undefined) byLength.set(frame.length, [frame]);
    else own.push(frame);
  }
  return [...byLength].map(([length, own]) => {
    const features = new Float32Array(own.length * length * FEATURES);
    const interpolated = own.map((frame, packet) => {
      const received = symbols.subarray(2 * frame.start, 2 * (frame.start + length));
      const phase = interpolatePhase(frame.pilots.positions, pilotPhases(received, frame.pilots), length);
      const variance = typeof noise === "number" ? noise : noise.subarray(frame.start, frame.start + length);
      write(features.subarray(packet * length * FEATURES), received, frame, phase, variance);
      return phase;
    });
    return { frames: own, features: ndarray("float32", features, [own.length, length, FEATURES]), interpolated };
  });
}

function write(
  out: Float32Array,
  received: Float32Array,
  { pilots, length }: PilotFrame,
  phase: Float64Array,
  noise: number | Float32Array,
): void {
  for (let k = 0, next = 0; k < length; k++) {
    const real = received[2 * k], imaginary = received[2 * k + 1];
    const cosine = Math.cos(phase[k]), sine = Math.sin(phase[k]);
    const isPilot = next < pilots.positions.length && pilots.positions[next] === k;
    out.set([
      real,
      imaginary,
      real * cosine + imaginary * sine,
      imaginary * cosine - real * sine,
      isPilot ? 1 : 0,
      isPilot ? pilots.values[2 * next] : 0,
      isPilot ? pilots.values[2 * next + 1] : 0,
      cosine,
      sine,
      length === 1 ? 0 : k / (length - 1),
      Math.log10(Math.max(typeof noise === "number" ? noise : noise[k], LEAST_NOISE)),
    ], k * FEATURES);
    if (isPilot) next++;
  }
}
