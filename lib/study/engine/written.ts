/**
 * The commands of tasks, and job files for the reader to submit: a Snakefile, or an Indexed Job of Kubernetes, with the merge.
 * Each task is an ordinary `svc benchmark shard`.
 */
import { prettyJson } from "../../contract/json.ts";
import type { JsonObject } from "../../contract/value.ts";
import { quoted } from "./command.ts";
import type { WrittenEngine } from "./types.ts";

/** The benchmark whose shards are tasks. */
export type JobPlan = {
  /** Words that start svc where the tasks run. */
  program: readonly string[];
  /** As on the command line, readable where the tasks run. */
  pack: string;
  shards: number;
  /** Folder of the shards. */
  folder: string;
  /** Further words of `svc benchmark shard`, and of `svc benchmark merge`. */
  options: readonly string[];
  mergeOptions?: readonly string[];
};

/** What the files of Kubernetes need besides. */
export interface ContainerPlan extends JobPlan {
  image: string;
  /** Persistent volume claim with the pack. */
  claim: string;
}

/** Options of a command as its words: `untilErrors: 100` is `--until-errors 100`. */
export function optionWords(options: Readonly<Record<string, string | number | boolean | undefined>>): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (value === undefined) return [];
    return typeof value === "boolean" ? [value ? `--${flag}` : `--no-${flag}`] : [`--${flag}`, String(value)];
  });
}

const words = (list: readonly string[]): string => list.map(quoted).join(" ");

/** The command of a shard; `index` is the text that the shell replaces by its number. */
export function shardCommand({ program, pack, shards, folder, options }: JobPlan, index: string): string {
  const place = `--index ${index} --count ${shards} --out ${quoted(folder)}/${index}`;
  return `${words([...program, "benchmark", "shard", pack])} ${place} ${words(["--continue-on-error", ...options])}`;
}

export function mergeCommand({ program, pack, shards, folder, mergeOptions = [] }: JobPlan): string {
  const folders = Array.from({ length: shards }, (_, index) => `${folder}/${index}`);
  return words([...program, "benchmark", "merge", pack, ...folders, ...mergeOptions]);
}

/** A text of Python; braces are doubled, because Snakemake fills them in. */
const pythonText = (text: string) => JSON.stringify(text.replaceAll("{", "{{").replaceAll("}", "}}"));

/** Exit code 1 says that rows failed: the merge takes them as findings, and names those that are missing. */
const FINDINGS = " || [ $? -eq 1 ]";

function snakemake(plan: JobPlan): Record<string, string> {
  const shard = pythonText(shardCommand(plan, "@INDEX@") + FINDINGS).replaceAll("@INDEX@", "{wildcards.index}");
  const merged = `${plan.folder}/merged.json`;
  return {
    Snakefile: `# Run in the folder of the project: snakemake --snakefile <this file> --cores 4 --retries 2
rule all:
    input: ${pythonText(merged)}

rule shard:
    output: touch("${plan.folder}/{index}.done")
    shell: ${shard}

rule merge:
    input: expand("${plan.folder}/{index}.done", index=range(${plan.shards}))
    output: ${pythonText(merged)}
    shell: ${pythonText(`${mergeCommand(plan)} --json > @OUT@${FINDINGS}`).replaceAll("@OUT@", "{output}")}
`,
  };
}

function kubernetes(plan: ContainerPlan): Record<string, string> {
  const job = (name: string, command: string, indexed: JsonObject): JsonObject => ({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name },
    spec: {
      ...indexed,
      template: {
        spec: {
          restartPolicy: "Never",
          containers: [{
            name: "svc",
            image: plan.image,
            // Kubernetes puts variables in place of $(NAME); $$( stays $(.
            command: ["sh", "-c", `exec ${command}`.replaceAll("$(", "$$$$(")],
            workingDir: "/work",
            volumeMounts: [{ name: "work", mountPath: "/work" }],
          }],
          volumes: [{ name: "work", persistentVolumeClaim: { claimName: plan.claim } }],
        },
      },
    },
  });
  const indexed = {
    completionMode: "Indexed",
    completions: plan.shards,
    parallelism: plan.shards,
    // Each task is started again twice.
    backoffLimitPerIndex: 2,
    maxFailedIndexes: plan.shards,
  };
  return {
    "shards.json": prettyJson(job("svc-shards", shardCommand(plan, "$JOB_COMPLETION_INDEX"), indexed)),
    "merge.json": prettyJson(job("svc-merge", mergeCommand(plan), { backoffLimit: 0 })),
    "submit.sh": `#!/bin/sh
# Run it again when rows are missing: shards make what they lack.
set -e
here=$(dirname "$0")
kubectl delete --ignore-not-found job/svc-shards job/svc-merge
kubectl apply -f "$here/shards.json"
# The merge also follows a failed task; it names what is missing.
until kubectl get job/svc-shards -o 'jsonpath={.status.conditions[*].type}' | grep -Eqw 'Complete|Failed'; do sleep 5; done
kubectl apply -f "$here/merge.json"
`,
  };
}

const WRITERS: Record<WrittenEngine, (plan: ContainerPlan) => Record<string, string>> = { snakemake, kubernetes };

/** The job files of an engine: texts by file name. */
export function jobFiles(engine: WrittenEngine, plan: ContainerPlan): Record<string, string> {
  return WRITERS[engine](plan);
}
