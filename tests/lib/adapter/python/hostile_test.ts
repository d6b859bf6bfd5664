/** Python adapters that mean harm or are broken: each is contained, with the right error, and no process is left. */
import assert from "node:assert/strict";
import { isSampled } from "../../../support/sample.ts";
import { join } from "node:path";
import { callAdapter } from "../../../../lib/adapter/runtime.ts";
import { toPlain } from "../../../../lib/contract/value.ts";
import type { Operation } from "../../../../lib/contract/operation.ts";
import { needsPython, pythonWith } from "../../../support/python.ts";
import { until } from "../../../support/until.ts";
import { runOperation, type RunResult } from "../../../ops/harness.ts";
import { failure, images, processesOf, withFolder, writeFolder } from "../support.ts";
import { pythonBindings, pythonManifest, pythonOperations } from "./support.ts";
import { tables } from "../../../support/tables.ts";

const DATA = tables(import.meta.url);

const python = await pythonWith("numpy");
const CALL = "adapter_call_failed", REFUSED = "adapter_permission_refused";

/** Python of a body, and the code of its end; `none` for an attempt without effect. The canary lies beside the folder. */
const ATTEMPTS: Record<string, [string, string]> = DATA.ATTEMPTS;

/** Answers that are not what was promised. */
const ANSWERS: Record<string, [string, RegExp]> = DATA.ANSWERS;

const PREAMBLE = DATA.PREAMBLE;

async function probe(
  project: string,
  code: string,
  manifest: string,
  interpreter = python!,
): Promise<(name: string, params?: Record<string, unknown>) => Promise<RunResult>> {
  const folder = writeFolder(join(project, "probe"), { "svc_adapter.yaml": manifest, "code.py": code });
  const operations = await pythonOperations(folder, { python: interpreter });
  return (name) => {
    const operation = operations.get(`probe.${name.toLowerCase()}`) as Operation;
    return runOperation(
      operation,
      !JSON.stringify(operation.contract).includes('"images"') ? {} : { inputs: { images: images() } },
    );
  };
}

const functions = (bodies: Record<string, [string, unknown]>, canary: string, port: number) =>
  `CANARY, PORT = ${JSON.stringify(canary)}, ${port}\n` +
  Object.entries(bodies).map(([name, [body]]) => `def ${name}(context):\n    ${body}\n    return fine(context)\n`).join(
    "\n",
  );

const matches = (expected: string, code: string): boolean =>
  expected.split(" or ").some((one) =>
    one === code || (one === "refused" && code === REFUSED) || (one === "failed" && code === CALL) ||
    (one === "memory" && code === "adapter_memory_exceeded")
  );

Deno.test({
  name:
    "whatever a Python adapter tries ends with a coded error, nothing outside is read or written, no process is left",
  ...needsPython(python),
  fn: () =>
    withFolder(async (project) => {
      const canary = join(project, "canary.txt");
      Deno.writeTextFileSync(canary, "canary");
      Deno.env.set("SVC_SECRET", "secret");
      const heard: string[] = [];
      await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
        heard.push(request.url);
        return new Response("served");
      });
      try {
        const code = PREAMBLE + functions(ATTEMPTS, canary, server.addr.port);
        const extra = "limits: { timeout_s: 60, memory_mb: 300 }";
        const call = await probe(project, code, pythonManifest([...Object.keys(ATTEMPTS), "fine"], { extra }));
        const other: string[] = [];
        // Only below /tmp does the path lead into a folder of the adapter's own; elsewhere its parents are read-only.
        const attempts = project.startsWith("/tmp/")
          ? ATTEMPTS
          : { ...ATTEMPTS, writeCanary: [ATTEMPTS.writeCanary[0], "adapter_permission_refused"] };
        // Every fourth: each part of the table, from files to the protocol, has more. A process of Python for each.
        for (const [index, [name, [, expected]]] of Object.entries(attempts).entries()) {
          if (!isSampled(index, 4)) continue;
          const { code, message } = await failure(call(name));
          if (!matches(expected, code)) other.push(`${name}: ${code} ${message}`);
          assert.ok(message.length < 3000, name);
          // deno-lint-ignore no-control-regex -- none of them reaches a terminal
          assert.doesNotMatch(message, /[\x00-\x08\x0b-\x1f\x7f\u202e]/, name);
        }
        assert.deepEqual(other, []);
        await call("fine");
        assert.equal(Deno.readTextFileSync(canary), "canary");
        assert.deepEqual(heard, []);
        const left = [...Deno.readDirSync(project)].map(({ name }) => name).sort();
        assert.deepEqual(left, ["canary.txt", "probe"]);
        const own = [...Deno.readDirSync(join(project, "probe"))].map(({ name }) => name).sort();
        assert.deepEqual(own, ["code.py", "svc_adapter.yaml"]);
        await until("no process of the adapter is left", () => processesOf(join(project, "probe")).length === 0);
      } finally {
        Deno.env.delete("SVC_SECRET");
      }
    }),
});

