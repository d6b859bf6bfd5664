/** The process of an adapter: its frames, its end with the thread and the program that started it, and its worker form. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { FrameError, frameOf, readFrame } from "../../../lib/adapter/process/wire.ts";
import { AdapterSandbox } from "../../../lib/adapter/sandbox.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { processesOf, withFolder } from "./support.ts";

const LIMITS = { header: 1000, values: 50, arrays: 1000 };

/** Reads a frame from bytes. */
async function read(bytes: Uint8Array, limits = LIMITS): Promise<unknown> {
  let at = 0;
  return await readFrame((count) => {
    if (at + count > bytes.length) return Promise.resolve(undefined);
    return Promise.resolve(Uint8Array.from(bytes.subarray(at, at += count)));
  }, limits);
}

const joined = (pieces: readonly Uint8Array[]) => Uint8Array.from(pieces.flatMap((piece) => [...piece]));
const headed = (header: string, ...arrays: Uint8Array[]) => {
  const text = new TextEncoder().encode(header), length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(text.length), true);
  return joined([length, text, ...arrays]);
};
const npy = (text: string, data: number) => {
  const head = new TextEncoder().encode(text);
  return joined([Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, head.length, 0), head, new Uint8Array(data)]);
};

Deno.test("a message arrives with its numbers, texts, arrays and kinds", async () => {
  const message = {
    numbers: [0, -0, 1.5, NaN, Infinity, -Infinity, 12n, -(2n ** 70n)],
    texts: ["", "über", "\ud800", "\0"],
    nothing: [null, undefined, true, false, [], {}],
    arrays: [
      Uint8Array.of(1, 2),
      Int32Array.of(-1),
      BigInt64Array.of(-(2n ** 63n)),
      Float32Array.of(NaN, 0.5),
      Float64Array.of(),
      new Uint8Array(4).subarray(1, 3),
    ],
    $: { $: ["array", 0] },
    ["__proto__"]: { polluted: true },
  };
  const received = await read(joined(frameOf(message)), { header: 10_000, values: 1000, arrays: 10_000 });
  assert.deepEqual(received, { ...message });
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  const other = await read(joined(frameOf([new Date(), new Map(), new Uint16Array(1)]))) as object[];
  assert.deepEqual(other.map((value) => Object.getPrototypeOf(value).constructor.name), ["Date", "Map", "Uint16Array"]);
  assert.equal(await read(new Uint8Array(0)), undefined);
});

/** Frames that are refused: the reason, and the bytes. */
const REFUSED: Record<string, ["limit" | "form", Uint8Array]> = {
  "a long header": ["limit", joined([Uint8Array.of(255, 255, 255, 255, 255, 255, 255, 127)])],
  "many values": ["limit", headed(`{"arrays":[],"message":[${"0,".repeat(60)}0]}`)],
  "large arrays": ["limit", headed(`{"arrays":[500,501],"message":0}`)],
  "no JSON": ["form", headed("{")],
  "no UTF-8": ["form", joined([Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 255)])],
  "null": ["form", headed("null")],
  "no arrays": ["form", headed(`{"message":1}`)],
  "a negative size": ["form", headed(`{"arrays":[-1],"message":1}`)],
  "a fraction of a byte": ["form", headed(`{"arrays":[20.5],"message":1}`)],
  "an end inside": ["form", headed(`{"arrays":[100],"message":1}`)],
  "no magic": ["form", headed(`{"arrays":[20],"message":1}`, new Uint8Array(20))],
  "objects": [
    "form",
    headed(`{"arrays":[74],"message":1}`, npy("{'descr': '|O8', 'fortran_order': False, 'shape': (1,), }\n", 8)),
  ],
  "a count beyond the bytes": [
    "form",
    headed(`{"arrays":[75],"message":1}`, npy("{'descr': '<f8', 'fortran_order': False, 'shape': (90,), }\n", 8)),
  ],
  "two dimensions": [
    "form",
    headed(`{"arrays":[75],"message":1}`, npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,1), }\n", 8)),
  ],
  "an unknown tag": ["form", headed(`{"arrays":[],"message":{"$":["code","x"]}}`)],
  "a missing array": ["form", headed(`{"arrays":[],"message":{"$":["array",0]}}`)],
  "a member of lists": ["form", headed(`{"arrays":[],"message":{"$":["array","length"]}}`)],
};

Deno.test("a frame over a limit or of another form is refused before memory is taken", async () => {
  for (const [name, [reason, bytes]] of Object.entries(REFUSED)) {
    await assert.rejects(read(bytes), (error: unknown) => error instanceof FrameError && error.reason === reason, name);
  }
  const deep = headed(`{"arrays":[],"message":${"[".repeat(400)}${"]".repeat(400)}}`);
  await assert.rejects(read(deep, { ...LIMITS, values: 1000 }), FrameError);
});

const spec = (root: string, source: string) => ({
  name: "probe",
  root,
  sources: new Map([["code.js", source]]),
  models: [],
  granted: { net: [], read: [], env: [] },
  limits: { timeout_s: 60, memory_mb: 256 },
});
const callOf = (callable: string) => ({ module: "code.js", callable, args: [], seed: null });

