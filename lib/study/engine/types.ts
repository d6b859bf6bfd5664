/** Engines that start the tasks of a job: the shards of a benchmark, and the merge after them. */

/** Engines that a job is submitted to. */
export const ENGINES = ["slurm", "parallel"] as const;
export type EngineName = typeof ENGINES[number];

/** Engines that job files can be written for. */
export const WRITTEN_ENGINES = ["snakemake", "kubernetes"] as const;
export type WrittenEngine = typeof WRITTEN_ENGINES[number];

/** A job, as an engine needs to know it. */
export type EngineJob = {
  /** One word; it names the tasks in the lists of the engine. */
  name: string;
  /** Absolute; holds `shard.sh`, which takes the number of a task, `merge.sh`, and `logs/<task>.log`, `logs/merge.log`. */
  directory: string;
  /** Absolute; where the scripts start. */
  cwd: string;
  /** Options of `sbatch`, as in a shell. */
  sbatch?: string;
  /** File of hosts for GNU parallel. */
  hosts?: string;
  /** How often a failed task is started again. */
  retries: number;
};

/** One submission: tasks, and a merge after all tasks of the job. */
export type Submission = {
  tasks: number[];
  /** Of the tasks and of the merge, for the engine; null without tasks. */
  id: string | null;
  merge: string;
};

export interface TaskState {
  state: "queued" | "running" | "ended";
  /** Whether it ended with exit code 0. */
  succeeded: boolean;
  /** In words of the engine: why it waits, how it ended. */
  detail: string;
  node: string | null;
}

export interface JobState {
  /** By task, as last submitted. */
  tasks: Map<number, TaskState>;
  /** The last merge. */
  merge: TaskState;
}

export interface Engine {
  /** Whether it starts failed tasks again itself. */
  retriesTasks: boolean;
  /**
   * Starts tasks, and a merge when all tasks of the job have ended; an earlier merge that waits is withdrawn.
   * @throws SvcError `engine_unavailable`, `engine_job_failed` for a refused job
   */
  submit(job: EngineJob, tasks: readonly number[], earlier: readonly Submission[]): Promise<Submission>;
  /** @throws SvcError `engine_unavailable` */
  poll(job: EngineJob, submissions: readonly Submission[]): Promise<JobState>;
  /** Ends all tasks and the merge. @throws SvcError `engine_unavailable` */
  cancel(job: EngineJob, submissions: readonly Submission[]): Promise<void>;
}

/** A task that the engine no longer lists. */
export const FORGOTTEN: TaskState = { state: "ended", succeeded: false, detail: "no longer listed", node: null };
