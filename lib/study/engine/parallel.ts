/**
 * GNU parallel over ssh: one process on this machine assigns tasks to hosts, restarts failed tasks on other hosts, and then
 * runs the merge. The process continues after its client ends. All hosts mount the folder of the job at the same path.
 */
import { join } from "node:path";
import { hostname } from "node:os";
import { SvcError } from "../../contract/error.ts";
import { output, quoted } from "./command.ts";
import { type Engine, type EngineJob, FORGOTTEN, type JobState, type Submission, type TaskState } from "./types.ts";

const HINT = "Install GNU parallel and ssh on this machine";

/** Files of a submission: what ended, and the exit code of the merge. */
const files = ({ directory }: EngineJob, number: number) => ({
  joblog: join(directory, `joblog.${number}`),
  merged: join(directory, `merged.${number}`),
});

/** Id of a process that only the host of this name knows. */
const processId = (id: string): number => {
  const [pid, host] = id.split("@");
  if (host === hostname()) return Number(pid);
  throw new SvcError("engine_unavailable", `Cannot follow the job here: its GNU parallel runs on ${host}`, {
    hint: `Use the same command on ${host}`,
  });
};

const shell = (command: string): Promise<Deno.CommandOutput> =>
  new Deno.Command("sh", { args: ["-c", command], stdin: "null" }).output();

/** Whether a process runs. A container without an init process keeps ended processes as zombies (state Z). */
const isAlive = async (id: string): Promise<boolean> => {
  const pid = processId(id);
  return (await shell(`kill -0 ${pid} && ! ps -o stat= -p ${pid} | grep -q '^Z'`)).success;
};

const textOf = (path: string): Promise<string> =>
  Deno.readTextFile(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  });

/** The last lines of the tasks in a job log. */
function endsOf(joblog: string): Map<number, TaskState> {
  return new Map(
    joblog.split("\n").slice(1).filter(Boolean).map((line): [number, TaskState] => {
      const [, login, , , , , code, signal, command] = line.split("\t");
      // A login may be a whole ssh command.
      const node = login.split(" ").at(-1)!;
      const detail = Number(signal) > 0 ? `signal ${signal}` : `exit code ${code}`;
      const succeeded = detail === "exit code 0";
      return [Number(command.split(" ").at(-1)), { state: "ended", succeeded, detail, node }];
    }),
  );
}

export const parallel: Engine = {
  retriesTasks: true,

  async submit(job, tasks, earlier) {
    const version = await output("parallel", ["--version"], { hint: HINT });
    if (!version.startsWith("GNU parallel")) {
      throw new SvcError("engine_unavailable", "Cannot use parallel: it is another program than GNU parallel", {
        hint: HINT,
      });
    }
    const { joblog, merged } = files(job, earlier.length);
    const logs = join(job.directory, "logs");
    const hosts = job.hosts === undefined ? [] : ["--sshloginfile", job.hosts];
    const words = [
      "parallel",
      ...hosts,
      "--workdir",
      job.cwd,
      "--retries",
      String(job.retries + 1),
      "--joblog",
      joblog,
      `sh ${quoted(join(job.directory, "shard.sh"))} {}`,
      ":::",
      ...tasks.map(String),
    ];
    const lines = [
      ...(tasks.length === 0 ? [] : [`${words.map(quoted).join(" ")} >>${quoted(join(logs, "parallel.log"))} 2>&1`]),
      `sh ${quoted(join(job.directory, "merge.sh"))}`,
      `echo $? >${quoted(merged)}`,
    ];
    // A session of its own: neither Ctrl+C nor the end of the terminal reaches it.
    const child = new Deno.Command("sh", {
      args: ["-c", lines.join("\n")],
      cwd: job.cwd,
      stdin: "null",
      stdout: "null",
      stderr: "null",
      detached: true,
    }).spawn();
    child.unref();
    const id = `${child.pid}@${hostname()}`;
    return { tasks: [...tasks], id, merge: id };
  },

  async poll(job, submissions) {
    const tasks: JobState["tasks"] = new Map();
    let merge = FORGOTTEN;
    for (const [number, { tasks: own, id }] of submissions.entries()) {
      const alive = await isAlive(id!);
      const { joblog, merged } = files(job, number);
      const ends = endsOf(await textOf(joblog));
      for (const task of own) {
        const running: TaskState = { state: "running", succeeded: false, detail: "started or next", node: null };
        tasks.set(task, ends.get(task) ?? (alive ? running : FORGOTTEN));
      }
      const code = (await textOf(merged)).trim();
      merge = alive && code === ""
        ? { state: "queued", succeeded: false, detail: "after the tasks", node: null }
        : code === ""
        ? FORGOTTEN
        : { state: "ended", succeeded: code === "0", detail: `exit code ${code}`, node: hostname() };
    }
    return { tasks, merge };
  },

  async cancel(_job, submissions: readonly Submission[]) {
    for (const { id } of submissions) {
      // The whole session: the end of a connection ends its task on the host.
      await shell(`kill -TERM -${processId(id!)}`);
    }
  },
};
