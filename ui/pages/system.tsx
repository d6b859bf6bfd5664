/** The machine and this browser: what `svc doctor` says, jobs, adapters, trained artifacts, settings, licences. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { openKeyboardSheet } from "../keyboard.tsx";
import { Page } from "../frame.tsx";
import { Diagnostics, Digest, Pending } from "../panels/notices.tsx";
import { StateMark } from "../panels/state_mark.tsx";
import type { Diagnostic } from "../api.ts";
import { activeJobs, type Job, jobs } from "../state/events.ts";
import { useFetched } from "../state/fetched.ts";
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { DENSITIES, density, theme, THEMES } from "../state/settings.ts";

interface Check {
  id: string;
  status: string;
  detail: string;
  hint: string | null;
}

export default function System() {
  return (
    <Page title="System">
      <Doctor />
      <Queue />
      <Adapters />
      <Artifacts />
      <Settings />
      <About />
    </Page>
  );
}

function Doctor() {
  const found = useFetched<{ status: string; version: string; checks: Check[] }>("/api/doctor");
  return (
    <section aria-labelledby="doctor">
      <div class="row spread">
        <h2 id="doctor">Doctor</h2>
        <span class="row">
          <CopyCommand command={commandOf("doctor")} />
          <button type="button" onClick={found.again}>Look again</button>
        </span>
      </div>
      {found.data === null
        ? <Pending of={found} what="the machine" />
        : (
          <div class="scroll" role="group" aria-label="Checks" tabindex={0}>
            <table>
              <thead>
                <tr>
                  <th>Check</th>
                  <th>State</th>
                  <th>Detail</th>
                </tr>
              </thead>
              <tbody>
                {found.data.checks.map(({ id, status, detail, hint }) => (
                  <tr key={id} data-check={id}>
                    <td class="mono">{id}</td>
                    <td>
                      <StateMark state={status} />
                    </td>
                    <td>{detail}{hint && <div class="muted">{hint}</div>}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
    </section>
  );
}

function Queue() {
  const all = [...jobs.value.values()].sort((a, b) => a.created_at_utc < b.created_at_utc ? 1 : -1).slice(0, 20);
  return (
    <section aria-labelledby="queue">
      <h2 id="queue">Jobs</h2>
      <p class="muted">{activeJobs().length} at work or waiting</p>
      {all.length > 0 && (
        <div class="scroll" role="group" aria-label="Jobs" tabindex={0}>
          <table>
            <thead>
              <tr>
                <th>Recipe</th>
                <th>State</th>
                <th>Run</th>
                <th>Created (UTC)</th>
              </tr>
            </thead>
            <tbody>
              {all.map((job: Job) => (
                <tr key={job.job_id}>
                  <td>{job.recipe_name ?? "–"}</td>
                  <td>
                    <StateMark state={job.state} />
                  </td>
                  <td class="mono small">{job.run_id ?? "–"}</td>
                  <td class="mono small">{job.created_at_utc.slice(0, 19).replace("T", " ")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

interface Adapter {
  name: string;
  version: string;
  folder_sha256: string;
  operations: (string | JsonObject)[];
  permissions_requested: unknown;
  permissions_granted: unknown;
}

/** A list of grants, or what a mapping of them says, in one line. */
const told = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(told).join(", ") || "none";
  if (typeof value !== "object" || value === null) return String(value ?? "none");
  return Object.entries(value).filter(([, of]) => told(of) !== "none" && of !== false)
    .map(([name, of]) => of === true ? name : `${name}: ${told(of)}`).join("; ") || "none";
};