Deno.test({
  name: "an answer in Python that is not what was promised is refused with the reason",
  ...needsPython(python),
  fn: () =>
    withFolder(async (project) => {
      const wraps = "model.external_encode_bits", names = Object.keys(ANSWERS);
      const bodies = names.map((name) => `def ${name}(call, context):\n    return ${ANSWERS[name][0]}\n`).join("\n");
      const call = await probe(project, PREAMBLE + bodies, pythonManifest(names, { wraps, style: "dict" }));
      for (const [index, [name, [, reason]]] of Object.entries(ANSWERS).entries()) {
        if (!isSampled(index, 3)) continue;
        const { code, message } = await failure(call(name));
        assert.match(code, /^adapter_(?:result_invalid|call_failed)$/, `${name}: ${code} ${message}`);
        assert.match(message, reason, name);
      }
      assert.equal(({} as { polluted?: boolean }).polluted, undefined);
    }),
});

Deno.test({
  name: "a Python adapter that does not answer ends with the time limit or a cancellation, and leaves no process",
  ...needsPython(python),
  fn: () =>
    withFolder(async (project) => {
      const names = ["forever", "patient", "deaf", "mute", "half"], folder = join(project, "probe");
      const call = await probe(project, PREAMBLE, pythonManifest(names, { extra: "limits: { timeout_s: 1 }" }));
      for (const [index, name] of names.entries()) {
        if (isSampled(index, 3)) assert.equal((await failure(call(name))).code, "adapter_timeout", name);
      }
      await until("no process of the adapter is left", () => processesOf(folder).length === 0);
      writeFolder(folder, { "svc_adapter.yaml": pythonManifest(names) });
      const binding = (await pythonBindings(folder, { python: python! })).get("probe.deaf")!;
      let cancelled = false;
      const cancellation = {
        get isCancelled() {
          return cancelled;
        },
        throwIfCancelled() {},
      };
      const running = failure(callAdapter(binding, { args: [], seed: null, cancellation }));
      await until("the adapter runs", () => processesOf(folder).length > 0);
      cancelled = true;
      assert.equal((await running).code, "operation_canceled");
      await until("no process of the adapter is left", () => processesOf(folder).length === 0);
    }),
});

/** Attempts under an interpreter that cannot filter its system calls: the namespaces hold alone. */
const UNFILTERED: Record<string, [string, string]> = DATA.UNFILTERED;

Deno.test({
  name: "without the filter of system calls the namespaces and the number of processes hold",
  ...needsPython(python),
  fn: () =>
    withFolder(async (project) => {
      const canary = join(project, "canary.txt"), venv = join(project, "venv");
      Deno.writeTextFileSync(canary, "canary");
      const made = await new Deno.Command(python!, {
        args: ["-m", "venv", "--without-pip", "--system-site-packages", venv],
        stderr: "piped",
      }).output();
      assert.ok(made.success, new TextDecoder().decode(made.stderr));
      const [library] = [...Deno.readDirSync(join(venv, "lib"))].map(({ name }) => name);
      // The guest cannot call the kernel by itself then.
      writeFolder(join(venv, "lib", library, "site-packages"), {
        "sitecustomize.py": 'import sys\nif sys.flags.isolated == 0: sys.modules["_ctypes"] = None\n',
      });
      await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("served"));
      const code = `import os, socket, subprocess, time\n` +
        `def fine(context):\n    return {"texts": [{"id": "a", "text": "x"}]}\n` +
        functions(UNFILTERED, canary, server.addr.port);
      const manifest = pythonManifest([...Object.keys(UNFILTERED), "fine"]);
      const call = await probe(project, code, manifest, join(venv, "bin", "python3"));
      for (const [name, [, expected]] of Object.entries(UNFILTERED)) {
        const { code, message } = await failure(call(name));
        assert.ok(matches(expected, code), `${name}: ${code} ${message}`);
        if (name === "forkBomb") assert.match(message, /more than 32 processes/);
      }
      assert.equal(Deno.readTextFileSync(canary), "canary");
      await until("no process of the adapter is left", () => processesOf(join(project, "probe")).length === 0);
    }),
});

