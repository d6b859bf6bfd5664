/** Kernels of dense complex matrices: ../linear.wasm. */
export { reserve } from "./linear_memory";
export { accumulate, factor, reflect, rotate, tridiagonalise } from "./householder";
export { orthogonalise } from "./jacobi";