function Adapters() {
  const found = useFetched<{ adapters: Adapter[] }>("/api/adapters");
  return (
    <section aria-labelledby="adapters">
      <h2 id="adapters">Adapters</h2>
      {found.data === null
        ? <Pending of={found} what="the adapters" />
        : found.data.adapters.length === 0
        ? (
          <p class="muted">
            None is loaded. Start the server with <code>svc --adapter &lt;folder&gt; ui serve</code>
          </p>
        )
        : (
          <div class="scroll" role="group" aria-label="Adapters" tabindex={0}>
            <table>
              <thead>
                <tr>
                  <th>Adapter</th>
                  <th>Operations</th>
                  <th>Asks for</th>
                  <th>Is granted</th>
                  <th>SHA-256</th>
                </tr>
              </thead>
              <tbody>
                {found.data.adapters.map((adapter) => (
                  <tr key={adapter.name}>
                    <td>{adapter.name} {adapter.version}</td>
                    <td class="mono small">
                      {adapter.operations.map((one) => typeof one === "string" ? one : String(one.id)).join(", ")}
                    </td>
                    <td class="small">{told(adapter.permissions_requested)}</td>
                    <td class="small">{told(adapter.permissions_granted)}</td>
                    <td>
                      <Digest text={adapter.folder_sha256} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
    </section>
  );
}

interface Artifact {
  id: string;
  name: string;
  package_sha256: string;
  status: string;
  source_class: string;
  place: string;
  operations: string[];
  diagnostics: Diagnostic[];
}

function Artifacts() {
  const found = useFetched<{ artifacts: Artifact[] }>("/api/trained-artifacts");
  return (
    <section aria-labelledby="artifacts">
      <h2 id="artifacts">Trained artifacts</h2>
      {found.data === null
        ? <Pending of={found} what="the artifacts" />
        : found.data.artifacts.length === 0
        ? <p class="muted">None is here</p>
        : (
          <div class="scroll" role="group" aria-label="Trained artifacts" tabindex={0}>
            <table>
              <thead>
                <tr>
                  <th>Artifact</th>
                  <th>State</th>
                  <th>Fills the slot of</th>
                  <th>From</th>
                  <th>SHA-256</th>
                </tr>
              </thead>
              <tbody>
                {found.data.artifacts.map((artifact) => (
                  <tr key={`${artifact.place} ${artifact.id}`}>
                    <td>
                      {artifact.name}
                      <div class="mono small muted">{artifact.id}</div>
                    </td>
                    <td>
                      <StateMark state={artifact.status} />
                      {artifact.diagnostics.length > 0 && <Diagnostics items={artifact.diagnostics} />}
                    </td>
                    <td class="mono small">{artifact.operations.join(", ")}</td>
                    <td>{artifact.place}, {artifact.source_class.replaceAll("_", " ")}</td>
                    <td>
                      <Digest text={artifact.package_sha256} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
    </section>
  );
}

function Settings() {
  return (
    <section aria-labelledby="settings">
      <h2 id="settings">Settings of this browser</h2>
      <div class="row">
        <label class="row">
          Theme
          <select
            value={theme.value}
            onChange={(event) => theme.value = event.currentTarget.value as typeof theme.value}
          >
            {THEMES.map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        </label>
        <label class="row">
          Density
          <select
            value={density.value}
            onChange={(event) => density.value = event.currentTarget.value as typeof density.value}
          >
            {DENSITIES.map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        </label>
        <button type="button" onClick={openKeyboardSheet}>Keyboard …</button>
      </div>
    </section>
  );
}

/** What the page is made of, with its licences. */
const PARTS: [name: string, licence: string][] = [
  ["Preact and Signals", "MIT"],
  ["Inter, by The Inter Project Authors", "SIL Open Font Licence 1.1"],
  ["JetBrains Mono, by The JetBrains Mono Project Authors", "SIL Open Font Licence 1.1"],
];

function About() {
  const health = useFetched<{ version: string; workspace: string; read_only: boolean }>("/api/health");
  return (
    <section aria-labelledby="about">
      <h2 id="about">About</h2>
      <dl class="facts">
        <dt>svc</dt>
        <dd>{health.data?.version ?? "–"}, Apache Licence 2.0</dd>
        <dt>Page</dt>
        <dd>
          <code>{/static\/([0-9a-f]+)\//.exec(import.meta.url)?.[1] ?? "–"}</code>
        </dd>
        <dt>State</dt>
        <dd class="mono">{health.data?.workspace ?? "–"}{health.data?.read_only && " (read-only)"}</dd>
        {PARTS.map(([name, licence]) => (
          <>
            <dt>{name}</dt>
            <dd>{licence}</dd>
          </>
        ))}
      </dl>
      <p class="small muted">
        The page sends nothing anywhere but to this server. The interface is described at{" "}
        <a href="/api/openapi.json">/api/openapi.json</a>.
      </p>
    </section>
  );
}
