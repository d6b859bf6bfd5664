/**
 * How a model was chosen among its candidates, and whether results with it may be published as chosen without a look at
 * the test set. Nothing here decides whether an artifact runs.
 */
import { type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { compareCodePoints } from "../contract/json.ts";
import { didYouMean } from "../contract/nearest.ts";
import { toNumber, type Value } from "../contract/value.ts";
import { readDocument } from "./documents.ts";
import {
  checkSelectionHistoryForm,
  type PublicationReadiness,
  type SelectionHistory,
  type SupportFile,
} from "./types.ts";

/** The selection history of a package. */
export interface SelectionFacts {
  /** Document of the selection history; undefined when the manifest names none. */
  history: Value | undefined;
  supportFiles: readonly SupportFile[];
  /** Bytes of a support file. */
  read(path: string): Uint8Array | null;
  runtime_component_set_sha256: string;
  /** Whether it was imported: then its selection cannot be checked here. */
  imported: boolean;
}

/**
 * Judges the selection of an artifact.
 * @returns ready, or blocked with every reason: `selection_history_invalid`, `publication_not_ready`
 */
export function publicationReadiness(facts: SelectionFacts): PublicationReadiness {
  const issues: Diagnostic[] = [];
  let selected: string | null = null;
  if (facts.history === undefined) {
    issues.push(notReady(["publication"], "Cannot vouch for the selection: the manifest names no selection history"));
  } else {
    issues.push(...checkSelectionHistoryForm(facts.history));
    if (issues.length === 0) {
      const history = facts.history as SelectionHistory;
      selected = history.selected_candidate_id;
      issues.push(...checkHistory(history, facts));
    }
  }
  if (facts.imported) {
    issues.push(notReady(["source", "origin"], "Cannot vouch for the selection of an imported artifact"));
  }
  const ready = issues.length === 0;
  return {
    status: ready ? "ready" : "blocked",
    ready,
    issues,
    selected_candidate_id: selected,
    runtime_component_set_sha256: facts.runtime_component_set_sha256,
  };
}

const notReady = (place: Place, message: string): Diagnostic =>
  diagnostic("publication_not_ready", place, message, { severity: "warning" });

function checkHistory(history: SelectionHistory, facts: SelectionFacts): Diagnostic[] {
  const problems: Diagnostic[] = [];
  const report = (place: Place, message: string, hint: string | null = null) =>
    problems.push(diagnostic("selection_history_invalid", place, message, { hint }));
  const { selection_population: population, search_program: program, candidates } = history;
  const support = (path: string, role: string) =>
    facts.supportFiles.find((file) => file.path === path && file.role === role);

  if (toNumber(history.selection_rule.tolerance ?? 0) < 0) {
    report(["selection_rule", "tolerance"], "Cannot use a tolerance below zero");
  }
  if (population.role !== history.selection_population_role) {
    report(["selection_population", "role"], `Cannot select on a population of role ${population.role}`);
  }
  if (support(program.path, "model_selection_search_program")?.sha256 !== program.sha256) {
    report(["search_program"], `Cannot find ${program.path} among the support files`, supportHint("search_program"));
  }
  const ids = candidates.map(({ id }) => id);
  candidates.forEach((candidate, index) => {
    const place = ["candidates", index];
    const { id, status } = candidate;
    if (ids.indexOf(id) !== index) report([...place, "id"], `Cannot name two candidates ${id}`);
    if (candidate.selection_population_sha256 !== population.sha256) {
      report([...place, "selection_population_sha256"], `Cannot compare ${id}: it was judged on another population`);
    }
    const configuration = configurationSha256(candidate.configuration_path, facts);
    if (configuration !== candidate.configuration_identity_sha256) {
      const message = configuration === null
        ? `Cannot find the configuration ${candidate.configuration_path} of ${id} among the support files`
        : `Cannot accept the configuration of ${id}: the SHA-256 of its canonical JSON is ${configuration}`;
      report([...place, "configuration_path"], message, configuration === null ? supportHint("configuration") : null);
    }
    const wanted = status === "completed" ? ["objective_value", "runtime_component_set_sha256"] : ["failure_reason"];
    for (const name of ["objective_value", "runtime_component_set_sha256", "failure_reason"] as const) {
      const given = candidate[name] !== undefined;
      if (given === wanted.includes(name)) continue;
      report([...place, name], `Cannot accept ${id} (${status}) ${given ? "with" : "without"} ${name}`);
    }
  });
  if (problems.length > 0) return problems;

  const chosen = candidates.find(({ id }) => id === history.selected_candidate_id);
  const place = ["selected_candidate_id"];
  if (chosen === undefined) {
    report(
      place,
      `Cannot find the candidate ${history.selected_candidate_id}`,
      didYouMean(history.selected_candidate_id, ids),
    );
    return problems;
  }
  const best = extremum(history);
  if (chosen.id !== best) {
    report(
      place,
      `Cannot accept ${chosen.id} as selected`,
      `By the stated rule it is ${best ?? "none: no candidate was completed"}`,
    );
  }
  if (chosen.runtime_component_set_sha256 !== facts.runtime_component_set_sha256) {
    report(
      place,
      `Cannot accept ${chosen.id} as selected: its components are not the ones of this package`,
      `runtime_component_set_sha256 of the package is ${facts.runtime_component_set_sha256}`,
    );
  }
  return problems;
}

const supportHint = (what: string) => `List it among support_files with the role model_selection_${what}`;

/** The id that the rule selects: the extremum, and of those within the tolerance of it the first in code-point order. */
function extremum({ candidates, direction, selection_rule }: SelectionHistory): string | null {
  const sign = direction === "minimize" ? 1 : -1;
  const completed = candidates.filter(({ status }) => status === "completed")
    .map(({ id, objective_value: value }) => ({ id, cost: sign * toNumber(value!) }));
  const tolerance = toNumber(selection_rule.tolerance ?? 0);
  const least = Math.min(...completed.map(({ cost }) => cost));
  const tied = completed.filter(({ cost }) => cost - least <= tolerance).map(({ id }) => id);
  return tied.sort(compareCodePoints)[0] ?? null;
}

/** Digest of the canonical JSON of a configuration, JSON or YAML; null when it is not there or cannot be read. */
function configurationSha256(path: string, facts: SelectionFacts): string | null {
  if (!facts.supportFiles.some((file) => file.path === path && file.role === "model_selection_configuration")) {
    return null;
  }
  const bytes = facts.read(path);
  if (bytes === null) return null;
  const { value, diagnostics } = readDocument(bytes, path);
  return diagnostics.length > 0 || value === null ? null : sha256Json(value);
}
