/** Shards under a Slurm and a GNU parallel that are there; the files for Snakemake and Kubernetes run as they are written. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { CLI_ARGS, type CliResult, inFolder, svc } from "../support/cli.ts";
import { exists } from "../../lib/artifact/path_kind.ts";
import { shardResult } from "../../lib/study/rows/shards.ts";
import { npmCache } from "../../lib/release/packages.ts";
import { open } from "../../mod.ts";
import { needs } from "../support/needs.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { LINK } from "../lib/study/packs.ts";
import { until } from "../support/until.ts";

/** Two points: all replicates of both are so many rows that a task can be killed between them. */
const SWEEP = LINK.replace(
  "metadata: {",
  "metadata: {matrix: {dimensions: {snr_db: [0.0, 2.0]}, step_params: {link: {snr_db: {matrix: snr_db}}}}, ",
).replace("params: {snr_db: 0.0}, ", "");
const REPLICATES = 24, ROWS = 2 * REPLICATES;
/** About 315 errors in each row of the first point, which ends after some 20 replicates; the other needs all of them. */
const RULE = { untilErrors: 6_250 };

/** Between two looks at Slurm, each of which starts a program. */
const LOOK_MS = 500;

/** Whether the test can start these programs. */
function available(...names: string[]): boolean {
  const script = `PATH=$PATH:/usr/sbin; ${names.map((name) => `command -v ${name}`).join(" && ")}`;
  return Deno.build.os === "linux" &&
    new Deno.Command("sh", { args: ["-c", script], stdout: "null" }).outputSync().success;
}

/**
 * A folder with the recipe and a program named svc; the environment that finds it. Where it is asked for a shard, it leaves
 * its process id in `pid.<shard>`, and waits as long as there is a file `hold.<shard>`. With a file `slow.<shard>` it is stopped
 * five sixths of the time, so that there is time to kill it between its rows.
 */
async function project(cwd: string): Promise<Record<string, string>> {
  const bin = join(cwd, "bin"), program = [Deno.execPath(), ...CLI_ARGS].map((word) => `'${word}'`).join(" ");
  await Deno.mkdir(bin);
  const script = `#!/bin/sh
case "$*" in *--index*)
  index=$(echo "$*" | sed 's/.*--index \\([0-9]*\\).*/\\1/')
  echo $$ > ${cwd}/new.$$ && mv ${cwd}/new.$$ ${cwd}/pid.$index
  while [ -e ${cwd}/hold.$index ]; do sleep 0.1; done
  if [ -e ${cwd}/slow.$index ]; then
    while kill -0 $$; do kill -STOP $$; sleep 0.15; kill -CONT $$; sleep 0.03; done >/dev/null 2>&1 </dev/null &
  fi
esac
exec ${program} "$@"
`;
  await Deno.writeTextFile(join(bin, "svc"), script, { mode: 0o755 });
  await Deno.writeTextFile(join(cwd, "link.yaml"), SWEEP);
  return { PATH: `${bin}:${Deno.env.get("PATH")}`, NO_COLOR: "1" };
}

