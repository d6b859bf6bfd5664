/**
 * A child process for code that is not trusted: its own permissions, limits of memory, processor time, files and core
 * dumps by the operating system, and bubblewrap around it under Linux. Frames ({@link ./wire.ts}) travel on its standard
 * input and output; of its standard error the end is kept. It is ended by SIGKILL, which no code can ignore.
 *
 * A child ends with the thread that starts it (`--die-with-parent`, `--pdeathsig`), and where the system has no such
 * signal, when its standard input closes.
 */
import { type FrameLimits, frameOf, readFrame } from "./wire.ts";

const MIB = 2 ** 20;
/** Larger pieces wait longer for the reader of the pipe. */
const PIECE_BYTES = 2 ** 16;
/** A pipe holds less, and a read into longer memory costs more. */
const READ_BYTES = 2 ** 18;
const STDERR_BYTES = 4096;
/** Memory of a Deno process beside that of its code: 512 MiB are the range of V8's machine code. */
const RUNTIME_MB = 1024;
const PS_MS = 250;

export interface ChildSpec {
  /** Absolute path of the program. */
  program: string;
  /** The program as this one may run it without a shell: its path or its name. */
  permitted: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** The working directory, which the child can read. */
  folder: string;
  /** Paths of the system that the program needs, beside the C library. */
  system: readonly string[];
  /** Further paths that the child can read. */
  read: readonly string[];
  /** Folders and files in `folder` that bubblewrap hides. */
  hidden: readonly string[];
  /** Whether the child starts under bubblewrap or not at all. */
  confined: boolean;
  /** Whether the child may use the network. */
  network: boolean;
  memoryMb: number;
  cpuSeconds: number;
}

/** The end of a process. */
export interface ChildEnd {
  /** Such as `SIGTRAP`, or null for an exit. */
  signal: string | null;
  code: number;
  /** The end of its standard error. */
  stderr: string;
}

/** Stronger launchers first; the last one needs nothing but the right to run the program. */
export type Launcher = "bwrap" | "setpriv" | "limits" | "plain";

/** The launchers that failed in this thread before any code ran in them, with the reason; they are not tried again. */
const failures = new Map<Launcher, string>();

const mayRun = (command: string) => Deno.permissions.querySync({ name: "run", command }).state === "granted";

function knownLaunchers(): Launcher[] {
  if (Deno.build.os === "windows" || !mayRun("sh")) return ["plain"];
  return Deno.build.os === "linux" ? ["bwrap", "setpriv", "limits", "plain"] : ["limits", "plain"];
}

/** The launcher of the next child, after one was started, and the reasons why stronger ones are not used. */
export function launcherReport(): { launcher: Launcher | undefined; failures: ReadonlyMap<Launcher, string> } {
  return { launcher: knownLaunchers().find((name) => !failures.has(name)), failures };
}

/** Sets limits, then becomes the program. Sizes are KiB (-d) and blocks of 512 bytes (-f: caches of the runtime). */
const LIMITS = 'ulimit -c 0; ulimit -d "$1"; ulimit -f 131072; ulimit -n 256; ulimit -t "$2"; shift 2; exec "$@"';
const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin";

/** Where the launchers and a program without a path are looked up. */
export function searchPath(): string {
  const known = Deno.permissions.querySync({ name: "env", variable: "PATH" }).state === "granted";
  return (known ? Deno.env.get("PATH") : undefined) ?? SYSTEM_PATH;
}

const NAMESPACES = `--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --disable-userns
  --uid 65534 --gid 65534 --cap-drop ALL --hostname svc --die-with-parent --new-session --clearenv`.split(/\s+/);
/** The C library and the loader: an executable needs no more of the system. Names of hosts need the last three. */
const LIBRARIES = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];
const NAME_SERVICE = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"];

type Namespace = Pick<ChildSpec, "folder" | "system" | "read" | "hidden" | "network" | "env">;

/** Arguments of bubblewrap: they are applied in their order. A writable /proc would give root a way to the host. */
function bubblewrap({ folder, system, read, hidden, network, env }: Namespace): string[] {
  const bind = (path: string) => ["--ro-bind-try", path, path];
  const folders = hidden.filter((path) => Deno.statSync(path).isDirectory);
  return [
    ...NAMESPACES,
    ...(network ? NAME_SERVICE.flatMap(bind) : ["--unshare-net"]),
    ...LIBRARIES.flatMap(bind),
    ...["--dev", "/dev", "--size", String(MIB), "--tmpfs", "/dev/shm", "--size", String(64 * MIB), "--tmpfs", "/tmp"],
    ...["--proc", "/proc"],
    ...[...system, ...read].flatMap(bind),
    ...["--ro-bind", folder, folder],
    ...hidden.flatMap((path) => folders.includes(path) ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path]),
    ...["/proc", "/dev", "/", ...folders].flatMap((path) => ["--remount-ro", path]),
    "--chdir",
    folder,
    ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
    "--",
  ];
}

