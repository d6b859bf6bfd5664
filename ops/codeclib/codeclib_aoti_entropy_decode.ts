/** `model.codeclib_onnx_entropy_decode` for a network compiled ahead of time; refused for the reason given in codeclib_aoti_encode. */
import { entropyDecoderOf } from "./_codeclib_runtimes.ts";

export default entropyDecoderOf("aoti");
