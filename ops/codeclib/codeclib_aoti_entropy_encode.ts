/** `model.codeclib_onnx_entropy_encode` for a network compiled ahead of time; refused for the reason given in codeclib_aoti_encode. */
import { entropyCoderOf } from "./_codeclib_runtimes.ts";

export default entropyCoderOf("aoti");
