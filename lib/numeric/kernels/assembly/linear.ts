/** Kernels of dense complex matrices: ../linear.wasm. */
export { reserve } from "./linear_memory";
export { hermitianEigen } from "./hermitian";
export { singularValues } from "./jacobi";
export { decompose, leastSquares } from "./qr";
