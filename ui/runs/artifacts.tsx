/** The ledger: every file with its digest, its beginning, and whether it is still what it was. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { useState } from "../preact.ts";
import { type Artifact, artifactsOf, type RunDocuments } from "./documents.ts";
import { artifactAddress, get, saveArtifact, useLoaded } from "./fetch_artifact.ts";
import { bytesText } from "./metrics.ts";

interface Verdict {
  status: "valid" | "warning" | "invalid";
  checks: { id: string; status: string; count: number }[];
  errors: JsonObject[];
  warnings: JsonObject[];
}

export function Artifacts({ documents: { summary } }: { documents: RunDocuments }) {
  const artifacts = artifactsOf(summary);
  const [open, setOpen] = useState<string | null>(null);
  return (
    <div class="stack">
      <Verify runId={summary.run_id} />
      {artifacts.length === 0
        ? <p class="empty">This run left no artifacts.</p>
        : (
          <div class="scroll-x panel" tabIndex={0} role="region" aria-label="Ledger of artifacts">
            <table>
              <thead>
                <tr>
                  <th>Artifact</th>
                  <th>Kind</th>
                  <th>Values</th>
                  <th>SHA-256</th>
                  <th>
                    <span class="hidden-text">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {artifacts.map((artifact) => (
                  <ArtifactRow
                    key={artifact.path}
                    artifact={artifact}
                    open={open === artifact.path}
                    onOpen={() => setOpen(open === artifact.path ? null : artifact.path)}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
    </div>
  );
}

function ArtifactRow({ artifact, open, onOpen }: { artifact: Artifact; open: boolean; onOpen(): void }) {
  const { step, name, kind, dtype, shape, sha256, path } = artifact;
  const [problem, setProblem] = useState<string | null>(null);
  const download = () => saveArtifact(path).catch((error) => setProblem((error as Error).message));
  return (
    <>
      <tr>
        <td class="mono">{step}.{name}</td>
        <td class="mono small">{kind}</td>
        <td class="mono small">{dtype === null ? "" : `${dtype} [${shape?.join(", ") ?? ""}]`}</td>
        <td class="mono small" title={sha256}>{sha256.slice(0, 12)}…</td>
        <td>
          <div class="row nowrap">
            <button type="button" class="quiet" aria-expanded={open} onClick={onOpen}>
              Preview<span class="hidden-text">of {step}.{name}</span>
            </button>
            <button type="button" class="quiet" onClick={download}>
              Download<span class="hidden-text">{step}.{name}</span>
            </button>
          </div>
          {problem !== null && <span class="state" data-tone="error">{problem}</span>}
        </td>
      </tr>
      {open && (
        <tr>
          <td colSpan={5}>
            <Preview artifact={artifact} />
          </td>
        </tr>
      )}
    </>
  );
}

interface PreviewAnswer {
  format: string;
  size_bytes: number;
  sha256: string;
  preview: { arrays?: { name: string; dtype: string; shape: number[]; values: unknown[] }[]; text?: string } | null;
  truncated: boolean;
}

function Preview({ artifact: { path, sha256 } }: { artifact: Artifact }) {
  const { value, problem } = useLoaded((signal) => get<PreviewAnswer>(artifactAddress(path), signal), path);
  if (problem !== null) return <p class="notice" data-tone="error">{problem}</p>;
  if (value === null) return <p class="muted" aria-busy="true">Reading the file</p>;
  // The summary hashes what an artifact holds; the answer hashes the file that holds it.
  return (
    <div class="stack">
      <dl class="facts">
        <dt>File</dt>
        <dd class="mono">{path}</dd>
        <dt>Size</dt>
        <dd>{bytesText(value.size_bytes)} ({value.size_bytes} bytes), {value.format}</dd>
        <dt>SHA-256 in the ledger</dt>
        <dd class="mono">{sha256}</dd>
        <dt>SHA-256 of the file</dt>
        <dd class="mono">
          {value.sha256} {value.sha256 === sha256
            ? <span class="state" data-tone="ok">✓ equal</span>
            : <span class="state" data-tone="error">✕ differs</span>}
        </dd>
      </dl>
      {value.preview?.arrays?.map(({ name, dtype, shape, values }) => (
        <div key={name}>
          <p class="mono small muted">{name}: {dtype} [{shape.join(", ")}]</p>
          <pre class="values">{values.map(cellText).join("  ")}{value.truncated ? "  …" : ""}</pre>
        </div>
      ))}
      {value.preview?.text !== undefined &&
        <pre class="values">{value.preview.text}{value.truncated ? "\n…" : ""}</pre>}
      {value.preview === null && <p class="muted">There is no preview of this format. Download the file.</p>}
    </div>
  );
}

const cellText = (value: unknown): string =>
  Array.isArray(value) ? `(${value.map((part) => short(Number(part))).join(", ")})` : short(value);
const short = (value: unknown): string =>
  typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(5))) : String(value);

function Verify({ runId }: { runId: string }) {
  const [report, setReport] = useState<Verdict | null>(null);
  const [state, setState] = useState<"idle" | "running" | string>("idle");
  const verify = () => {
    setState("running");
    setReport(null);
    get<Verdict>(`/api/runs/${encodeURIComponent(runId)}/verify`).then((found) => {
      setReport(found);
      setState("idle");
    }, (error) => setState((error as Error).message));
  };
  const wrong = [...report?.errors ?? [], ...report?.warnings ?? []];
  const done = report?.checks.reduce((sum, { count }) => sum + Number(count), 0);
  return (
    <section class="panel" aria-label="Verification">
      <div class="row">
        <button type="button" class="primary" disabled={state === "running"} onClick={verify}>Verify</button>
        <span class="muted">Hashes every file again and checks all that links them.</span>
      </div>
      <div role="status">
        {state === "running" && <p class="muted">Hashing</p>}
        {state !== "idle" && state !== "running" && <p class="notice" data-tone="error">{state}</p>}
        {report !== null && (
          <p
            class="notice"
            data-tone={report.status === "invalid" ? "error" : report.status === "warning" ? "warn" : undefined}
          >
            <strong>{report.status === "valid" ? "✓ valid" : report.status}</strong>: {done} checks of{" "}
            {report.checks.length} kinds{wrong.length > 0 ? `, ${wrong.length} findings` : ", all passed"}
          </p>
        )}
      </div>
      {wrong.length > 0 && (
        <ul>
          {wrong.map((check, index) => (
            <li key={index}>
              <code>{String(check.code ?? "")}</code> {String(check.message ?? "")}
              {check.path !== undefined && <code class="muted">{` ${String(check.path)}`}</code>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
