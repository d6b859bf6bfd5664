/**
 * Cost of Python adapters: the start of a step with NumPy beside that of the interpreter alone, and a call with arrays beside
 * a pipe to the same interpreter that carries the same bytes without frames and checks.
 */
import { join } from "node:path";
import { pythonFor } from "../../lib/adapter/python/interpreter.ts";
import { effectiveGrants } from "../../lib/adapter/grants.ts";
import { readAdapter } from "../../lib/adapter/read_manifest.ts";
import { AdapterSandbox } from "../../lib/adapter/sandbox.ts";
import { adapterSources } from "../../lib/adapter/sources.ts";
import { readTrustFile } from "../../lib/adapter/trust.ts";
import { pythonWith } from "../support/python.ts";
import { bubblewrapFailure } from "../../lib/adapter/process/child.ts";
import { median, ms, row, sized } from "./measure.ts";

const MANIFEST = `
schema_version: 1
name: bench
version: "1"
runtime: python
operations:
  - { id: bench.back, name: back, wraps: model.external_encode_latents, adapter: { path: code.py, callable: back, call_style: array } }
`;
const CODE = "import numpy as np\n\ndef back(array, context):\n    return array\n";
/** Copies standard input to standard output in pieces, with the pipes of the guest. */
const PIPE = `
import fcntl, os, sys
for pipe in (0, 1):
    fcntl.fcntl(pipe, 1031, 1 << 20)
size = int(sys.argv[1])
memory = bytearray(size)
view, at = memoryview(memory), 0
while at < size:
    at += os.readv(0, [view[at:at + (1 << 20)]])
at = 0
while at < size:
    at += os.write(1, view[at:at + (1 << 18)])
`;

const timed = async (body: () => unknown) => {
  const begun = performance.now();
  await body();
  return performance.now() - begun;
};

const python = await pythonWith("numpy");
if (python === null || bubblewrapFailure() !== null) {
  row("Python adapters", "skipped", "bubblewrap or NumPy is missing");
} else {
  const root = await Deno.makeTempDir();
  await Deno.writeTextFile(join(root, "svc_adapter.yaml"), MANIFEST);
  await Deno.writeTextFile(join(root, "code.py"), CODE);
  const adapter = readAdapter(root).adapter!, { folder, manifest: { name, limits } } = adapter;
  const grants = effectiveGrants(adapter, [], readTrustFile(null), root);
  const runtime = await pythonFor(adapter, grants, python);
  const started = async () => {
    const sources = adapterSources(folder, ["code.py"]), { granted } = grants;
    const sandbox = await AdapterSandbox.start({
      ...{ name, root, sources, models: [], granted, limits, python: runtime, arrays: true },
    });
    await sandbox.load("code.py", ["back"]);
    return sandbox;
  };
  const starts: number[] = [], alone: number[] = [];
  for (let i = 0; i < sized(20, 1); i++) {
    let sandbox: AdapterSandbox | undefined;
    starts.push(await timed(async () => sandbox = await started()));
    await sandbox!.close();
    alone.push(await timed(() => new Deno.Command(python, { args: ["-s", "-B", "-c", "import numpy"] }).output()));
  }
  row(
    "start of a step in Python with NumPy",
    ms(median(starts)),
    `best ${ms(Math.min(...starts))}; ${ms(median(alone))} for python3 -c 'import numpy'`,
  );
  const sandbox = await started();
  const calls: number[] = [], pipes: number[] = [];
  const megabytes = 16, data = new Float32Array(megabytes * 250_000).map((_, index) => index);
  for (let i = 0; i < sized(20, 1); i++) {
    const args = [{ dtype: "float32", shape: [data.length], data }];
    calls.push(await timed(() => sandbox.call({ module: "code.py", callable: "back", args, seed: null })));
    const child = new Deno.Command(python, {
      args: ["-S", "-c", PIPE, String(data.byteLength)],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.ready;
    const bytes = new Uint8Array(data.buffer);
    pipes.push(
      await timed(async () => {
        for (let at = 0; at < bytes.length; at += 65536) await writer.write(bytes.subarray(at, at + 65536));
        for await (const _ of child.stdout);
      }),
    );
    await Promise.all([writer.close(), child.status]);
  }
  await sandbox.close();
  row(
    `${megabytes} MB into Python and back`,
    ms(median(calls)),
    `best ${ms(Math.min(...calls))}; the same bytes through a bare pipe ${ms(median(pipes))}, start included`,
  );
  await Deno.remove(root, { recursive: true });
}
