/** Python adapters that mean harm or are broken: each is contained, with the right error, and no process is left. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { callAdapter } from "../../../../lib/adapter/runtime.ts";
import { toPlain } from "../../../../lib/contract/value.ts";
import type { Operation } from "../../../../lib/contract/operation.ts";
import { needsPython, pythonWith } from "../../../support/python.ts";
import { until } from "../../../support/until.ts";
import { runOperation, type RunResult } from "../../../ops/harness.ts";
import { failure, images, processesOf, withFolder, writeFolder } from "../support.ts";
import { pythonBindings, pythonManifest, pythonOperations } from "./support.ts";

const python = await pythonWith("numpy");
const CALL = "adapter_call_failed", REFUSED = "adapter_permission_refused";

/** Python of a body, and the code of its end; `none` for an attempt without effect. The canary lies beside the folder. */
const ATTEMPTS: Record<string, [string, string]> = {
  // Files outside. Below /tmp it writes into its own, which ends with it.
  readPasswords: [`open("/etc/passwd").read()`, REFUSED],
  readShadow: [`open("/etc/shadow", "rb").read()`, REFUSED],
  readCanary: [`open(CANARY).read()`, REFUSED],
  readByClimbing: [`open("../canary.txt").read()`, CALL],
  readByDots: [`open("./x/../../canary.txt").read()`, CALL],
  readByDescriptor: [`os.open(CANARY, os.O_RDONLY)`, REFUSED],
  readByFolderDescriptor: [`os.open("canary.txt", os.O_RDONLY, dir_fd=os.open("..", os.O_RDONLY))`, CALL],
  readByMapping: [`mmap.mmap(os.open(CANARY, os.O_RDONLY), 0)`, REFUSED],
  readByArchive: [`zipfile.ZipFile(CANARY)`, REFUSED],
  readByUrl: [`urllib.request.urlopen("file://" + CANARY).read()`, CALL],
  readByLibrary: [`ctypes.CDLL(CANARY)`, CALL],
  readByLink: [`os.symlink(CANARY, "/tmp/link"); open("/tmp/link").read()`, REFUSED],
  readByHardLink: [`os.link(CANARY, "/tmp/link")`, REFUSED],
  readHome: [
    `if any(name.startswith("svc-secret") for name in os.listdir("/root")): raise SystemExit(1)`,
    "none or refused",
  ],
  readKeys: [`open("/root/.ssh/id_rsa").read()`, REFUSED],
  readDevice: [`open("/dev/mem", "rb").read(1)`, REFUSED],
  readDisk: [`open("/dev/sda", "rb").read(1)`, REFUSED],
  readCore: [`open("/proc/kcore", "rb").read(1)`, REFUSED],
  writeOwnFolder: [`open("here.txt", "w").write("x")`, REFUSED],
  writeOwnCode: [`open("code.py", "a").write("x")`, REFUSED],
  writeOwnCache: [`os.mkdir("__pycache__")`, REFUSED],
  changeOwnMode: [`os.chmod("code.py", 0o777)`, REFUSED],
  writeCanary: [`open(CANARY, "w").write("x")`, "none"],
  writeSystem: [`open("/usr/here.txt", "w").write("x")`, REFUSED],
  writeRoot: [`open("/here.txt", "w").write("x")`, REFUSED],
  writeDevice: [`open("/dev/here", "w").write("x")`, REFUSED],
  writeMemoryDisk: [`open("/dev/shm/x", "wb").write(b"x" * (8 << 20))`, CALL],
  fillTemporary: [`for i in range(10): open("/tmp/%d" % i, "wb").write(b"x" * (16 << 20))`, CALL],
  largeFile: [`os.truncate(os.open("/tmp/x", os.O_CREAT | os.O_RDWR), 1 << 40)`, CALL],
  removeOwn: [`os.remove("code.py")`, REFUSED],
  mountOver: [`syscall("mount", b"none", b"/tmp", b"tmpfs", 0, None)`, REFUSED],
  unmount: [`syscall("umount2", b"/proc", 2)`, REFUSED],
  newRoot: [`os.chroot("/tmp")`, REFUSED],
  namespace: [`syscall("unshare", 0x10000000)`, REFUSED],
  // The parent, other processes, the kernel.
  listProcesses: [
    `names = [open("/proc/%s/cmdline" % each).read() for each in os.listdir("/proc") if each.isdigit()]
    if any("deno" in name.split("\\0")[0] for name in names) or len(names) > 2: raise SystemExit(1)`,
    "none",
  ],
  readParentMemory: [`open("/proc/1/mem", "rb").read(1)`, CALL],
  readParentEnvironment: [
    `if b"SVC_SECRET" in open("/proc/%d/environ" % os.getppid(), "rb").read(): raise SystemExit(1)`,
    "none or refused",
  ],
  readParentFolder: [`os.listdir("/proc/1/root/root")`, "none or refused"],
  changeKernel: [`open("/proc/sys/kernel/core_pattern", "w").write("x")`, REFUSED],
  changeOwnScore: [`open("/proc/self/oom_score_adj", "w").write("-1000")`, REFUSED],
  triggerKernel: [`open("/proc/sysrq-trigger", "w").write("b")`, REFUSED],
  environment: [`if "SVC_SECRET" in os.environ: raise SystemExit(1)`, "none"],
  signalParent: [`os.kill(os.getppid(), signal.SIGKILL)`, "none"],
  signalGroup: [`os.killpg(0, signal.SIGTERM)`, CALL],
  signalAll: [`os.kill(-1, signal.SIGKILL)`, "none or failed"],
  signalHost: [
    `for each in range(3, 4000):
      try: os.kill(each, 9)
      except ProcessLookupError: pass`,
    "none",
  ],
  trace: [`syscall("ptrace", 16, 1, 0, 0)`, REFUSED],
  readOtherMemory: [`syscall("process_vm_readv", 1, None, 0, None, 0, 0)`, REFUSED],
  becomeRoot: [`os.setuid(0)`, CALL],
  raiseLimit: [`resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY,) * 2)`, "refused or failed"],
  changePriority: [`os.nice(-10)`, REFUSED],
  keyring: [`syscall("add_key", b"user", b"a", b"b", 1, -3)`, REFUSED],
  loadFilter: [`syscall("bpf", 5, None, 0)`, REFUSED],
  queueOfKernel: [`syscall("io_uring_setup", 8, None)`, REFUSED],
  reboot: [`syscall("reboot", 0, 0, 0, None)`, REFUSED],
  hostName: [`socket.sethostname("owned")`, REFUSED],
  // Network.
  connectLoopback: [`socket.create_connection(("127.0.0.1", PORT))`, REFUSED],
  connectSix: [`socket.socket(socket.AF_INET6).connect(("::1", PORT))`, REFUSED],
  connectAbstract: [`socket.socket(socket.AF_UNIX).connect("\\0svc-test")`, REFUSED],
  connectSocketFile: [`socket.socket(socket.AF_UNIX).connect("/run/dbus/system_bus_socket")`, REFUSED],
  datagram: [`socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", PORT))`, REFUSED],
  rawPackets: [`socket.socket(socket.AF_PACKET, socket.SOCK_RAW)`, REFUSED],
  listen: [`socket.create_server(("127.0.0.1", 0))`, REFUSED],
  resolveName: [`socket.getaddrinfo("example.org", 80)`, "refused or failed"],
  request: [`urllib.request.urlopen("http://127.0.0.1:%d/" % PORT)`, "refused or failed"],
  // Processes and threads.
  fork: [`os.fork()`, REFUSED],
  forkBomb: [`while True: os.fork()`, REFUSED],
  shell: [`if os.system("true") == 0: raise SystemExit(1)`, "none or refused"],
  startProgram: [`subprocess.run(["/usr/bin/true"])`, REFUSED],
  spawn: [`os.posix_spawn("/usr/bin/true", ["true"], {})`, REFUSED],
  otherProcesses: [`multiprocessing.get_context("spawn").Process(target=print).start()`, "refused or failed"],
  daemon: [
    `if os.fork() == 0:
        os.setsid()
        while True: time.sleep(1)`,
    REFUSED,
  ],
  becomeProgram: [`os.execv("/usr/bin/true", ["true"])`, CALL],
  threadBomb: [
    `for each in range(10 ** 6): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()`,
    CALL,
  ],
  lastingThread: [`threading.Thread(target=time.sleep, args=(1000,)).start()`, "none"],
  ignoreSignals: [
    `for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(each, signal.SIG_IGN)`,
    "none",
  ],
  // Memory.
  allocate: [`kept = [bytearray(32 << 20) for each in range(1000)]`, "adapter_memory_exceeded"],
  allocateArrays: [`kept = [numpy.ones(4 << 20) for each in range(1000)]`, "adapter_memory_exceeded"],
  allocateOnce: [`kept = bytearray(1 << 45)`, "adapter_memory_exceeded"],
  sharedMemory: [
    `kept = mmap.mmap(-1, 1 << 32)
    for each in range(0, 1 << 32, 4096): kept[each] = 1`,
    "adapter_memory_exceeded",
  ],
  hiddenMemory: [`os.memfd_create("hidden")`, REFUSED],
  keptMemory: [`syscall("shmget", 0, 1 << 20, 0o1600)`, REFUSED],
  // Ends.
  exit: [`os._exit(3)`, CALL],
  leave: [`sys.exit(4)`, CALL],
  interrupt: [`raise KeyboardInterrupt()`, CALL],
  abort: [`os.abort()`, CALL],
  crash: [`ctypes.string_at(0)`, CALL],
  recursion: [`f = lambda: f(); f()`, CALL],
  deepStack: [`sys.setrecursionlimit(10 ** 9); f = lambda n: f([n]); f(1)`, "memory or failed"],
  // The protocol.
  giantFrame: [`os.write(SINK, b"\\xff" * 8); time.sleep(1000)`, "adapter_result_invalid"],
  giantArray: [`forge(b'{"arrays": [99999999999999], "message": {}}')`, "adapter_result_invalid"],
  negativeArray: [`forge(b'{"arrays": [-1], "message": {}}')`, CALL],
  noHeader: [`forge(b"hello")`, CALL],
  noArrays: [`forge(b'{"message": {}}')`, CALL],
  deepFrame: [`forge(b'{"arrays": [], "message": ' + b"[" * 100000 + b"]" * 100000 + b"}")`, CALL],
  wideFrame: [`forge(b'{"arrays": [], "message": [' + b"0," * 11000000 + b"0]}")`, "adapter_result_invalid"],
  notAnArray: [`forge(b'{"arrays": [100], "message": {}}', b"x" * 100)`, CALL],
  objectArray: [`forge(b'{"arrays": [138], "message": {}}', npy("|O8", 1, b"x" * 10))`, CALL],
  wrongCount: [`forge(b'{"arrays": [138], "message": {}}', npy("<f8", 9, b"x" * 10))`, CALL],
  unknownTag: [`forge(b'{"arrays": [], "message": {"$": ["code", "x"]}}')`, CALL],
  missingArray: [`forge(b'{"arrays": [], "message": {"$": ["array", 7]}}')`, CALL],
  halfFrame: [`os.write(SINK, (1000).to_bytes(8, "little") + b"{"); os._exit(0)`, CALL],
  messageFlood: [
    `text = b'{"arrays": [], "message": {"type": "progress", "call": 1, "completed": 1, "total": 2, "message": null}}'
    while True: os.write(SINK, len(text).to_bytes(8, "little") + text)`,
    CALL,
  ],
  otherCall: [
    `text = b'{"arrays": [], "message": {"type": "result", "call": 99, "value": {}}}'
    os.write(SINK, len(text).to_bytes(8, "little") + text)`,
    "none",
  ],
  // Lies and floods.
  lyingProgress: [
    `for each in (-1, float("nan"), float("inf"), 1e308, "many", None, [1]): context.report_progress(each, each, "x" * 10 ** 6)`,
    "none or failed",
  ],
  printFlood: [`for each in range(10 ** 5): print("x" * 1000)`, "none"],
  nativeFlood: [`for each in range(1000): os.write(1, b"x" * 10 ** 5); os.write(2, b"x" * 10 ** 5)`, "none"],
  escapes: [`raise ValueError("\\x1b]0;title\\x07\\u202e[2J")`, CALL],
  endlessText: [`raise ValueError("x" * 10 ** 7)`, CALL],
  noText: [`raise type("Silent", (Exception,), {"__str__": lambda self: 1 / 0})()`, CALL],
  forgedPlace: [`exec(compile("raise ValueError('forged')", "/etc/passwd", "exec"))`, CALL],
  tamperEncoder: [`sys.modules["__main__"].encoded = lambda *args: 1 / 0`, CALL],
};