function commandLine(launcher: Launcher, spec: ChildSpec): string[] {
  if (launcher === "plain") return [spec.permitted, ...spec.args];
  const command = [spec.program, ...spec.args];
  const limits = [String((spec.memoryMb + RUNTIME_MB) * 1024), String(Math.ceil(spec.cpuSeconds))];
  const wrapped = launcher === "bwrap"
    ? ["bwrap", ...bubblewrap(spec)]
    : launcher === "setpriv"
    ? ["setpriv", "--pdeathsig", "KILL", "--no-new-privs"]
    : [];
  return ["sh", "-c", LIMITS, "sh", ...limits, ...wrapped, ...command];
}

let bubblewrapTried: string | null | undefined;

/** Why bubblewrap cannot confine a process here; null where it can. It is tried once in a thread. */
export function bubblewrapFailure(): string | null {
  if (bubblewrapTried === undefined) bubblewrapTried = tryBubblewrap();
  return bubblewrapTried;
}

function tryBubblewrap(): string | null {
  if (Deno.build.os !== "linux") return "bubblewrap is a program for Linux";
  if (!mayRun("sh")) return "this program may not start other programs";
  const spec = { folder: "/usr", system: [], read: [], hidden: [], network: false, env: {} };
  try {
    const { success, stderr } = new Deno.Command("sh", {
      args: ["-c", 'exec "$@"', "sh", "bwrap", ...bubblewrap(spec), "/usr/bin/true"],
      clearEnv: true,
      env: { PATH: searchPath() },
      stdin: "null",
    }).outputSync();
    return success ? null : new TextDecoder().decode(stderr).trim().split("\n").at(-1)!;
  } catch (error) {
    return String(error);
  }
}

/** Paths that hide the rest of the namespace when they are bound. */
const COVERING = ["/", "/dev", "/tmp", "/usr", ...LIBRARIES];

/**
 * Starts a child with the strongest launcher that works here.
 * @param begin waits for the sign that the program runs; no foreign code may run before it
 * @throws what `begin` throws, or the last failure to start
 */
export async function startChild(spec: ChildSpec, begin: (child: Child) => Promise<void>): Promise<Child> {
  const covered = spec.read.some((path) => COVERING.includes(path)), failed = new Map<Launcher, string>();
  const known: Launcher[] = spec.confined ? ["bwrap"] : knownLaunchers().filter((name) => !failures.has(name));
  const tried = known.filter((name) => name !== "bwrap" || !covered);
  if (tried.length === 0) throw new TypeError("a granted path covers the folders of the sandbox");
  for (const launcher of tried) {
    let child: Child | undefined;
    try {
      child = new Child(commandLine(launcher, spec), spec);
      await begin(child);
      for (const [name, reason] of failed) failures.set(name, reason);
      return child;
    } catch (error) {
      await child?.kill();
      failed.set(launcher, error instanceof Error ? error.message : String(error));
      if (failed.size === tried.length) throw error;
    }
  }
  throw new TypeError("no launcher is known");
}

export class Child {
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamBYOBReader;
  readonly #drained: Promise<void>;
  /** Bytes that were read and not taken, in memory that the next reads use again. */
  #rest = new Uint8Array(new ArrayBuffer(PIECE_BYTES), 0, 0);
  #sent: Promise<void> = Promise.resolve();
  #stderr = new Uint8Array(0);

