/** `model.codeclib_onnx_entropy_encode` on OpenVINO; listed, and refused while planning: the npm package contains no runtime. */
import { entropyCoderOf } from "./_codeclib_runtimes.ts";

export default entropyCoderOf("openvino");
