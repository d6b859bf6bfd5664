/**
 * Slurm: an array job for tasks, and a job for the merge that depends on all arrays (`afterany`: `afterok` would never start
 * after a failed task). States come from `squeue`, because `sbatch --wait` returns up to 30 s late and `sacct` needs a
 * data base. Slurm queues tasks of a failed node again, and would let them wait for two minutes; they may start at once.
 */
import { join } from "node:path";
import { output, quoted } from "./command.ts";
import { type Engine, type EngineJob, FORGOTTEN, type Submission, type TaskState } from "./types.ts";

const HINT = "Run this command on a machine with sbatch, squeue and scancel; submitted jobs continue";

/** States of tasks that will not run again. */
const ENDED = new Set([
  "BOOT_FAIL",
  "CANCELLED",
  "COMPLETED",
  "DEADLINE",
  "FAILED",
  "NODE_FAIL",
  "OUT_OF_MEMORY",
  "PREEMPTED",
  "REVOKED",
  "TIMEOUT",
]);

interface Listed extends TaskState {
  /** Of the array, or of a job of its own. */
  id: string;
  task: number | null;
  /** Whether it waits although its node failed and it could start elsewhere. */
  delayed: boolean;
}

const FIELDS = ["ArrayJobID", "ArrayTaskID", "State", "Reason", "NodeList", "exit_code", "RestartCnt"];

/** Tasks and merges of a job that Slurm lists: those that wait or run, and those that ended some minutes ago. */
async function listed({ name }: EngineJob): Promise<Listed[]> {
  const format = FIELDS.map((field) => `${field}:|`).join(",");
  const args = ["--noheader", "--array", "--states=all", `--name=${name},${name}-merge`, `--Format=${format}`];
  const text = await output("squeue", args, { hint: HINT });
  return text.split("\n").filter((line) => line.includes("|")).map((line): Listed => {
    const [id, task, state, reason, node, status, restarts] = line.split("|").map((field) => field.trim());
    const ended = ENDED.has(state), waits = state === "PENDING";
    // As of wait(2): the exit code above the signal.
    const code = Number(status) >> 8, signal = Number(status) & 127;
    const how = signal > 0 ? `, signal ${signal}` : code > 0 ? `, exit code ${code}` : "";
    return {
      id,
      task: /^\d+$/.test(task) ? Number(task) : null,
      state: ended ? "ended" : waits ? "queued" : "running",
      succeeded: state === "COMPLETED",
      detail: ended ? state + how : waits && reason !== "None" ? reason : state,
      node: node === "" || node === "(null)" ? null : node,
      delayed: waits && reason === "BeginTime" && Number(restarts) > 0,
    };
  });
}

/** Submits one of the scripts; required options follow those of the user. `exec` hands signals and the exit code on. */
async function sbatch(job: EngineJob, script: string, log: string, options: readonly string[]): Promise<string> {
  // The shell splits the options of the user.
  const command = `exec sbatch ${job.sbatch ?? ""} "$@"`;
  const args = ["-c", command, "sh", "--parsable", "--requeue", "--open-mode=append", ...options];
  const logTo = `--output=${join(job.directory, "logs", log)}`;
  const wrapped = `--wrap=exec sh ${quoted(join(job.directory, script))} $SLURM_ARRAY_TASK_ID`;
  const hint = "Look at the options of --sbatch";
  const text = await output("sh", [...args, logTo, wrapped], { cwd: job.cwd, code: "engine_job_failed", hint });
  return text.trim().split("\n").at(-1)!.split(";")[0];
}

const cancel = (ids: readonly string[]) => output("scancel", ids, { hint: HINT });

export const slurm: Engine = {
  retriesTasks: false,

  async submit(job, tasks, earlier) {
    const live = (await listed(job)).filter(({ state }) => state !== "ended");
    const merges = new Set(earlier.map(({ merge }) => merge));
    const withdrawn = live.filter(({ id }) => merges.has(id)).map(({ id }) => id);
    if (withdrawn.length > 0) await cancel(withdrawn);
    const id = tasks.length === 0
      ? null
      : await sbatch(job, "shard.sh", "%a.log", [`--job-name=${job.name}`, `--array=${tasks.join(",")}`]);
    const arrays = new Set(live.filter(({ task }) => task !== null).map((one) => one.id));
    if (id !== null) arrays.add(id);
    const merge = await sbatch(job, "merge.sh", "merge.log", [
      `--job-name=${job.name}-merge`,
      ...(arrays.size === 0 ? [] : [`--dependency=afterany:${[...arrays].join(":")}`]),
    ]);
    return { tasks: [...tasks], id, merge };
  },

  async poll(job, submissions) {
    const all = await listed(job);
    for (const { id, task } of all.filter(({ delayed, task }) => delayed && task !== null)) {
      await output("scontrol", ["update", `JobId=${id}_${task}`, "StartTime=now"], { hint: HINT });
    }
    const last = new Map<number, Submission>();
    for (const submission of submissions) for (const task of submission.tasks) last.set(task, submission);
    const tasks = [...last].map(([task, submission]): [number, TaskState] => [
      task,
      all.find((one) => one.task === task && one.id === submission.id) ?? FORGOTTEN,
    ]);
    const merge = all.find(({ id }) => id === submissions.at(-1)?.merge) ?? FORGOTTEN;
    return { tasks: new Map(tasks), merge };
  },

  async cancel(job, submissions) {
    const ids = new Set(submissions.flatMap(({ id, merge }) => id === null ? [merge] : [id, merge]));
    const live = (await listed(job)).filter(({ id, state }) => state !== "ended" && ids.has(id));
    if (live.length > 0) await cancel([...new Set(live.map(({ id }) => id))]);
  },
};
