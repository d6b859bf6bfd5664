/**
 * `model.codeclib_onnx_entropy_decode` on the native ONNX Runtime of the optional npm package onnxruntime-node, without a sandbox. Results differ
 * from those of the sandbox in the last digits of binary32; planning refuses the step where the runtime is missing.
 */
import { entropyDecoderOf } from "./_codeclib_runtimes.ts";

export default entropyDecoderOf("onnx_cpp");
