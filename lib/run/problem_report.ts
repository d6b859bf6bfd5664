/**
 * A report of a problem: the installation, its checks, the last failed run and the last trace of a defect, as one
 * Markdown text without private paths or names. Recipes and data stay out of it; the text of an error can name a step or a
 * value.
 */
import { homedir, hostname, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { PROGRAM_ROOT, programFolder, programForm } from "../artifact/program.ts";
import { messageOf } from "../contract/error.ts";
import { parseJson } from "../contract/json.ts";
import { isNumber, toNumber } from "../contract/value.ts";
import type { Diagnosis } from "./doctor.ts";
import { openRunIndex } from "./index/open.ts";
import { showRun } from "./store.ts";
import type { Workspace } from "./workspace.ts";

/** Traces of defects, as the command line writes them. */
const TRACE = /^svc-trace-[0-9a-f]+\.txt$/;
/** A longer trace is cut: its first lines say what failed. */
const TRACE_CHARACTERS = 4000;

/** @returns Markdown text */
export async function problemReport(workspace: Workspace, diagnosis: Diagnosis): Promise<string> {
  const { deno, v8, typescript } = Deno.version, { os, arch } = Deno.build;
  const rows = diagnosis.checks.map(({ id, status, detail, hint }) =>
    `- ${status} ${id}: ${detail}${status === "passed" || hint === null ? "" : ` (${hint})`}`
  );
  const text = [
    "# Problem report of svc",
    "What did you do, what did you expect, and what happened instead?",
    "## Program",
    `- svc ${diagnosis.version}, run as ${programForm()}\n` +
    `- Deno ${deno}, V8 ${v8}, TypeScript ${typescript}, ${os} ${arch}, ${navigator.hardwareConcurrency} cores`,
    `## Checks: ${diagnosis.status}`,
    rows.join("\n"),
    "## Runs",
    await runs(workspace),
    "## Last trace of a defect",
    lastTrace(),
  ].join("\n\n");
  return `${withoutPrivate(text, workspace)}\n`;
}

async function runs(workspace: Workspace): Promise<string> {
  try {
    const opened = openRunIndex(workspace);
    try {
      await opened.index.sync();
      const counts = Object.entries(opened.index.countByStatus()).map(([status, n]) => `${n} ${status}`);
      const { rows: [last] } = await opened.index.list({ status: "failed", limit: 1 });
      return [
        counts.length === 0 ? "None" : counts.join(", "),
        ...(last === undefined ? [] : ["Last failed run:", failure(workspace, last.run_id)]),
      ].join("\n\n");
    } finally {
      opened.close();
    }
  } catch (error) {
    return `Cannot read the runs: ${messageOf(error)}`;
  }
}

/** The operations of a run, and what failed. */
function failure(workspace: Workspace, id: string): string {
  const { summary } = showRun(workspace, id), { failure, error, steps } = summary;
  const lines = steps.map(({ op, status, metrics }) => {
    const seconds = metrics["timing.step.wall_time_s"];
    return `${op} ${status}${isNumber(seconds) ? ` ${Math.round(1000 * toNumber(seconds))} ms` : ""}`;
  });
  const failed = steps.find((step) => failure?.kind !== "interrupted" && step.id === failure?.step_id);
  return [
    "```text",
    ...lines,
    `${failure?.code ?? "unknown"}${failed === undefined ? "" : ` in ${failed.op}`}: ${error ?? ""}`,
    "```",
  ].join("\n");
}

function lastTrace(): string {
  try {
    const folder = tmpdir();
    const files = [...Deno.readDirSync(folder)].filter(({ name, isFile }) => isFile && TRACE.test(name)).map(
      ({ name }) => {
        const path = join(folder, name);
        return { path, time: Deno.statSync(path).mtime?.getTime() ?? 0 };
      },
    );
    const last = files.sort((a, b) => b.time - a.time)[0];
    if (last === undefined) return "None";
    const text = withoutArguments(Deno.readTextFileSync(last.path)).slice(0, TRACE_CHARACTERS).trimEnd();
    return `${new Date(last.time).toISOString()}\n\n\`\`\`text\n${text}\n\`\`\``;
  } catch (error) {
    return `Cannot read traces: ${messageOf(error)}`;
  }
}

/** The command of a trace stands on its first line; of its arguments the words of the command and the names of options stay. */
function withoutArguments(trace: string): string {
  return trace.replace(/\[.*\]/, (given) => {
    const words = parseJson(given) as string[], first = words.findIndex((word) => !/^[a-z-]+$/.test(word));
    const shown = words.map((word, i) => {
      if (word.startsWith("--")) return word.split("=")[0];
      return i < Math.min(2, first < 0 ? 2 : first) ? word : "…";
    });
    return shown.join(" ");
  });
}

/** Absolute paths of POSIX and Windows, up to a blank, quote, bracket, comma or place in a file. */
const PATH = /(?<![\w.~>/])(?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])(?:[^\s"'`()[\]{}<>,:;|]+[\\/])+[^\s"'`()[\]{}<>,:;|]*/g;
/** Paths of the system say nothing about a user. */
const SYSTEM = /^\/(?:usr|bin|sbin|lib|lib64|proc|sys|dev)\//;

/** Replaces folders of the user, other absolute paths, the name of the user and that of the host. Exported for tests. */
export function withoutPrivate(
  text: string,
  { projectRoot, stateDir }: Pick<Workspace, "projectRoot" | "stateDir">,
): string {
  const known: [string | null, string][] = [
    [stateDir, "<state>"],
    [projectRoot, "<project>"],
    [PROGRAM_ROOT.replace(/\/$/, ""), "<svc>"],
    [programFolder()?.replace(/[\\/]$/, "") ?? null, "<svc>"],
    [allowed(tmpdir), "<tmp>"],
    [allowed(homedir), "<home>"],
  ];
  const places = known.filter((entry): entry is [string, string] => entry[0] !== null && entry[0].length > 1);
  const shortened = places.sort((a, b) => b[0].length - a[0].length)
    .reduce((whole, [path, name]) => whole.replaceAll(path, name), text)
    .replace(PATH, (path) => SYSTEM.test(path) ? path : `<path>/${path.split(/[\\/]/).at(-1)}`);
  const user = allowed(() => userInfo().username);
  const names: [string | null, string][] = [[user === "root" ? null : user, "<user>"], [allowed(hostname), "<host>"]];
  return names.reduce(
    (whole, [name, placeholder]) =>
      name === null || name.length < 3
        ? whole
        : whole.replaceAll(new RegExp(`\\b${RegExp.escape(name)}\\b`, "g"), placeholder),
    shortened,
  );
}

/** A fact of the system; null without the permission, for then it stands in no text either. */
function allowed(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
