/** `model.codeclib_onnx_encode` on OpenVINO; listed, and refused while planning: the npm package contains no runtime. */
import { analysisOf } from "./_codeclib_runtimes.ts";

export default analysisOf("openvino");
