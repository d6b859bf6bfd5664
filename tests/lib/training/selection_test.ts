import assert from "node:assert/strict";
import { sha256Hex, sha256Json } from "../../../lib/contract/hash.ts";
import { prettyJson } from "../../../lib/contract/json.ts";
import { float } from "../../../lib/contract/value.ts";
import { inspectPackage } from "../../../lib/training/inspect.ts";
import { openPackage } from "../../../lib/training/source.ts";
import { type Bendable, contractOf, type Files, parts, seal, zipOf } from "./_package.ts";

const population = sha256Hex("validation samples");
const configuration = { width: 16, rate: float(1) };
const encode = (text: string) => new TextEncoder().encode(text);

/** A package whose candidate `b` won with 0.25 against 0.5 and 0.75. */
function published(
  change: (history: Bendable) => void = () => {},
  manifestChange: (manifest: Bendable) => void = () => {},
): Files {
  const made = parts();
  const component = {
    id: "receiver",
    role: "toy_receiver",
    format: "onnx",
    sha256: sha256Hex(made.files.get("models/receiver.onnx")!),
  };
  const deployed = sha256Json({
    schema_version: 1,
    kind: "svc.trained_artifact_runtime_components",
    components: [component],
  });
  const candidate = (id: string, value: number, set: string) => ({
    id,
    configuration_path: `candidates/${id}.json`,
    configuration_identity_sha256: sha256Json({ ...configuration, id }),
    selection_population_sha256: population,
    publication_test_accessed: false,
    status: "completed",
    runtime_component_set_sha256: set,
    objective_value: float(value),
  });
  const history = {
    schema_version: 1,
    kind: "svc.model_selection_history",
    all_candidates_disclosed: true,
    publication_test_accessed: false,
    selection_population_role: "adaptation_validation",
    selection_population: {
      dataset_id: "toy",
      version: "1",
      split: "validation",
      role: "adaptation_validation",
      sha256: population,
    },
    objective: "validation loss",
    direction: "minimize",
    selection_rule: { method: "objective_extremum", tie_breaker: "lexicographic_candidate_id", tolerance: float(0) },
    search_program: { path: "search.py", sha256: sha256Hex("search"), command: ["python3", "search.py"] },
    selected_candidate_id: "b",
    candidates: [
      candidate("a", 0.5, sha256Hex("a")),
      candidate("b", 0.25, deployed),
      candidate("c", 0.75, sha256Hex("c")),
    ],
  };
  change(history);
  for (const id of ["a", "b", "c"]) {
    const path = `candidates/${id}.json`;
    made.files.set(path, encode(prettyJson({ ...configuration, id })));
    made.manifest.support_files.push({ path, sha256: "", role: "model_selection_configuration" });
  }
  made.files.set("search.py", encode("search"));
  made.manifest.support_files.push({ path: "search.py", sha256: "", role: "model_selection_search_program" });
  const bytes = encode(prettyJson(history));
  made.files.set("history.json", bytes);
  made.manifest.support_files.push({ path: "history.json", sha256: "", role: "model_selection_history" });
  made.manifest.publication = { selection_history: { path: "history.json", sha256: sha256Hex(bytes) } };
  manifestChange(made.manifest);
  return seal(made);
}

function judge(files: Files, imported = false) {
  const { status, diagnostics, readiness } = inspectPackage(openPackage(zipOf(files)), { contractOf, imported });
  assert.deepEqual([status, diagnostics], ["ready", []], "nothing here decides whether an artifact runs");
  return readiness!;
}

const issues = (change: (history: Bendable) => void) =>
  judge(published(change)).issues.map(({ code, path }) => `${code} ${path}`);

Deno.test("a selection that is told whole is ready", () => {
  const readiness = judge(published());
  assert.deepEqual([readiness.status, readiness.ready, readiness.issues], ["ready", true, []]);
  assert.equal(readiness.selected_candidate_id, "b");
});