/** Answers that are not what was promised. */
const ANSWERS: Record<string, [string, RegExp]> = {
  nothing: [`None`, /it is null/],
  text: [`"bits"`, /it is "bits"/],
  halfPrecision: [`numpy.zeros(4, numpy.float16)`, /the dtype "float16"/],
  otherDtype: [`numpy.zeros(4, numpy.float32)`, /it is float32 \[4\]/],
  words: [`numpy.array(["a", "b"])`, /the dtype "str/],
  dates: [`numpy.zeros(4, "datetime64[s]")`, /the dtype "datetime64/],
  objects: [`numpy.array([1, None])`, /Python objects could not be transferred/],
  records: [`numpy.zeros(4, [("a", "u1")])`, /the dtype "void/],
  twoDimensional: [`numpy.zeros((2, 4), numpy.uint8)`, /it is uint8 \[2, 4\]/],
  manyDimensions: [`numpy.zeros((1,) * 20, numpy.uint8)`, /a list of at most 8 sizes/],
  notBits: [`numpy.array([0, 1, 2, 1], numpy.uint8)`, /element 2 is 2/],
  forgedShape: [`{"dtype": "uint8", "shape": [5], "data": numpy.zeros(4, numpy.uint8)}`, /not a typed array/],
  nanMetadata: [`{"array": BITS, "metadata": {"loss": float("nan")}}`, /NaN, which is not a JSON number/],
  arrayMetadata: [`{"array": BITS, "metadata": {"a": BITS}}`, /not a JSON value/],
  setMetadata: [`{"array": BITS, "metadata": {"a": {1, 2}}}`, /the type set could not be transferred/],
  bytesMetadata: [`{"array": BITS, "metadata": {"a": b"x"}}`, /the type bytes could not be transferred/],
  keyMetadata: [`{"array": BITS, "metadata": {1: 2}}`, /is not a text/],
  deepMetadata: [`{"array": BITS, "metadata": nested(40)}`, /too deep/],
  endlessMetadata: [`{"array": BITS, "metadata": nested(500)}`, /too deep/],
  loopMetadata: [`{"array": BITS, "metadata": loop()}`, /too deep/],
  largeMetadata: [`{"array": BITS, "metadata": {"a": "x" * 2 ** 21}}`, /too long/],
  surrogates: [`{"array": BITS, "metadata": {"a": "\\ud800"}}`, /not valid Unicode/],
  wrongCount: [`{"array": BITS, "metadata": {"bit_count": 5}}`, /not an integer from 0 to 4/],
  wrongItems: [`{"array": BITS, "metadata": {"source_item_counts": [3]}}`, /with the sum 4/],
  unknownField: [`{"array": BITS, "bits": BITS}`, /the unknown field "bits"/],
  pollution: [`{"array": BITS, "__proto__": {"polluted": True}}`, /the unknown field "__proto__"/],
  generator: [`(each for each in range(4))`, /the type generator could not be transferred/],
  lying: [`type("Lie", (), {"__array__": lambda self, *a, **b: 1 / 0})()`, /division by zero/],
};

const PREAMBLE = `
import ctypes, mmap, multiprocessing, os, resource, signal, socket, subprocess, sys, threading, time, zipfile
import urllib.request
import numpy

BITS = numpy.array([1, 0, 1, 1], numpy.uint8)
SINK = sys.modules["__main__"].SINK
NUMBERS = {
    "x86_64": {"mount": 165, "umount2": 166, "unshare": 272, "ptrace": 101, "process_vm_readv": 310, "add_key": 248,
               "bpf": 321, "io_uring_setup": 425, "reboot": 169, "shmget": 29},
    "aarch64": {"mount": 40, "umount2": 39, "unshare": 97, "ptrace": 117, "process_vm_readv": 270, "add_key": 217,
                "bpf": 280, "io_uring_setup": 425, "reboot": 142, "shmget": 194},
}

def syscall(name, *args):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(NUMBERS[os.uname().machine][name], *args) < 0:
        raise OSError(ctypes.get_errno(), name)

def forge(header, more=b""):
    os.write(SINK, len(header).to_bytes(8, "little"))
    for piece in (header, more):
        at = 0
        while at < len(piece):
            at += os.write(SINK, piece[at:at + 65536])
    time.sleep(1000)

def npy(descr, count, data):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (descr, count)
    text += " " * (117 - len(text)) + "\\n"
    return b"\\x93NUMPY\\x01\\x00" + len(text).to_bytes(2, "little") + text.encode() + data

def nested(depth):
    return {"a": nested(depth - 1)} if depth else {}

def loop():
    value = {}
    value["a"] = value
    return value

def fine(context):
    print("hello", [1])
    return {"texts": [{"id": "a", "text": "x"}]}

def forever(context):
    while True:
        pass

def patient(context):
    time.sleep(1000)

def mute(context):
    os.close(SINK)
    time.sleep(1000)

def half(context):
    os.write(SINK, (1000).to_bytes(8, "little"))
    time.sleep(1000)

def deaf(context):
    try:
        time.sleep(1000)
    finally:
        time.sleep(1000)
`;

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
        for (const [name, [, expected]] of Object.entries(ATTEMPTS)) {
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
      for (const [name, [, reason]] of Object.entries(ANSWERS)) {
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
      for (const name of names) assert.equal((await failure(call(name))).code, "adapter_timeout", name);
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
const UNFILTERED: Record<string, [string, string]> = {
  connectLoopback: [`socket.create_connection(("127.0.0.1", PORT))`, "refused or failed"],
  connectAbstract: [`socket.socket(socket.AF_UNIX).connect("\\0svc-test")`, "refused or failed"],
  connectSocketFile: [`socket.socket(socket.AF_UNIX).connect("/run/dbus/system_bus_socket")`, "refused or failed"],
  startProgram: [`subprocess.run(["/usr/bin/true"], check=True)`, "none"],
  readBySubprocess: [`subprocess.run(["/usr/bin/cat", CANARY], check=True)`, CALL],
  mount: [`subprocess.run(["/usr/bin/mount", "-t", "tmpfs", "none", "/tmp"], check=True)`, CALL],
  namespace: [`subprocess.run(["/usr/bin/unshare", "-U", "true"], check=True)`, CALL],
  daemon: [
    `if os.fork() == 0:
        os.setsid()
        while True: time.sleep(1)`,
    "none",
  ],
  forkBomb: [
    `
    while True:
        if os.fork() == 0:
            while True: time.sleep(1)`,
    CALL,
  ],
};

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
