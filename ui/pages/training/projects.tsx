// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** The export of a project, and the exported projects: captured splits, networks, files, as they change. */
import type { JsonObject } from "../../../lib/contract/value.ts";
import { messageOf, post, Problem } from "../../api.ts";
import { Digest, Facts, Section, Select, StateMark, Table } from "../../parts.tsx";
import { useEffect, useState } from "../../preact.ts";
import { place, refine } from "../../router.ts";
import { announce } from "../../state/announce.ts";
import { isEnded, onEvent } from "../../state/events.ts";
import { useFetched } from "../../state/fetched.ts";
import { exportProject, type Project, watchProject } from "../../state/training.ts";
import type { PartProps } from "./blocks.tsx";
import { Progress, type Target } from "./progress.tsx";

const FRAMEWORKS = ["torch", ["", "none"]] as const;

/** Tells the list below about a new project. */
const exported = new EventTarget();

export function Export(
  { recipe, inspection, draft, change, sound }: PartProps & { recipe: JsonObject; sound: boolean },
) {
  const [out, setOut] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const run = async (force: boolean) => {
    setBusy(true);
    setProblem(null);
    try {
      const path = await exportProject(recipe, draft, { out, force });
      announce(`Exported to ${path}`);
      refine({ project: path });
      exported.dispatchEvent(new Event("change"));
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(0, "internal_error", messageOf(error)));
    }
    setBusy(false);
  };
  return (
    <Section title="Export">
      <div class="row">
        <label for="project-name">Project</label>
        <input
          id="project-name"
          class="mono"
          placeholder={inspection.recipe}
          value={out}
          onInput={(event) => setOut(event.currentTarget.value)}
        />
        <Select<string>
          label="Trainer code"
          value={draft.framework}
          options={FRAMEWORKS}
          onChoose={(framework) => change({ framework })}
        />
        <button type="button" class="primary" disabled={!sound || busy} onClick={() => run(false)}>Export</button>
      </div>
      {problem !== null && (
        <div class="notice" data-tone="error" role="alert">
          <p>{problem.message}</p>
          {problem.hint && <p class="muted">{problem.hint}</p>}
          {problem.status === 409 && (
            <button type="button" onClick={() => run(true)}>Replace its exported files; data stays</button>
          )}
        </div>
      )}
    </Section>
  );
}

export function Projects(target: Target) {
  const { value, again } = useFetched("/api/workbench/exported-projects"), projects = value?.projects ?? [];
  useEffect(() => {
    exported.addEventListener("change", again);
    return () => exported.removeEventListener("change", again);
  }, []);
  const shown = place.value.query.get("project");
  const project = projects.find(({ path }) => path === shown) ?? projects[0];
  return (
    <Section title="Projects">
      {project === undefined
        ? <p class="empty">No projects yet: an export puts a project into training_projects/ of the state directory</p>
        : (
          <>
            {projects.length > 1 && (
              <Select
                label="Project"
                value={project.path}
                options={projects.map(({ path, id }) => [path, id] as const)}
                onChoose={(path) => refine({ project: path })}
              />
            )}
            <ProjectView key={project.path} first={project} target={target} />
          </>
        )}
    </Section>
  );
}

const STATES = { captured: "ready", missing: "planned", outdated: "warning" };

function ProjectView({ first, target }: { first: Project; target: Target }) {
  const [project, setProject] = useState(first);
  useEffect(() => watchProject(first.path, setProject), [first.path]);
  const changed = project.files.filter(({ state }) => state !== "unchanged");
  return (
    <div data-project={project.path}>
      <Facts
        look="spaced"
        of={[
          ["Recipe", project.recipe],
          ["Location", <span class="mono">{project.path}</span>],
          ["Scenario", <Digest text={project.identities.scenario_sha256} />],
          ["Training plan", <Digest text={project.identities.training_plan_sha256} />],
          [
            "Networks",
            project.components.map(({ id, path, present }) => (
              <span key={id} class="row">
                <code>{path}</code>{" "}
                <StateMark state={present ? "ready" : "planned"} word={present ? "present" : "missing"} />
              </span>
            )),
          ],
          changed.length > 0 &&
          ["Changed since the export", changed.map(({ path, state }) => `${path} (${state})`).join(", ")],
        ]}
      />
      <Table
        label="Splits"
        rows={project.capture_jobs}
        keyOf={({ split }) => split}
        attributes={({ split, state }) => ({ "data-split": split, "data-state": state })}
        columns={[
          ["Split", ({ split }) => split],
          ["State", ({ state }) => <StateMark state={STATES[state]} word={state} />],
          ["Records", (job) => `${job.captured_samples} of ${job.requested_samples}`, "number"],
          ["Arrays", ({ expected_taps }) => expected_taps.join(", "), "mono small"],
          [
            "Capture",
            ({ split, state }) => <CaptureButton project={project.path} split={split} again={state !== "missing"} />,
          ],
        ]}
      />
      <Progress project={project} target={target} />
    </div>
  );
}

/** Captures a split in the background and shows its progress. */
function CaptureButton({ project, split, again }: { project: string; split: string; again: boolean }) {
  const [jobId, setJobId] = useState<string | null>(null);
  const [message, setMessage] = useState("");
  useEffect(() => {
    if (jobId === null) return;
    return onEvent((event) => {
      if (event.job_id !== jobId) return;
      setMessage(event.message);
      if (isEnded(event.kind.replace(/^job_/, ""))) setJobId(null);
    });
  }, [jobId]);
  const start = async () => {
    setMessage("");
    try {
      const job = await post("/api/dataset-capture-jobs", {
        project_path: project,
        split,
        force: again,
      });
      if (!isEnded(job.state)) setJobId(job.job_id);
    } catch (error) {
      setMessage(messageOf(error));
    }
  };
  return (
    <span class="row">
      {jobId === null
        ? (
          <button type="button" aria-label={`Capture ${again ? "again " : ""}${split}`} onClick={start}>
            {again ? "Capture again" : "Capture"}
          </button>
        )
        : (
          <button
            type="button"
            aria-label={`Stop capturing ${split}`}
            onClick={() => void post("/api/dataset-capture-jobs/:job_id/cancel", {}, { params: { job_id: jobId } })}
          >
            Stop
          </button>
        )}
      {message !== "" && <span class="small muted">{message}</span>}
    </span>
  );
}