Deno.test("an artifact without a history, or from elsewhere, is not ready", () => {
  const without = judge(seal(parts()));
  assert.deepEqual([without.status, without.ready, without.selected_candidate_id], ["blocked", false, null]);
  assert.deepEqual(without.issues.map(({ code, severity }) => [code, severity]), [[
    "publication_not_ready",
    "warning",
  ]]);
  const codes = (readiness: { issues: Bendable[] }) => readiness.issues.map(({ code }) => code);
  assert.deepEqual(codes(judge(published(), true)), ["publication_not_ready"]);
  assert.deepEqual(codes(judge(published(() => {}, (manifest) => manifest.source.origin = "imported"))), [
    "publication_not_ready",
  ]);
});

Deno.test("a history that hides something is refused", () => {
  const invalid = (place: string) => [`selection_history_invalid ${place}`];
  assert.deepEqual(issues((h) => h.all_candidates_disclosed = false), invalid("$.all_candidates_disclosed"));
  assert.deepEqual(issues((h) => h.publication_test_accessed = true), invalid("$.publication_test_accessed"));
  assert.deepEqual(
    issues((h) => h.selection_population_role = "publication_test"),
    invalid("$.selection_population_role"),
  );
  assert.deepEqual(
    issues((h) => h.candidates[2].publication_test_accessed = true),
    invalid("$.candidates[2].publication_test_accessed"),
  );
  assert.deepEqual(
    issues((h) => h.selection_population.role = "development_only"),
    invalid("$.selection_population.role"),
  );
  assert.deepEqual(
    issues((h) => h.candidates[0].selection_population_sha256 = sha256Hex("x")),
    invalid("$.candidates[0].selection_population_sha256"),
  );
  assert.deepEqual(
    issues((h) => h.candidates[0].configuration_identity_sha256 = sha256Hex("x")),
    invalid("$.candidates[0].configuration_path"),
  );
  assert.deepEqual(
    issues((h) => h.candidates[0].configuration_path = "absent.json"),
    invalid("$.candidates[0].configuration_path"),
  );
  assert.deepEqual(issues((h) => h.search_program.path = "other.py"), invalid("$.search_program"));
  assert.deepEqual(issues((h) => h.candidates[1].id = "a").slice(0, 1), invalid("$.candidates[1].id"));
  assert.deepEqual(issues((h) => delete h.candidates[1].objective_value), invalid("$.candidates[1].objective_value"));
  assert.deepEqual(issues((h) => h.candidates[2].status = "failed").sort(), [
    ...invalid("$.candidates[2].failure_reason"),
    ...invalid("$.candidates[2].objective_value"),
    ...invalid("$.candidates[2].runtime_component_set_sha256"),
  ]);
  assert.deepEqual(issues((h) => h.selection_rule.tolerance = -1), invalid("$.selection_rule.tolerance"));
});

Deno.test("the selected candidate is the extremum, and is what is deployed", () => {
  const selected = "selection_history_invalid $.selected_candidate_id";
  assert.deepEqual(issues((h) => h.selected_candidate_id = "a"), [selected, selected]);
  assert.deepEqual(issues((h) => h.selected_candidate_id = "z"), [selected]);
  assert.deepEqual(issues((h) => h.direction = "maximize"), [selected]);
  assert.deepEqual(issues((h) => h.candidates[0].objective_value = float(0.125)), [selected]);
  assert.deepEqual(issues((h) => h.candidates[1].runtime_component_set_sha256 = sha256Hex("b")), [selected]);
  // Of those within the tolerance the first id wins, here a, unless it failed.
  assert.deepEqual(issues((h) => h.selection_rule.tolerance = float(0.25)), [selected]);
  assert.deepEqual(issues((h) => h.selection_rule.tolerance = float(0.125)), []);
  assert.deepEqual(
    issues((h) => {
      h.selection_rule.tolerance = float(0.25);
      const { objective_value: _, runtime_component_set_sha256: __, ...failed } = h.candidates[0];
      h.candidates[0] = { ...failed, status: "failed", failure_reason: "diverged" };
    }),
    [],
  );
});
