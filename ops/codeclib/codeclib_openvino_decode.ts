/** `model.codeclib_onnx_decode` on OpenVINO; listed, and refused while planning: the npm package contains no runtime. */
import { synthesisOf } from "./_codeclib_runtimes.ts";

export default synthesisOf("openvino");