async function shell(command: string, cwd: string, env: Record<string, string>): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("sh", { args: ["-c", command], cwd, env }).output();
  assert.ok(success, `${command}\n${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** The benchmark of a folder on an engine. */
function onEngine(cwd: string, env: Record<string, string>, engine: readonly string[]) {
  const run = (...more: string[]): Promise<CliResult> =>
    svc(["benchmark", "run", "link.yaml", "--on", ...engine, "--program", join(cwd, "bin/svc"), ...more], { cwd, env });
  const state = async (id: string) => {
    await using session = await open({ projectRoot: cwd });
    return await session.benchmarks.status(id);
  };
  const shard = (id: string, index: number) => join(cwd, ".svc/engine", id, "shards", String(index));
  return {
    run,
    state,
    /** Submits and leaves. */
    async detached(...more: string[]): Promise<string> {
      const { code, stdout, stderr } = await run("--detach", "--replicates", String(REPLICATES), ...more);
      assert.equal(code, 0, stderr);
      return /running {2}(\S+):/.exec(stdout)![1];
    },
    /** Kills the process of a shard that has rows, and not all; it has a file `slow.<shard>`. */
    async kill(id: string, index: number): Promise<void> {
      await until(
        `shard ${index} has rows`,
        () => (shardResult(shard(id, index))?.index.advance().rowCount ?? 0) > 0,
      );
      Deno.kill(pidOf(cwd, index), "SIGKILL");
      await Deno.remove(join(cwd, `slow.${index}`));
    },
  };
}

const pidOf = (cwd: string, index: number) => Number(Deno.readTextFileSync(join(cwd, `pid.${index}`)));

/** The result, or the last one, has the view of one machine, and is valid. */
async function checkMerged(cwd: string, replicates: number, id?: string, rule: Partial<typeof RULE> = {}) {
  await using session = await open({ projectRoot: cwd });
  const merged = id ?? (await session.benchmarks.results())[0].result_id;
  const { result } = await session.benchmarks.run(join(cwd, "link.yaml"), { replicates, ...rule });
  const compared = await session.benchmarks.compare(merged, result.result_id);
  assert.ok(compared.a_view_sha256 !== null);
  assert.equal(compared.a_view_sha256, compared.b_view_sha256);
  assert.equal((await session.benchmarks.verify(merged)).status, "valid");
  return result.recipes.length;
}

async function write(cwd: string, engine: string): Promise<void> {
  const args = ["benchmark", "submit", "link.yaml", "--on", engine, "--shards", "2", "--write", "jobs"];
  const { code, stderr } = await svc([...args, "--replicates", "3"], { cwd });
  assert.equal(code, 0, stderr);
}

/** The type checker holds manifests to the API: unknown fields, missing ones and other types are errors. */
async function checkJobs(cwd: string, jobs: unknown[]): Promise<void> {
  const types = new URL("../support/kubernetes.ts", import.meta.url).href, file = join(cwd, "jobs.ts");
  const text = JSON.stringify(jobs), wrong = text.replace('"completionMode"', '"completionmode"');
  const named = Object.entries({ jobs: text, wrong }).map(([name, value]) =>
    `export const ${name}: Job[] = ${value};\n`
  );
  await Deno.writeTextFile(file, `import type { Job } from "${types}";\n${named.join("")}`);
  const args = ["check", "--quiet", "--frozen", "--config", join(ROOT_PATH, "deno.json"), file];
  const { stderr } = await new Deno.Command(Deno.execPath(), { args, env: { NO_COLOR: "1" } }).output();
  const errors = new TextDecoder().decode(stderr);
  assert.match(errors, /completionmode"?' does not exist/);
  // The place of each error: the second list alone has one.
  assert.deepEqual([...errors.matchAll(/jobs\.ts:(\d+):/g)].map(([, line]) => line), ["3"], errors);
}

const snakemake = available("snakemake");
// Without it, a part of the next test is skipped.
needs("Snakemake", snakemake);

Deno.test(
  "a Kubernetes job makes one shard, Snakemake the other, and the result is that of one machine",
  inFolder(async (cwd) => {
    // Snakemake keeps a cache at home; the modules of svc are in that of this machine.
    const env = { ...await project(cwd), HOME: cwd, DENO_DIR: dirname(await npmCache()) };
    await write(cwd, "kubernetes");
    const manifest = async (name: string) => JSON.parse(await Deno.readTextFile(join(cwd, "jobs", name)));
    const { apiVersion, kind, metadata, spec } = await manifest("shards.json");
    assert.deepEqual([apiVersion, kind, metadata.name], ["batch/v1", "Job", "svc-shards"]);
    assert.deepEqual([spec.completionMode, spec.completions, spec.parallelism], ["Indexed", 2, 2]);
    const { restartPolicy, containers: [container], volumes } = spec.template.spec;
    // backoffLimitPerIndex is for pods that are not restarted in place.
    assert.deepEqual([restartPolicy, spec.backoffLimitPerIndex], ["Never", 2]);
    assert.deepEqual(container.volumeMounts.map(({ name }: { name: string }) => name), [volumes[0].name]);
    await checkJobs(cwd, [await manifest("shards.json"), await manifest("merge.json")]);
    await shell("sh -n jobs/submit.sh", cwd, env);
    await shell(container.command.at(-1), cwd, { ...env, JOB_COMPLETION_INDEX: "0" });
    await write(cwd, "snakemake");
    if (snakemake) {
      await Deno.writeTextFile(join(cwd, "shards/0.done"), "");
      await shell("snakemake --snakefile jobs/Snakefile --cores 2 --quiet", cwd, env);
      const { status, recipes } = JSON.parse(await Deno.readTextFile(join(cwd, "shards/merged.json")));
      assert.deepEqual([status, recipes.length], ["completed", 6]);
    } else {
      await shell(container.command.at(-1), cwd, { ...env, JOB_COMPLETION_INDEX: "1" });
      await shell((await manifest("merge.json")).spec.template.spec.containers[0].command.at(-1), cwd, env);
    }
    await checkMerged(cwd, 3);
  }),
);

const slurm = available("slurmctld", "slurmd", "munged") && Deno.uid() === 0;

Deno.test({
  name: "under Slurm a cancelled job, a killed task, a time limit and a killed node end where one machine stops",
  ...needs("Slurm and munge, as root", slurm),
  fn: inFolder(async (cwd) => {
    const folder = await Deno.makeTempDir({ prefix: "svc-slurm-" });
    const control = (action: string) =>
      shell(`'${join(ROOT_PATH, "tests/support/slurm.sh")}' ${action} ${folder}`, cwd, {});
    const env = { ...await project(cwd), SLURM_CONF: join(folder, "slurm.conf") };
    Deno.env.set("SLURM_CONF", env.SLURM_CONF);
    const engine = onEngine(cwd, env, ["slurm", "--shards", "3", "--sbatch", "--time=10 --comment='a test'"]);
    const hold = (index: number) => Deno.writeTextFile(join(cwd, `hold.${index}`), "");
    const held = (index: number) => until(`shard ${index} waits`, () => exists(join(cwd, `pid.${index}`)));
    try {
      await using session = await open({ projectRoot: cwd });
      const submitted = (sbatch: string) => session.benchmarks.runOn(join(cwd, "link.yaml"), { on: "slurm", sbatch });
      await assert.rejects(submitted(""), { code: "engine_unavailable" });
      await control("up");
      await assert.rejects(submitted("--partition=none"), { code: "engine_job_failed", message: /invalid partition/i });

      for (const index of [0, 1, 2]) await hold(index);
      const id = await engine.detached("--until-errors", String(RULE.untilErrors));
      for (const index of [0, 1, 2]) await held(index);
      const running = await engine.state(id);
      assert.deepEqual([running.status, running.engine, running.shards.length], ["running", "slurm", 3]);
      assert.deepEqual(
        running.shards.map(({ state }) => state),
        ["running", "running", "running"],
      );
      assert.equal(await session.benchmarks.cancel(id), id);
      await until("the tasks end", async () => (await shell("squeue -h", cwd, env)).trim() === "", LOOK_MS);
      assert.equal((await engine.state(id)).status, "canceled");
      const resumed = (options: Partial<Parameters<typeof session.benchmarks.runOn>[1]>) =>
        session.benchmarks.runOn(join(cwd, "link.yaml"), { on: "slurm", resume: id, ...options });
      for (
        const [options, message] of [
          [{ on: "parallel" }, /it is on slurm/],
          [{ shards: 2 }, /it has 3 shards/],
          [{ replicates: 5 }, /it began without --replicates 5/],
        ] as const
      ) await assert.rejects(resumed(options), { code: "benchmark_resume_mismatch", message });
      await assert.rejects(resumed({ sbatch: "--partition=none" }), { code: "engine_job_failed" });

      await Deno.writeTextFile(join(cwd, "slow.0"), "");
      await Deno.remove(join(cwd, "hold.0"));
      // The canceled task 0 has left its own.
      for (const index of [0, 1, 2]) await Deno.remove(join(cwd, `pid.${index}`));
      const followed = engine.run("--resume", id);
      await engine.kill(id, 0);
      for (const index of [1, 2]) await held(index);
      const { submissions } = JSON.parse(await Deno.readTextFile(join(cwd, ".svc/engine", id, "job.json")));
      const limited = `${submissions.at(-1).id}_2`;
      await shell(`scontrol update JobId=${limited} EndTime=$(date -d '+1 sec' +%FT%T)`, cwd, env);
      const { node } = (await engine.state(id)).shards[1];
      // The processes of a node that fails: its daemon, that of the step, and the task.
      const pid = pidOf(cwd, 1), step = /PPid:\s*(\d+)/.exec(await Deno.readTextFile(`/proc/${pid}/status`))![1];
      const daemon = join(folder, `${node}.pid`);
      for (const process of [Number(await Deno.readTextFile(daemon)), Number(step), pid]) Deno.kill(process, "SIGKILL");
      await Deno.remove(daemon);
      await Deno.remove(join(cwd, "hold.1"));
      await shell(`scontrol update NodeName=${node} State=DOWN Reason=killed`, cwd, env);

      // Slurm looks at time limits twice a minute.
      const timedOut = `squeue -h --array --states=timeout --format=%i`;
      await until(
        "the time limit ends a task",
        async () => (await shell(timedOut, cwd, env)).includes(limited),
        LOOK_MS,
      );
      await Deno.remove(join(cwd, "hold.2"));

      const { code, stdout, stderr } = await followed;
      assert.equal(code, 0, stderr);
      assert.match(
        stderr,
        /shard 0 ended (?:at|after) link@link__snr_db_\S+ r\d+: FAILED, signal 9 on n\d[^]*shard 0 submitted again/,
      );
      assert.match(stderr, / on \S+\n/, "the end of the log");
      assert.match(stderr, /shard 2 ended[^\n]*: TIMEOUT[^]*shard 2 submitted again/);
      assert.match(stderr, /2\/2 r1 link@link__snr_db_2.0 completed/);
      const { shards } = await engine.state(id);
      assert.ok(shards[1].node !== node, "the shard of the failed node runs on another");
      const rows = await checkMerged(cwd, REPLICATES, id, RULE);
      assert.ok(rows > ROWS - 10 && rows < ROWS, "the rule needs the rows of several shards, and not all");
      assert.match(stdout, new RegExp(`completed  ${id}: ${rows} of ${rows} rows`));
    } finally {
      await control("down");
      Deno.env.delete("SLURM_CONF");
      await Deno.remove(folder, { recursive: true });
    }
  }),
});

const ssh = available("parallel", "ssh", "ssh-keygen", "sshd") && Deno.uid() === 0;

/** An ssh server of this machine, with a key of its own; `hosts` is a file for GNU parallel with it. */
async function sshServer(cwd: string): Promise<AsyncDisposable> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const place = (name: string) => join(cwd, name);
  await Deno.mkdir("/run/sshd", { recursive: true });
  for (const key of ["host", "id"]) await shell(`ssh-keygen -q -t ed25519 -N "" -f ${place(key)}`, cwd, {});
  const server = ["ListenAddress 127.0.0.1", "StrictModes no", "UsePAM no", "PidFile none", "MaxStartups 100"];
  const files = [`Port ${port}`, `HostKey ${place("host")}`, `AuthorizedKeysFile ${place("id.pub")}`];
  await Deno.writeTextFile(place("sshd.conf"), [...server, ...files].join("\n") + "\n");
  const client = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"];
  const login = `ssh -p ${port} -i ${place("id")} ${client.map((option) => `-o ${option}`).join(" ")} 127.0.0.1`;
  await Deno.writeTextFile(place("hosts"), `2/${login}\n`);
  const sshd = new Deno.Command((await shell("PATH=$PATH:/usr/sbin command -v sshd", cwd, {})).trim(), {
    args: ["-D", "-f", place("sshd.conf"), "-E", place("sshd.log")],
  }).spawn();
  const answers = new Deno.Command("sh", { args: ["-c", `${login} true`], stderr: "null" });
  await until("the ssh server answers", async () => (await answers.output()).success);
  return {
    async [Symbol.asyncDispose]() {
      sshd.kill("SIGTERM");
      await sshd.status;
    },
  };
}

/** Whether a process is there; one that ended may wait for its parent. */
const lives = (pid: number) =>
  exists(`/proc/${pid}`) && !/^State:\s*Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));

Deno.test({
  name: "GNU parallel over ssh continues after its client ended, and restarts a killed worker",
  ...needs("GNU parallel and sshd, as root", ssh),
  fn: inFolder(async (cwd) => {
    const env = await project(cwd);
    await using _server = await sshServer(cwd);
    const engine = onEngine(cwd, env, ["parallel", "--hosts", "hosts", "--shards", "2"]);
    await Deno.writeTextFile(join(cwd, "hold.0"), "");
    const client = new Deno.Command(Deno.execPath(), {
      args: [
        ...[...CLI_ARGS, "--json", "benchmark", "run", "link.yaml", "--on", "parallel", "--hosts", "hosts"],
        ...["--shards", "2", "--program", join(cwd, "bin/svc"), "--replicates", String(REPLICATES)],
      ],
      cwd,
      env,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const left = client.output();
    await until("shard 0 waits", () => exists(join(cwd, "pid.0")));
    client.kill("SIGINT");
    const { code, stdout } = await left;
    const { status, result_id: id } = JSON.parse(new TextDecoder().decode(stdout));
    assert.deepEqual([code, status], [130, "running"]);
    assert.ok(lives(pidOf(cwd, 0)));

    await Deno.writeTextFile(join(cwd, "slow.0"), "");
    await Deno.remove(join(cwd, "hold.0"));
    await engine.kill(id, 0);
    const followed = await engine.run("--resume", id);
    assert.equal(followed.code, 0, followed.stderr);
    assert.match(followed.stdout, new RegExp(`completed  ${id}: ${ROWS} of ${ROWS} rows`));
    const log = await Deno.readTextFile(join(cwd, ".svc/engine", id, "logs/0.log"));
    assert.equal(log.match(/^\S+Z on /gm)?.length, 2, log);
    assert.equal((await engine.state(id)).shards[0].node, "127.0.0.1");
    await checkMerged(cwd, REPLICATES, id);

    for (const index of [0, 1]) {
      await Deno.writeTextFile(join(cwd, `hold.${index}`), "");
      await Deno.remove(join(cwd, `pid.${index}`));
    }
    const next = await engine.detached();
    for (const index of [0, 1]) await until(`shard ${index} waits`, () => exists(join(cwd, `pid.${index}`)));
    await using session = await open({ projectRoot: cwd });
    assert.equal(await session.benchmarks.cancel(next), next);
    await until("the tasks end", () => !lives(pidOf(cwd, 0)) && !lives(pidOf(cwd, 1)));
    assert.equal((await engine.state(next)).status, "canceled");
  }),
});
