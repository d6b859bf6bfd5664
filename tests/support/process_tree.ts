/**
 * Processes that a test file has started, all of them: children of children, servers and browsers that left their parent.
 * They are found by their parents and by a mark in the environment that children inherit. Where there is no /proc, `ps`
 * gives the parents, and nothing tells how busy they are.
 */
import { existsSync } from "node:fs";

/** Jiffies a second in /proc: fixed in the interface of Linux to user space. */
const JIFFIES_S = 100;
const PROC = existsSync("/proc/self/stat");

interface Stat {
  parent: number;
  /** Processor time of the process and of its children that have ended. */
  cpuS: number;
  childrenCpuS: number;
  /** Tells a process from a later one with the same id. */
  started: string;
}

export interface Load {
  cpuS: number;
  /** A thread is running, or waits for a processor or a disk. */
  wants: boolean;
}

export class ProcessTree {
  #known = new Map<number, string>();

  /** The environment of the first process has `mark` as a variable: NAME=value. */
  constructor(readonly root: number, readonly mark: string) {}

  /** Ids of the processes that live. One that was seen once stays, whoever is its parent now. */
  alive(): number[] {
    const all = processes();
    const found = new Map<number, string>();
    const add = (pid: number) => {
      if (found.has(pid) || pid === Deno.pid) return;
      found.set(pid, all.get(pid)!.started);
      for (const [child, { parent }] of all) if (parent === pid) add(child);
    };
    for (const [pid, { started }] of all) {
      if (pid === this.root || this.#known.get(pid) === started || hasMark(pid, this.mark)) add(pid);
    }
    this.#known = found;
    return [...found.keys()];
  }

  /** Null where the system does not tell. */
  load(): Load | null {
    if (!PROC) return null;
    const pids = this.alive();
    const cpuS = pids.reduce((sum, pid) => sum + (statOf(pid)?.cpuS ?? 0), 0);
    return { cpuS, wants: pids.some(wantsToRun) };
  }

  /** Ends all processes, also those that are started meanwhile. */
  async kill(): Promise<void> {
    for (let pids = this.alive(), tries = 0; pids.length > 0 && tries < 100; pids = this.alive(), tries++) {
      for (const pid of pids) send(pid, "SIGKILL");
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}

/** Processor time in seconds of the children of this process that have ended and of their own; null where the system does not tell. */
export function childrenCpuS(): number | null {
  return statOf(Deno.pid)?.childrenCpuS ?? null;
}

/** Processor time in seconds of this process and of its children that have ended; null where the system does not tell. */
export function ownCpuS(): number | null {
  return statOf(Deno.pid)?.cpuS ?? null;
}

/** Sends a signal to a process that may have ended. */
export function send(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch (error) {
    // It has ended, or it runs as another user, whom only that user's own parent can end.
    if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied)) throw error;
  }
}

/** Command line of a process, or its id where the system does not tell. */
export function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ").trim().slice(0, 200) || `process ${pid}`;
}

/** All processes that live: a zombie waits for its parent only, and cannot be ended. */
function processes(): Map<number, Stat> {
  const found = new Map<number, Stat>();
  if (PROC) {
    for (const { name } of Deno.readDirSync("/proc")) {
      const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null;
      if (stat !== null) found.set(Number(name), stat);
    }
    return found;
  }
  const { stdout } = new Deno.Command("ps", { args: ["-A", "-o", "pid=,ppid=,stat=,lstart="] }).outputSync();
  for (const line of new TextDecoder().decode(stdout).split("\n")) {
    const [, pid, parent, state, started] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (pid !== undefined && !state.startsWith("Z")) {
      found.set(Number(pid), { parent: Number(parent), cpuS: 0, childrenCpuS: 0, started });
    }
  }
  return found;
}

function statOf(pid: number): Stat | null {
  const text = read(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name, in brackets, may hold anything.
  const [state, parent, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  if (state === "Z" || state === "X") return null;
  // Fields 14 to 17: time of the process and of its children, in user code and in the system. Field 22: its start.
  const [user, system, childrenUser, childrenSystem] = rest.slice(9, 13).map((field) => Number(field) / JIFFIES_S);
  const childrenCpuS = childrenUser + childrenSystem;
  return { parent: Number(parent), cpuS: user + system + childrenCpuS, childrenCpuS, started: rest[17] };
}

function wantsToRun(pid: number): boolean {
  try {
    for (const { name } of Deno.readDirSync(`/proc/${pid}/task`)) {
      const text = read(`/proc/${pid}/task/${name}/stat`);
      if (text !== null && /^[RD]$/.test(text.charAt(text.lastIndexOf(")") + 2))) return true;
    }
  } catch (error) {
    if (!gone(error)) throw error;
  }
  return false;
}

function hasMark(pid: number, mark: string): boolean {
  return read(`/proc/${pid}/environ`)?.split("\0").includes(mark) ?? false;
}

/** Text of a file of /proc, or null when its process has ended or is another user's. */
function read(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (gone(error)) return null;
    throw error;
  }
}

/** Reading the files of a process that ends meanwhile fails with "no such process" (ESRCH), which has no class. */
function gone(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied ||
    error instanceof Error && /os error (3|13)\b/.test(error.message);
}
