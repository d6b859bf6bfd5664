/**
 * Suites: families of benchmark protocols. A suite has tasks, and packs that belong to it; the research catalogue
 * states which of its tasks can be run.
 */
import { SvcError } from "../../contract/error.ts";
import { didYouMean } from "../../contract/nearest.ts";
import type { JsonObject } from "../../contract/value.ts";
import { findTask } from "../../research/catalog.ts";
import { listBenchmarkPacks } from "./packs.ts";
import suites from "./suites.json" with { type: "json" };

/** A suite with its tasks and packs. */
export interface Suite extends JsonObject {
  id: string;
  name: string;
  status: "active" | "experimental";
  version: string;
  summary: string;
  /** Document of its protocol. */
  docs: string;
  /** Tasks that can be run, and tasks that are only planned in the catalogue. */
  supported_tasks: string[];
  planned_tasks: string[];
  /** `{id, path, status, task}`; the path is relative to `benchmarks/`. */
  benchmark_packs: JsonObject[];
}

interface SuiteEntry {
  id: string;
  name: string;
  status: Suite["status"];
  summary: string;
  tasks: string[];
}

const SUITES = suites as readonly SuiteEntry[];

/**
 * The suites with their packs.
 * @param projectRoot absolute path; its packs come first
 */
export function listSuites(projectRoot: string): Suite[] {
  const packs = listBenchmarkPacks(projectRoot);
  return SUITES.map(({ tasks, ...suite }): Suite => {
    const planned = tasks.filter((id) => (findTask(id)?.status ?? "planned") === "planned");
    return {
      ...suite,
      version: "1",
      docs: "docs/guides/benchmarks.md",
      supported_tasks: tasks.filter((id) => !planned.includes(id)),
      planned_tasks: planned,
      benchmark_packs: packs.filter((pack) => pack.suite === suite.id).map((pack) => ({
        id: pack.id,
        path: pack.name,
        status: pack.problem === undefined ? "available" : "invalid",
        task: pack.task,
      })),
    };
  });
}

/** One suite. @throws SvcError `not_found` with the nearest id */
export function findSuite(id: string, projectRoot: string): Suite {
  const suites = listSuites(projectRoot);
  const found = suites.find((suite) => suite.id === id);
  if (found !== undefined) return found;
  throw new SvcError("not_found", `Cannot find a suite named ${id}`, {
    hint: didYouMean(id, suites.map((suite) => suite.id)) ?? `Suites: ${suites.map((suite) => suite.id).join(", ")}`,
  });
}