Deno.test({
  name: "links in the folder of a Python adapter are refused, caches are neither hashed nor read",
  ...needsPython(python),
  fn: () =>
    withFolder(async (project) => {
      const call = await probe(project, PREAMBLE, pythonManifest(["fine"])), folder = join(project, "probe");
      Deno.symlinkSync("/etc/passwd", join(folder, "data.txt"));
      await assert.rejects(pythonOperations(folder, { python: python! }), /symbolic link data.txt/);
      assert.equal((await failure(call("fine"))).code, "adapter_changed");
      Deno.removeSync(join(folder, "data.txt"));
      // Its owner runs the code by itself, which writes a cache.
      writeFolder(folder, { "__pycache__/code.cpython-311.pyc": "x", "part/__pycache__/x.pyc": "x" });
      await call("fine");
      const reading = PREAMBLE + `
def look(context):
    found = [os.listdir("__pycache__"), os.listdir("part/__pycache__")]
    return {"texts": [{"id": "a", "text": str(found)}]}
`;
      writeFolder(folder, { "part/kept.txt": "x" });
      const looking = await probe(project, reading, pythonManifest(["look"]));
      const { outputs } = await looking("look");
      assert.deepEqual(toPlain(outputs.texts.json().items), [{ id: "a", text: "[[], []]" }]);
    }),
});

Deno.test({
  name: "a Python adapter is refused where no sandbox works, and says which grant runs it all the same",
  ...needsPython(python),
  fn: () =>
    withFolder(async (project) => {
      const folder = writeFolder(join(project, "probe"), {
        "svc_adapter.yaml": pythonManifest(["fine"]),
        "code.py": "def fine():\n    return {'texts': [{'id': 'a', 'text': 'x'}]}\n",
      });
      const script = `
import { open } from ${JSON.stringify(new URL("../../../../mod.ts", import.meta.url).href)};
const adapters = [{ folder: Deno.args[0], grants: Deno.args.slice(2) }];
try {
  const svc = await open({ projectRoot: ${JSON.stringify(project)}, python: Deno.args[1], adapters });
  const run = await svc.recipes.run({ name: "free", metadata: { seed: 1 }, steps: [{ id: "texts", op: "probe.fine" }] });
  const { status, warnings } = await svc.runs.verify(run.run_id);
  console.log(JSON.stringify({ run: run.status, status, warnings: warnings.map(({ code }) => code) }));
  svc.close();
} catch (error) {
  console.log(JSON.stringify({ code: error.code, hint: error.hint }));
}
`;
      const file = join(project, "load.ts"), interpreter = python!;
      Deno.writeTextFileSync(file, script);
      // The search path has no bwrap.
      Deno.mkdirSync(join(project, "bin"), { recursive: true });
      Deno.symlinkSync("/bin/sh", join(project, "bin", "sh"));
      const run = async (...grants: string[]) => {
        const config = new URL("../../../../deno.json", import.meta.url).pathname;
        const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", "--no-check", "--config", config, file, folder, interpreter, ...grants],
          env: { PATH: join(project, "bin") },
        }).output();
        const text = new TextDecoder().decode(stdout).trim().split("\n").at(-1)!;
        assert.ok(text.startsWith("{"), new TextDecoder().decode(stderr));
        return JSON.parse(text) as { code?: string; hint?: string; warnings?: string[] };
      };
      const refused = await run();
      assert.equal(refused.code, "adapter_isolation_unavailable");
      assert.match(refused.hint!, /--grant probe:unsandboxed/);
      const granted = { run: "completed", status: "warning", warnings: ["adapter_unsandboxed"] };
      assert.deepEqual(await run("unsandboxed"), granted);
    }),
});
