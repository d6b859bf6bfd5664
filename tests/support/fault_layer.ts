/**
 * Faults below the program: commands run in a process whose file calls fail, or that is killed, at a call of a number.
 * Afterwards `svc doctor` and the same command must succeed or end in a coded error, and nothing may be lost. Linux with a C
 * compiler.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../lib/contract/hash.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { CLI_ARGS, svc } from "./cli.ts";
import { KEYS, testStore } from "./s3.ts";

export const FAULTS = { EIO: 5, EACCES: 13, ENOSPC: 28, EROFS: 30, SIGKILL: 0 } as const;
export type Fault = keyof typeof FAULTS;

const RECIPE = `name: bits
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 500, seed: 3}}
  - {id: link, op: wireless.digital_link, params: {snr_db: 6.0, seed: 4}, inputs: {bits: data.bits}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: link.bits}}
`;
const SWEEP = `${RECIPE.replace("name: bits", "name: sweep")}metadata:
  seed: 1
  matrix: {dimensions: {snr_db: [0.0, 6.0]}, step_params: {link: {snr_db: {matrix: snr_db}}}}
`;
const STORE = "s3://lab/study";

/** Compiles the library. @returns its path; null without Linux or a compiler */
export async function faultLibrary(folder: string): Promise<string | null> {
  if (Deno.build.os !== "linux") return null;
  const source = new URL("./fault_layer.c", import.meta.url).pathname, library = join(folder, "fault_layer.so");
  try {
    const args = ["-shared", "-fPIC", "-O1", "-w", "-o", library, source, "-ldl"];
    const { success, stderr } = await new Deno.Command("cc", { args, stderr: "piped" }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    return library;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** A project with runs, a pruned run, a result, and a store; each trial works on a copy. */
export interface FaultBench extends AsyncDisposable {
  commands: Readonly<Record<string, readonly string[]>>;
  /** Number of file calls of a command without a fault. */
  calls(command: string): Promise<number>;
  /** Performs a command with a fault, then `doctor`, the command again, and the search for losses. @returns a line about it */
  trial(command: string, fault: Fault, at: number): Promise<string>;
}

/** @param library of {@link faultLibrary} */
export async function faultBench(folder: string, library: string): Promise<FaultBench> {
  const store = testStore("lab"), model = "the bytes of a model";
  const host = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => new Response(model));
  const env = { ...KEYS, AWS_ENDPOINT_URL: store.endpoint, NO_COLOR: "1" };
  const template = join(folder, "template"), counter = join(folder, "count");
  await Deno.mkdir(template);
  await Deno.writeTextFile(join(template, "bits.yaml"), RECIPE);
  await Deno.writeTextFile(join(template, "sweep.yaml"), SWEEP);
  const done = async (...args: string[]) => {
    const result = await svc([...args, "--json"], { cwd: template, env });
    assert.equal(result.code, 0, `${args.join(" ")}\n${result.stderr}${result.stdout}`);
    return result.json;
  };
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push((await done("recipe", "run", "bits.yaml")).run_id);
  const [kept, pruned, spare] = ids;
  await done("runs", "prune", pruned);
  const { result_id: result } = await done("benchmark", "run", "sweep.yaml", "--replicates", "1");
  await done("benchmark", "shard", "sweep.yaml", "--replicates", "1", "--out", "shard");
  await done("runs", "push", STORE, kept);
  const objects = new Map(store.objects);
  await done("runs", "list");

  const commands = {
    run: ["recipe", "run", "bits.yaml"],
    "run-matrix": ["recipe", "run-matrix", "sweep.yaml"],
    prune: ["runs", "prune", spare],
    restore: ["runs", "restore", pruned],
    remove: ["runs", "remove", spare, "--yes"],
    gc: ["runs", "gc"],
    list: ["runs", "list"],
    index: ["index", "rebuild"],
    "benchmark run": ["benchmark", "run", "sweep.yaml", "--replicates", "2"],
    "benchmark shard": ["benchmark", "shard", "sweep.yaml", "--replicates", "1", "--out", "shard_2"],
    "benchmark merge": ["benchmark", "merge", "sweep.yaml", "shard"],
    "benchmark export": ["benchmark", "export", result],
    push: ["runs", "push", STORE],
    pull: ["runs", "pull", STORE, "--workspace", "pulled"],
    fetch: ["models", "fetch", `http://127.0.0.1:${host.addr.port}/net.onnx`, "--sha256", sha256Hex(model)],
    "store repair": ["store", "repair"],
  } as const satisfies Record<string, readonly string[]>;

  const perform = async (args: readonly string[], cwd: string, fault: Fault, at: number, times: number) => {
    await Deno.writeFile(counter, new Uint8Array(8));
    const { code, signal, stdout, stderr } = await new Deno.Command("timeout", {
      args: ["-s", "TERM", "120", Deno.execPath(), ...CLI_ARGS, ...args, "--json"],
      cwd,
      env: {
        ...env,
        LD_PRELOAD: library,
        SVC_FAULT_ROOT: cwd,
        SVC_FAULT_COUNT: counter,
        SVC_FAULT_AT: String(at),
        SVC_FAULT_TIMES: String(times),
        SVC_FAULT_ERRNO: String(FAULTS[fault]),
      },
    }).output();
    const text = new TextDecoder();
    const calls = Number(new DataView((await Deno.readFile(counter)).buffer).getBigUint64(0, true));
    return { code, signal, stdout: text.decode(stdout), stderr: text.decode(stderr), calls };
  };
  const copy = async (): Promise<string> => {
    const cwd = await Deno.makeTempDir({ dir: folder, prefix: "trial-" });
    // Hard links within the state directory stay links.
    const { success } = await new Deno.Command("cp", { args: ["-a", `${template}/.`, cwd] }).output();
    assert.ok(success);
    store.objects.clear();
    for (const [key, bytes] of objects) store.objects.set(key, bytes);
    return cwd;
  };
  return {
    commands,
    async calls(command) {
      const cwd = await copy();
      if (command === "store repair") await damage(cwd);
      const { calls, code, stdout, stderr } = await perform(
        commands[command as keyof typeof commands],
        cwd,
        "EIO",
        0,
        0,
      );
      await Deno.remove(cwd, { recursive: true });
      assert.equal(code, 0, stdout + stderr);
      return calls;
    },
    async trial(command, fault, at) {
      const cwd = await copy(), args = commands[command as keyof typeof commands];
      // A full or read-only disk stays so; an error of a device passes.
      const times = fault === "ENOSPC" || fault === "EROFS" ? 1e9 : 1;
      const about = `${command}: ${fault} at call ${at}`;
      if (command === "store repair") await damage(cwd);
      const first = await perform(args, cwd, fault, at, times);
      const ending = first.code === 137 ? "killed" : coded(first, about);
      const doctor = await svc(["doctor", "--json"], { cwd, env });
      assert.equal(doctor.code, 0, `${about}: doctor ${doctor.stdout}${doctor.stderr}`);
      const again = await svc([...args, "--json"], { cwd, env });
      const second = coded(again, `${about}, the second time`);
      await assertNothingLost(cwd, command, about);
      await Deno.remove(cwd, { recursive: true });
      return `${about}: ${ending}, then ${second}`;
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await host.shutdown();
    },
  };

  /** Damages an artifact that two runs share, and leaves a third run with an intact copy. */
  async function damage(cwd: string): Promise<void> {
    const artifact = (id: string) => join(cwd, ".svc/runs", id, "artifacts/data/bits.npz");
    const bytes = await Deno.readFile(artifact(spare));
    await Deno.remove(artifact(spare));
    await Deno.writeFile(artifact(spare), bytes);
    await Deno.chmod(artifact(kept), 0o644);
    await Deno.writeFile(artifact(kept), bytes.fill(0));
  }

  /** Every run from before is there and verifies, save the removed one; so does the result. */
  async function assertNothingLost(cwd: string, command: string, about: string): Promise<void> {
    const listed = await svc(["runs", "list", "--json"], { cwd, env });
    assert.equal(listed.code, 0, `${about}: list ${listed.stdout}${listed.stderr}`);
    const rows = listed.json.runs as { run_id: string; status: string; problem?: string }[];
    for (const id of ids) {
      if (command === "remove" && id === spare) continue;
      assert.ok(rows.some((row) => row.run_id === id && row.status === "completed"), `${about}: ${id} is lost`);
    }
    for (const { run_id, status, problem } of rows) {
      assert.ok(["completed", "incomplete", "failed"].includes(status), `${about}: ${run_id} is ${status}`);
      assert.equal(problem, undefined, `${about}: ${run_id}: ${problem}`);
      const verified = await svc(["runs", "verify", run_id, "--json"], { cwd, env });
      assert.equal(verified.code, 0, `${about}: ${run_id} (${status})\n${verified.stdout}`);
    }
    const verified = await svc(["benchmark", "verify", result, "--json"], { cwd, env });
    assert.equal(verified.code, 0, `${about}: the result\n${verified.stdout}`);
  }
}

/** How a command ended: done, or with the code of an error. */
function coded({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }, about: string): string {
  const said = `${about}: exit ${code}\n${stdout.slice(0, 4000)}${stderr.slice(0, 4000)}`;
  assert.doesNotMatch(stdout + stderr, /SuppressedError|internal_error|Uncaught|\n\s+at .*\.ts:\d+/, said);
  if (code === 0) return "done";
  const [first] = errorCodes(stdout).concat(errorCodes(stderr));
  assert.notEqual(first, undefined, said);
  return first;
}

/** Codes of the errors in a JSON text, without those of warnings. */
function errorCodes(text: string): string[] {
  const found: string[] = [];
  try {
    JSON.parse(text, (key, value) => {
      if (key === "diagnostics") return null;
      if (typeof value?.code === "string" && (value.severity ?? "error") === "error") found.push(value.code);
      return value;
    });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return found;
}

/** Trials over all commands and faults: each command with `perFault` calls of each fault, spread and seeded. */
export async function* faultTrials(
  bench: FaultBench,
  { seed, perFault, commands = Object.keys(bench.commands) }: { seed: number; perFault: number; commands?: string[] },
): AsyncGenerator<string> {
  const random = Generator.seeded(BigInt(seed));
  for (const command of commands) {
    const calls = await bench.calls(command);
    assert.ok(calls > 0, `${command} makes no file call`);
    for (const fault of Object.keys(FAULTS) as Fault[]) {
      for (let n = 0; n < perFault; n++) {
        yield await bench.trial(command, fault, 1 + Math.floor(calls * (n + random.random()) / perFault));
      }
    }
  }
}
