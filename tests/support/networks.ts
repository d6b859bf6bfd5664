/** Networks that tests run in their own thread: the sandboxes stay for the next test and the next file, and end with the process. */
import { closeOnnxSessions } from "../../lib/onnx/session.ts";
import { atProcessEnd } from "./process_end.ts";

atProcessEnd(closeOnnxSessions);