  constructor([command, ...args]: readonly string[], { env, folder }: Pick<ChildSpec, "env" | "folder">) {
    this.#process = new Deno.Command(command, {
      args,
      cwd: folder,
      clearEnv: true,
      env: { PATH: searchPath(), ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#writer = this.#process.stdin.getWriter();
    this.#writer.closed.catch(() => {});
    this.#reader = this.#process.stdout.getReader({ mode: "byob" });
    this.#drained = this.#drain();
  }

  get pid(): number {
    return this.#process.pid;
  }

  /**
   * Sends a message, after those before it.
   * @throws TypeError for a message that has no form as a frame; the end of the process is no error here
   */
  send(message: unknown): void {
    const pieces = frameOf(message);
    this.#sent = this.#sent.then(async () => {
      for (const piece of pieces) {
        for (let at = 0; at < piece.length; at += PIECE_BYTES) {
          await this.#writer.write(piece.subarray(at, at + PIECE_BYTES));
        }
      }
    }).catch(() => {});
  }

  /** The next message; undefined at the end of the process. @throws FrameError */
  receive(limits: FrameLimits): Promise<unknown> {
    return readFrame((bytes) => this.#take(bytes), limits);
  }

  /** Ends the process, where it has not ended, and waits for its end. */
  kill(): Promise<ChildEnd> {
    return this.#killed ??= this.#kill();
  }
  #killed: Promise<ChildEnd> | undefined;

  async #kill(): Promise<ChildEnd> {
    try {
      this.#process.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    const { code, signal } = await this.#process.status;
    await Promise.all([this.#drained, this.#writer.abort().catch(() => {}), this.#reader.cancel()]);
    await this.#sent;
    return { code, signal: signal ?? signalOf(code), stderr: new TextDecoder().decode(this.#stderr) };
  }

  /** A long part is read into its own memory, a short one through that of the rest: few reads, no copies of data. */
  async #take(bytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    let into = new Uint8Array(bytes);
    for (let at = 0; at < bytes;) {
      if (this.#rest.length > 0) {
        const part = this.#rest.subarray(0, bytes - at);
        into.set(part, at);
        at += part.length;
        this.#rest = this.#rest.subarray(part.length);
        continue;
      }
      const direct = bytes - at >= PIECE_BYTES;
      const { value } = await this.#reader.read(
        direct ? into.subarray(at, at + READ_BYTES) : new Uint8Array(this.#rest.buffer),
      );
      if (value === undefined || value.length === 0) return undefined;
      if (direct) {
        into = new Uint8Array(value.buffer);
        at += value.length;
      } else this.#rest = value;
    }
    return into;
  }

  /** Reads standard error until its end, because a full pipe would stop the process. */
  async #drain(): Promise<void> {
    for await (const piece of this.#process.stderr) {
      const both = new Uint8Array(this.#stderr.length + piece.length);
      both.set(this.#stderr);
      both.set(piece, this.#stderr.length);
      this.#stderr = both.slice(-STDERR_BYTES);
    }
  }
}

/** Launchers pass the signal that ended a program as 128 and its number. */
function signalOf(code: number): string | null {
  const names: Record<number, string> = {
    4: "SIGILL",
    5: "SIGTRAP",
    6: "SIGABRT",
    7: "SIGBUS",
    9: "SIGKILL",
    11: "SIGSEGV",
    24: "SIGXCPU",
    25: "SIGXFSZ",
  };
  return names[code - 128] ?? null;
}

// --- resident memory -------------------------------------------------------------------------------------------------

/**
 * Watches the resident memory of a process and its descendants: by /proc where this program may read it, else by `ps`
 * where it may run it, else not at all: then the limits of the operating system and of the heap hold.
 */
export class MemoryWatch {
  /** The process and its descendants, as last known; 0 where only `ps` tells. */
  processes = 0;
  #mb = 0;
  #asking = false;
  #asked = -Infinity;

  constructor(readonly pid: number) {}

  /** MiB, as last known. */
  sample(): number {
    if (readableProc()) [this.#mb, this.processes] = procTree(this.pid);
    else if (!this.#asking && performance.now() - this.#asked > PS_MS && Deno.build.os !== "windows" && mayRun("ps")) {
      this.#asking = true;
      void psMb(this.pid).then((mb) => this.#mb = mb, () => {}).finally(() => {
        this.#asking = false;
        this.#asked = performance.now();
      });
    }
    return this.#mb;
  }
}

let proc: boolean | undefined;

function readableProc(): boolean {
  if (proc !== undefined) return proc;
  try {
    Deno.readTextFileSync("/proc/self/status");
    return proc = true;
  } catch {
    return proc = false;
  }
}

/** Resident MiB and number of the processes of a tree. */
function procTree(pid: number): [mb: number, processes: number] {
  const read = (file: string) => {
    try {
      return Deno.readTextFileSync(`/proc/${pid}/${file}`);
    } catch {
      // It has ended, or the kernel has no such file.
      return "";
    }
  };
  const own = Number(/^VmRSS:\s*(\d+) kB/m.exec(read("status"))?.[1] ?? 0) / 1024;
  const children = read(`task/${pid}/children`).split(" ").filter((text) => text !== "");
  return children.map((child) => procTree(Number(child)))
    .reduce(([mb, count], [more, others]) => [mb + more, count + others], [own, 1]);
}

async function psMb(root: number): Promise<number> {
  const { stdout } = await new Deno.Command("ps", {
    args: ["-A", "-o", "pid=,ppid=,rss="],
    clearEnv: true,
    env: { PATH: searchPath() },
    stderr: "null",
  }).output();
  const rows = new TextDecoder().decode(stdout).trim().split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const family = new Set([root]);
  // A parent may be listed after its child.
  for (let before = 0; before < family.size;) {
    before = family.size;
    for (const [pid, parent] of rows) if (family.has(parent)) family.add(pid);
  }
  return rows.reduce((sum, [pid, , kib]) => family.has(pid) ? sum + kib / 1024 : sum, 0);
}

/** Why a process did not start, from its end. */
export function startFailure(end: ChildEnd): string {
  const [line = ""] = end.stderr.trim().split("\n").slice(-1);
  return line !== "" ? line : end.signal ?? `it ended with code ${end.code}`;
}
