/**
 * A power amplifier that clips: amplitudes above the saturation A are set to A, phases are kept. A^2 is the mean power of
 * the input times the back-off. Replace it by your own operation.
 *
 * Source: the soft-limiter model, such as in Rowe, "Memoryless nonlinearities with Gaussian inputs", Bell Syst. Tech. J. 61,
 * 1982.
 */
import type { ArrayValue, Context, OperationResult } from "../svc_types.ts";

/**
 * Clips symbols.
 * @param inputs by port as declared in the manifest; symbols are complex64 [n], real and imaginary parts in turn
 * @param params as declared in the manifest, defaults filled in
 * @returns outputs by port, and metrics, recorded as external.example_amplifier.<name>
 */
export function clip(
  { symbols }: { symbols: ArrayValue },
  { backoff_db }: { backoff_db: number },
  _context: Context,
): OperationResult {
  const x = symbols.data as Float32Array, y = new Float32Array(x.length), count = x.length / 2;
  const power = x.reduce((sum, part) => sum + part * part, 0) / Math.max(1, count);
  const saturation = Math.sqrt(power * 10 ** (backoff_db / 10));
  let clipped = 0;
  for (let i = 0; i < x.length; i += 2) {
    const amplitude = Math.hypot(x[i], x[i + 1]), gain = amplitude > saturation ? saturation / amplitude : 1;
    if (gain < 1) clipped++;
    y[i] = gain * x[i];
    y[i + 1] = gain * x[i + 1];
  }
  return {
    outputs: { symbols: { dtype: "complex64", shape: [count], data: y } },
    metrics: { clipped_share: clipped / Math.max(1, count) },
  };
}