/** Lengths around those of the pieces in which frames are read and written. */
Deno.test("arrays of any length cross the pipes in both directions, also after a long array", () =>
  withFolder(async (root) => {
    const sandbox = await AdapterSandbox.start(spec(root, "export const back = (...arrays) => arrays.slice(0, -1);"));
    try {
      await sandbox.load("code.js", ["back"]);
      const piece = 2 ** 16;
      for (const length of [0, 1, piece - 200, piece - 1, piece, piece + 1, 2 * piece, 5 * piece + 3]) {
        const args = [length, 3, length].map((size) => new Uint8Array(size).map((_, index) => index * 31 >> 3));
        const back = (await sandbox.call({ ...callOf("back"), args })).value as Uint8Array[];
        // A report of each difference of long arrays would take minutes.
        assert.deepEqual(back.map((array, index) => Buffer.compare(array, args[index])), [0, 0, 0], `${length} bytes`);
      }
    } finally {
      await sandbox.close();
    }
  }));

Deno.test("a compiled program's form confines the code to a worker of its process", () =>
  withFolder(async (root) => {
    const words = ["run", "-A", "--no-config", "--unstable-worker-options", join(ROOT_PATH, "cli.ts")];
    const source = `
export const echo = (context) => [1n, Uint8Array.of(7), Deno.readTextFileSync("note.txt"), context.seed];
export const read = () => Deno.readTextFileSync("/etc/passwd");
export const run = () => new Deno.Command("/bin/true").outputSync();
export const leave = () => Deno.exit(3);`;
    Deno.writeTextFileSync(join(root, "note.txt"), "note");
    const sandbox = await AdapterSandbox.start(spec(root, source), words);
    try {
      await sandbox.load("code.js", ["echo", "read", "run", "leave"]);
      assert.deepEqual((await sandbox.call(callOf("echo"))).value, [1n, Uint8Array.of(7), "note", null]);
      await assert.rejects(sandbox.call(callOf("read")), { code: "adapter_permission_refused" });
      await assert.rejects(sandbox.call(callOf("run")), { code: "adapter_permission_refused" });
      await assert.rejects(sandbox.call(callOf("leave")), { code: "adapter_call_failed" });
    } finally {
      await sandbox.close();
    }
    assert.deepEqual(processesOf(root), []);
  }));

Deno.test({
  name: "the doctor names the launcher of processes, and the reason why a stronger one is not used",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withFolder(async (folder) => {
      const broken = join(folder, "bwrap"), args = ["run", "-A", "--no-check", join(ROOT_PATH, "cli.ts")];
      await Deno.writeTextFile(broken, "#!/bin/sh\necho 'no namespaces' >&2\nexit 1\n", { mode: 0o755 });
      await Deno.symlink("/bin/sh", join(folder, "sh"));
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: [...args, "--project-root", folder, "doctor", "--json"],
        env: { PATH: folder },
      }).output();
      const { checks } = JSON.parse(new TextDecoder().decode(stdout));
      const { status, detail, hint } = checks.find(({ id }: { id: string }) => id === "adapter_process");
      assert.equal(status, "warning");
      assert.match(
        detail,
        /^processes of adapters start with limits by sh; bwrap: .*no namespaces; setpriv: .*not found/,
      );
      assert.match(hint, /bubblewrap/);
    }),
});

/** Starts an adapter that loops, and says so. */
const looping = (root: string) => `
import { AdapterSandbox } from ${JSON.stringify(new URL("../../../lib/adapter/sandbox.ts", import.meta.url).href)};
const sandbox = await AdapterSandbox.start({ name: "probe", root: ${JSON.stringify(root)}, models: [],
  sources: new Map([["code.js", "export const loop = (context) => { context.report_progress(0, 1); for (;;); }"]]),
  granted: { net: [], read: [], env: [] }, limits: { timeout_s: 600, memory_mb: 256 } });
await sandbox.load("code.js", ["loop"]);
const begun = Promise.withResolvers();
sandbox.call({ module: "code.js", callable: "loop", args: [], seed: null }, { progress: () => begun.resolve() });
await begun.promise;`;

async function untilGone(root: string): Promise<void> {
  while (processesOf(root).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

Deno.test({
  name: "a process that loops ends with the thread and with the program that started it",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withFolder(async (root) => {
      const script = join(root, "..", `${crypto.randomUUID()}.ts`);
      try {
        await Deno.writeTextFile(script, `${looping(root)}\nself.postMessage(0);`);
        const worker = new Worker(`file://${script}`, { type: "module" });
        await new Promise((resolve) => worker.onmessage = resolve);
        assert.notDeepEqual(processesOf(root), []);
        worker.terminate();
        await untilGone(root);

        await Deno.writeTextFile(script, `${looping(root)}\nconsole.log("begun");`);
        const program = new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", "--no-check", "--config", join(ROOT_PATH, "deno.json"), script],
          stdout: "piped",
        }).spawn();
        const reader = program.stdout.getReader();
        await reader.read();
        assert.notDeepEqual(processesOf(root), []);
        program.kill("SIGKILL");
        await program.status;
        await reader.cancel();
        await untilGone(root);
      } finally {
        await Deno.remove(script);
      }
    }),
});
