// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** The ledger: every file with its digest, its beginning, and its verification. */
import { get, messageOf, type Reply } from "../api.ts";
import { Facts, Hidden, Shown, Table, Trouble } from "../parts.tsx";
import { useState } from "../preact.ts";
import { useFetched } from "../state/fetched.ts";
import { saveArtifact } from "../state/files.ts";
import { type Artifact, artifactsOf, type RunDocuments } from "./documents.ts";
import { bytesText } from "./amounts.ts";
import { valueText } from "./metrics.ts";
import { Sign } from "../sign.tsx";

export function Artifacts({ documents: { summary } }: { documents: RunDocuments }) {
  const artifacts = artifactsOf(summary);
  const [open, setOpen] = useState<string | null>(null);
  return (
    <div class="stack">
      <Verify runId={summary.run_id} />
      {artifacts.length === 0 ? <p class="empty">This run has no artifacts.</p> : (
        <Table
          label="Ledger of artifacts"
          rows={artifacts}
          keyOf={({ path }) => path}
          columns={[
            ["Artifact", ({ step, name }) => `${step}.${name}`, "mono"],
            ["Kind", ({ kind }) => kind, "mono small"],
            [
              "Values",
              ({ dtype, shape }) => dtype === null ? "" : `${dtype} [${shape?.join(", ") ?? ""}]`,
              "mono small",
            ],
            ["SHA-256", ({ sha256 }) => `${sha256.slice(0, 12)}…`, "mono small", ({ sha256 }) => sha256],
            [<Hidden>Actions</Hidden>, (artifact) => (
              <Actions
                artifact={artifact}
                open={open === artifact.path}
                onOpen={() => setOpen(open === artifact.path ? null : artifact.path)}
              />
            )],
          ]}
        />
      )}
      {artifacts.filter(({ path }) => path === open).map((artifact) => (
        <section key={artifact.path} class="panel" aria-label={`Preview of ${artifact.step}.${artifact.name}`}>
          <Preview artifact={artifact} />
        </section>
      ))}
    </div>
  );
}

function Actions(
  { artifact: { step, name, path }, open, onOpen }: { artifact: Artifact; open: boolean; onOpen(): void },
) {
  const [problem, setProblem] = useState<string | null>(null);
  return (
    <>
      <div class="row nowrap">
        <button type="button" aria-expanded={open} onClick={onOpen}>
          Preview<Hidden>of {step}.{name}</Hidden>
        </button>
        <button
          type="button"
          onClick={() => saveArtifact(path).catch((error) => setProblem(messageOf(error)))}
        >
          Download<Hidden>{step}.{name}</Hidden>
        </button>
      </div>
      <Trouble text={problem} />
    </>
  );
}

function Preview({ artifact: { path, sha256 } }: { artifact: Artifact }) {
  // The summary hashes the content of an artifact; the reply hashes the file.
  return (
    <Shown of={useFetched("/api/artifact", { query: { path } })} what="the file">
      {(file) => (
        <div class="stack">
          <Facts
            of={[
              ["File", <span class="mono">{path}</span>],
              ["Size", `${bytesText(file.size_bytes)} (${file.size_bytes} bytes), ${file.format}`],
              ["SHA-256 in the ledger", <span class="mono">{sha256}</span>],
              [
                "SHA-256 of the file",
                (
                  <span class="mono">
                    {file.sha256} {file.sha256 === sha256
                      ? (
                        <span class="state" data-tone="ok">
                          <Sign of="✓" /> equal
                        </span>
                      )
                      : (
                        <span class="state" data-tone="error">
                          <Sign of="✕" /> differs
                        </span>
                      )}
                  </span>
                ),
              ],
            ]}
          />
          {file.preview?.arrays?.map(({ name, dtype, shape, values }) => (
            <div key={name}>
              <p class="mono small muted">{name}: {dtype} [{shape.join(", ")}]</p>
              <pre class="values">{values.map(cellText).join("  ")}{file.truncated ? "  …" : ""}</pre>
            </div>
          ))}
          {file.preview?.text !== undefined &&
            <pre class="values">{file.preview.text}{file.truncated ? "\n…" : ""}</pre>}
          {file.preview === null && <p class="muted">There is no preview of this format. Download the file.</p>}
        </div>
      )}
    </Shown>
  );
}

const cellText = (value: unknown): string =>
  Array.isArray(value) ? `(${value.map((part) => short(Number(part))).join(", ")})` : short(value);
const short = (value: unknown): string => typeof value === "number" ? valueText(value) : String(value);

function Verify({ runId }: { runId: string }) {
  const [report, setReport] = useState<Reply<"/api/runs/:run_id/verify"> | null>(null);
  const [state, setState] = useState("idle");
  const verify = () => {
    setState("running");
    setReport(null);
    get("/api/runs/:run_id/verify", { params: { run_id: runId } }).then((found) => {
      setReport(found);
      setState("idle");
    }, (error) => setState(messageOf(error)));
  };
  const wrong = [...report?.errors ?? [], ...report?.warnings ?? []];
  const done = report?.checks.reduce((sum, { count }) => sum + Number(count), 0);
  return (
    <section class="panel" aria-label="Verification">
      <div class="row">
        <button type="button" class="primary" disabled={state === "running"} onClick={verify}>Verify</button>
        <span class="muted">Hashes every file again and checks the links between the documents.</span>
      </div>
      <div role="status">
        {state === "running" && <p class="muted">Hashing</p>}
        {state !== "idle" && state !== "running" && <Trouble text={state} />}
        {report !== null && (
          <p
            class="notice"
            data-tone={report.status === "invalid" ? "error" : report.status === "warning" ? "warn" : undefined}
          >
            {report.status === "valid" && <Sign of="✓" />} <strong>{report.status}</strong>: {done} checks of{" "}
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
