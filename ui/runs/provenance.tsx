/** The provenance of a run: environment, digests and seeds; and its reproduction. */
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { get, messageOf, post } from "../api.ts";
import { Facts, Trouble } from "../parts.tsx";
import { useEffect, useState } from "../preact.ts";
import { address } from "../router.ts";
import { isEnded, jobs, rememberJob } from "../state/events.ts";
import { execution } from "../state/runs.ts";
import type { RunDocuments } from "./documents.ts";
import { Seeds } from "./seeds.tsx";
import { Sign } from "../sign.tsx";

export function Provenance({ documents: { summary, manifest } }: { documents: RunDocuments }) {
  const environment = object(manifest.environment), seeds = object(summary.seed_policy);
  const runtime = object(environment.runtime), hardware = object(environment.hardware);
  const svc = object(environment.svc), platform = object(environment.platform);
  const git = object(environment.git), dependencies = object(environment.dependencies);
  const facts: [string, string][] = [
    ["Program", `svc ${svc.version}, build ${svc.build_sha256}`],
    ["Runtime", `${runtime.name} ${runtime.version}, ${runtime.engine}`],
    ["Machine", `${hardware.cpu}, ${hardware.cpu_count} cores, ${platform.os} ${platform.arch}`],
    ["Authored recipe SHA-256", String(summary.authored_recipe_sha256 ?? "")],
    ["Effective recipe SHA-256", String(summary.effective_recipe_sha256 ?? "")],
    ["Plan SHA-256", String(summary.execution_plan.sha256)],
    ...Object.entries(git).map(([name, value]): [string, string] => [`Git ${name.replaceAll("_", " ")}`, plain(value)]),
    ["Master seed", `${plain(seeds.master_seed)} from ${plain(seeds.master_seed_source)}`],
    ["Seed namespace", `${plain(seeds.seed_namespace)}, ${plain(seeds.derivation)}`],
  ];
  // Steps of one adapter have the same grants.
  const adapters = new Map((manifest.steps as JsonObject[]).flatMap(({ external_adapter_sdk: adapter }) => {
    const { name, version, grant_source, permissions_granted } = object(adapter);
    const granted = Object.entries(object(permissions_granted)).flatMap(([kind, values]) =>
      Array.isArray(values) ? values.map((value) => `${kind}=${value}`) : []
    ).join(" ");
    const by = granted === "" ? "without grants" : `may use ${granted}, by ${plain(grant_source).replaceAll("_", " ")}`;
    return name === undefined ? [] : [[`Adapter ${name}`, `${version}, ${by}`] as const];
  }));
  return (
    <div class="stack">
      <Reproduce runId={summary.run_id} executing={summary.status === "running"} />
      <section class="panel">
        <h2>Environment</h2>
        <Facts mono="mono" of={[...facts, ...adapters]} />
      </section>
      <section class="panel">
        <h2>Seeds of the steps</h2>
        <Seeds policy={seeds} />
      </section>
      {Object.keys(dependencies).length > 0 && (
        <details class="panel">
          <summary>{Object.keys(dependencies).length} libraries with their versions</summary>
          <Facts mono="mono" of={Object.entries(dependencies).map(([name, version]) => [name, plain(version)])} />
        </details>
      )}
    </div>
  );
}

const object = (value: unknown): JsonObject => isObject(value as JsonObject) ? value as JsonObject : {};
const plain = (value: unknown): string =>
  value === null || value === undefined
    ? "–"
    : typeof value === "object" && !("value" in value)
    ? JSON.stringify(value)
    : String(value);

interface Report extends JsonObject {
  status: string;
  reproduced_run_id: string;
  recipe_match: boolean;
  plan_differences: JsonObject[];
  artifacts: JsonObject[];
  metrics: JsonObject[];
  environment_differences: JsonObject[];
  first_difference: string | null;
}

function Reproduce({ runId, executing }: { runId: string; executing: boolean }) {
  const [jobId, setJobId] = useState<string | null>(null), [problem, setProblem] = useState<string | null>(null);
  const [report, setReport] = useState<Report | null>(null);
  const job = jobId === null ? undefined : jobs.value.get(jobId);
  const ended = job !== undefined && isEnded(job.state);
  const start = () => {
    setReport(null);
    setProblem(null);
    const body = { execution: execution() };
    post("/api/runs/:run_id/reproduce", body, { params: { run_id: runId } }).then((started) => {
      rememberJob(started);
      setJobId(started.job_id);
    }, (error) => setProblem(messageOf(error)));
  };
  useEffect(() => {
    if (!ended || jobId === null) return;
    const stop = new AbortController();
    get("/api/run-jobs/:job_id", { params: { job_id: jobId }, signal: stop.signal }).then(({ result, error }) => {
      const { report } = object(result);
      if (isObject(report)) setReport(report as Report);
      else setProblem(String(object(error).detail ?? `The run ended as ${job!.state}`));
    }, (error) => stop.signal.aborted || setProblem(messageOf(error)));
    return () => stop.abort();
  }, [ended, jobId]);
  const active = jobId !== null && !ended;
  const count = (rows: JsonObject[]) => rows.filter(({ match }) => match === false).length;
  return (
    <section class="panel" aria-label="Reproduction">
      <div class="row">
        <button type="button" class="primary" disabled={active || executing} onClick={start}>Reproduce</button>
        <span class="muted">
          {executing
            ? "The run is still active."
            : active
            ? `Running again: ${job?.state ?? "queued"}`
            : "Runs the effective recipe again and compares all artifacts, byte by byte."}
        </span>
      </div>
      <div role="status">
        <Trouble text={problem} />
        {report !== null && (
          <div class="notice" data-tone={report.status === "identical" ? undefined : "error"}>
            <p>
              <strong>
                <Sign of={report.status === "identical" ? "✓" : "✕"} /> {report.status}
              </strong>: {report.artifacts.length - count(report.artifacts)} of {report.artifacts.length} artifacts and
              {" "}
              {report.metrics.length - count(report.metrics)} of {report.metrics.length} metrics agree;{" "}
              {report.plan_differences.length} differences of the plan, {report.environment_differences.length}{" "}
              of the environment.
              {report.first_difference !== null && (
                <>
                  The first difference is at <code>{report.first_difference}</code>.
                </>
              )}
            </p>
            <a class="mono" href={address("runs", [report.reproduced_run_id])}>{report.reproduced_run_id}</a>
          </div>
        )}
      </div>
    </section>
  );
}
