/** Complex numbers of the kernels of ./grid.ts: one vector of two binary64 lanes, or binary32 pairs in memory. */
import { swapped } from "./linear_memory";

/** (-x, x) */
// @ts-ignore: decorator of AssemblyScript
@inline
export function turned(x: f64): v128 {
  return f64x2.replace_lane(f64x2.splat(x), 0, -x);
}

// @ts-ignore: decorator of AssemblyScript
@inline
export function loadComplex(at: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load64_zero(at));
}

// @ts-ignore: decorator of AssemblyScript
@inline
export function storeComplex(at: usize, value: v128): void {
  v128.store64_lane(at, f32x4.demote_f64x2_zero(value), 0);
}

/** A product: real parts in both lanes of `real`, (-i, i) in `imaginary`. */
// @ts-ignore: decorator of AssemblyScript
@inline
export function times(real: v128, imaginary: v128, x: v128): v128 {
  return f64x2.add(f64x2.mul(real, x), f64x2.mul(imaginary, swapped(x)));
}
