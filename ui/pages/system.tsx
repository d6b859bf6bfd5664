// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** The machine and this browser: the checks of `svc doctor`, jobs, adapters, trained artifacts, settings, licences. */
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { Fold } from "../folded_rows.tsx";
import { openKeyboardSheet } from "../keyboard.ts";
import { Digest, Facts, Page, Section, Select, Shown, StateMark, Table } from "../parts.tsx";
import { timeText } from "../runs/metrics.ts";
import { activeJobs, jobs } from "../state/events.ts";
import { lazy } from "../preact.ts";
import { address } from "../router.ts";
import { useFetched } from "../state/fetched.ts";
import { DENSITIES, density, theme, THEMES } from "../state/settings.ts";

const UseOperation = lazy(() => import("../panels/replace.tsx").then(({ UseOperation }) => UseOperation));
const ArtifactTable = lazy(() => import("../data/artifacts.tsx").then(({ ArtifactTable }) => ArtifactTable));

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
  const found = useFetched("/api/doctor");
  const actions = (
    <>
      <CopyCommand command={commandOf("doctor")} />
      <button type="button" onClick={found.again}>Refresh</button>
    </>
  );
  return (
    <Section title="Doctor" look="doctor" actions={actions}>
      <Shown of={found} what="the machine">
        {({ checks }) => (
          <Table
            label="Checks"
            rows={checks}
            attributes={({ id }) => ({ "data-check": id })}
            columns={[
              ["Check", ({ id }) => id, "mono"],
              ["State", ({ status }) => <StateMark state={status} />],
              ["Detail", ({ detail, hint }) => <>{detail}{hint && <div class="muted">{hint}</div>}</>],
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}

const MOST_JOBS = 20;

function Queue() {
  const all = [...jobs.value.values()].sort((a, b) => a.created_at_utc < b.created_at_utc ? 1 : -1).slice(0, MOST_JOBS);
  return (
    <Section title="Jobs">
      <p class="muted">{activeJobs().length} running or queued</p>
      {all.length > 0 && (
        <Table
          label="Jobs"
          rows={all}
          keyOf={({ job_id }) => job_id}
          columns={[
            ["Recipe", ({ recipe_name }) => recipe_name ?? "–"],
            ["State", ({ state }) => <StateMark state={state} />],
            ["Run", ({ run_id }) => run_id ?? "–", "mono small"],
            ["Created (UTC)", ({ created_at_utc }) => timeText(created_at_utc), "mono small"],
          ]}
        />
      )}
    </Section>
  );
}

/** A list of grants, or a mapping of them, in one line. */
const grantsText = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(grantsText).join(", ") || "none";
  if (typeof value !== "object" || value === null) return String(value ?? "none");
  return Object.entries(value).filter(([, of]) => grantsText(of) !== "none" && of !== false)
    .map(([name, of]) => of === true ? name : `${name}: ${grantsText(of)}`).join("; ") || "none";
};

function Adapters() {
  return (
    <Section title="Adapters">
      <Shown of={useFetched("/api/adapters")} what="the adapters">
        {({ adapters }) =>
          adapters.length === 0
            ? (
              <p class="muted">
                No adapter is loaded. Start the server with <code>svc --adapter &lt;folder&gt; ui serve</code>
              </p>
            )
            : (
              <Table
                label="Adapters"
                rows={adapters}
                columns={[
                  ["Adapter", ({ name, version }) => `${name} ${version}`],
                  ["Language", ({ python }) =>
                    python === null ? "TypeScript" : ["Python", ...python.requires].join(", "), "small"],
                  ["Operations", ({ operations }) =>
                    operations.map(({ id }) => <OperationUse key={id} id={id} />)],
                  ["Requested", (adapter) =>
                    grantsText(adapter.permissions_requested), "small"],
                  ["Granted", (adapter) => grantsText(adapter.permissions_granted), "small"],
                  ["SHA-256", ({ folder_sha256 }) => <Digest text={folder_sha256} />],
                ]}
              />
            )}
      </Shown>
    </Section>
  );
}

const OperationUse = ({ id }: { id: string }) => (
  <div class="row small">
    <a class="mono" href={address("catalog", ["operations", id])}>{id}</a>
    <UseOperation id={id} />
  </div>
);

function Artifacts() {
  return (
    <Section title="Trained artifacts">
      <Shown of={useFetched("/api/trained-artifacts")} what="the artifacts">
        {({ artifacts }) =>
          artifacts.length === 0
            ? <p class="muted">No trained artifact is installed</p>
            : (
              <Fold count={artifacts.length} what="trained artifacts">
                <ArtifactTable artifacts={artifacts} />
              </Fold>
            )}
      </Shown>
    </Section>
  );
}

function Settings() {
  return (
    <Section title="Settings of this browser">
      <div class="row">
        <Select label="Theme" value={theme.value} options={THEMES} onChoose={(name) => theme.value = name} />
        <Select label="Density" value={density.value} options={DENSITIES} onChoose={(name) => density.value = name} />
        <button type="button" onClick={openKeyboardSheet}>Keyboard …</button>
      </div>
    </Section>
  );
}

/** Parts of the page, with their licences. */
const PARTS: [name: string, licence: string][] = [
  ["Preact and Signals", "MIT"],
  ["Inter, by The Inter Project Authors", "SIL Open Font Licence 1.1"],
  ["JetBrains Mono, by The JetBrains Mono Project Authors", "SIL Open Font Licence 1.1"],
];

function About() {
  const { value } = useFetched("/api/health");
  return (
    <Section title="About">
      <Facts
        of={[
          ["svc", `${value?.version ?? "–"}, Apache Licence 2.0`],
          ["Page", <code>{/static\/([0-9a-f]+)\//.exec(import.meta.url)?.[1] ?? "–"}</code>],
          ["State", <span class="mono">{value?.workspace ?? "–"}{value?.read_only && " (read-only)"}</span>],
          ...PARTS,
        ]}
      />
      <p class="small muted">
        The page sends data to this server only. The interface is described at{" "}
        <a href="/api/openapi.json">/api/openapi.json</a>.
      </p>
    </Section>
  );
}
