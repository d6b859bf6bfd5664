/** `model.codeclib_onnx_entropy_decode` on OpenVINO; listed, and refused while planning: the npm package contains no runtime. */
import { entropyDecoderOf } from "./_codeclib_runtimes.ts";

export default entropyDecoderOf("openvino");
