import assert from "node:assert/strict";
import { canRestrictWorkers } from "../../../lib/contract/isolation.ts";

const SESSION = new URL("../../../lib/onnx/session.ts", import.meta.url).href;
const MODEL = new URL("../../support/onnx_graphs.ts", import.meta.url).href;

Deno.test("the program's own configuration lets workers be restricted", async () => {
  assert.equal(await canRestrictWorkers(), true);
});

Deno.test("without the flags a model is refused with what helps, and the process lives on", async () => {
  const script = `
    import { openOnnxSession } from ${JSON.stringify(SESSION)};
    import { linearModel } from ${JSON.stringify(MODEL)};
    const refused = await openOnnxSession(linearModel([1], 1)).catch((error) => error);
    console.log(JSON.stringify([refused.code, refused.hint]));
  `;
  const path = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(path, script);
    const args = ["run", "-A", "--no-config", "--no-lock", path];
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    const [refused, hint] = JSON.parse(new TextDecoder().decode(stdout));
    assert.equal(refused, "runtime_unavailable");
    assert.match(hint, /--unstable-worker-options/);
  } finally {
    await Deno.remove(path);
  }
});
