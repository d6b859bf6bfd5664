/** Runs code of an adapter whose memory_mb is 256 and prints the code of its failure and the growth of this process. */
import { join } from "node:path";
import { closeOnnxSessions } from "../../../lib/onnx/session.ts";
import { runOperation } from "../../ops/harness.ts";
import { linearModel } from "../../support/onnx_graphs.ts";
import { images, manifestOf, operationsOf, sha256, withFolder, writeFolder } from "./support.ts";

/** The greatest resident memory so far. */
const peakMb = () => Number(/^VmHWM:\s*(\d+) kB/m.exec(Deno.readTextFileSync("/proc/self/status"))![1]) / 1024;

await withFolder(async (project) => {
  const model = linearModel([2], 1);
  const extra = `limits: { memory_mb: 256, timeout_s: 60 }\nmodels: [{ id: net, path: net.onnx, sha256: ${
    sha256(model)
  } }]`;
  const folder = writeFolder(join(project, "probe"), {
    "svc_adapter.yaml": manifestOf(["probe"], { wraps: "model.external_encode_latents", extra }),
    "net.onnx": model,
    "code.ts": `export async function probe(_: object, { infer }: any): Promise<any> {\n${Deno.args[0]}\n}`,
  });
  const before = peakMb();
  try {
    await runOperation(operationsOf(folder).get("probe.probe")!, { inputs: { images: images() } });
    console.log(JSON.stringify({ code: "none" }));
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    console.log(JSON.stringify({ code, message, grownMb: Math.round(peakMb() - before) }));
  } finally {
    await closeOnnxSessions();
  }
});
