/** Exporting a project, and the projects that were exported: captured splits, networks, files, as they change. */
import type { JsonObject } from "../../../lib/contract/value.ts";
import { post, Problem } from "../../api.ts";
import { Digest } from "../../panels/notices.tsx";
import { StateMark } from "../../panels/state_mark.tsx";
import { useEffect, useState } from "../../preact.ts";
import { place, refine } from "../../router.ts";
import { announce } from "../../state/announce.ts";
import { isEnded, type Job, onEvent } from "../../state/events.ts";
import { exportProject, listProjects, type Project, watchProject } from "../../state/training.ts";
import type { PartProps } from "./blocks.tsx";

/** Tells the list below that there is something new. */
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
      setProblem(error instanceof Problem ? error : new Problem(0, "internal_error", String(error)));
    }
    setBusy(false);
  };
  return (
    <section aria-labelledby="export">
      <h2 id="export">Export</h2>
      <div class="row">
        <label for="project-name">Project</label>
        <input
          id="project-name"
          class="mono"
          placeholder={inspection.recipe}
          value={out}
          onInput={(event) => setOut(event.currentTarget.value)}
        />
        <label for="framework">Text for a trainer</label>
        <select
          id="framework"
          value={draft.framework}
          onChange={(event) => change({ framework: event.currentTarget.value })}
        >
          <option value="torch">torch</option>
          <option value="torch-phylib">torch-phylib</option>
          <option value="">none</option>
        </select>
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
    </section>
  );
}

export function Projects() {
  const [projects, setProjects] = useState<Project[]>([]);
  const read = () => void listProjects().then(setProjects, () => {});
  useEffect(() => {
    read();
    exported.addEventListener("change", read);
    return () => exported.removeEventListener("change", read);
  }, []);
  const shown = place.value.query.get("project");
  const path = projects.some((project) => project.path === shown) ? shown : projects[0]?.path ?? null;
  return (
    <section aria-labelledby="projects">
      <h2 id="projects">Projects</h2>
      {path === null
        ? <p class="empty">None yet: an export puts one into training_projects/ of the state directory</p>
        : (
          <>
            {projects.length > 1 && (
              <p class="row">
                <label for="project">Project</label>
                <select id="project" value={path} onChange={(event) => refine({ project: event.currentTarget.value })}>
                  {projects.map((project) => <option key={project.path} value={project.path}>{project.id}</option>)}
                </select>
              </p>
            )}
            <ProjectView key={path} first={projects.find((project) => project.path === path)!} />
          </>
        )}
    </section>
  );
}

const STATES: Readonly<Record<string, string>> = { captured: "ready", missing: "planned", outdated: "warning" };

function ProjectView({ first }: { first: Project }) {
  const [project, setProject] = useState(first);
  useEffect(() => watchProject(first.path, setProject), [first.path]);
  const changed = project.files.filter(({ state }) => state !== "unchanged");
  return (
    <div data-project={project.path}>
      <dl class="facts spaced">
        <dt>Recipe</dt>
        <dd>{project.recipe}</dd>
        <dt>Place</dt>
        <dd class="mono">{project.path}</dd>
        <dt>Scenario</dt>
        <dd>
          <Digest text={project.identities.scenario_sha256} />
        </dd>
        <dt>Training plan</dt>
        <dd>
          <Digest text={project.identities.training_plan_sha256} />
        </dd>
        <dt>Networks</dt>
        <dd>
          {project.components.map(({ id, path, present }) => (
            <span key={id} class="row">
              <code>{path}</code>{" "}
              <StateMark state={present ? "ready" : "planned"} word={present ? "there" : "to come"} />
            </span>
          ))}
        </dd>
        {changed.length > 0 && (
          <>
            <dt>Changed since the export</dt>
            <dd>{changed.map(({ path, state }) => `${path} (${state})`).join(", ")}</dd>
          </>
        )}
      </dl>
      <div class="scroll" role="group" aria-label="Splits" tabindex={0}>
        <table>
          <thead>
            <tr>
              <th>Split</th>
              <th>State</th>
              <th class="number">Records</th>
              <th>Arrays</th>
              <th>Capture</th>
            </tr>
          </thead>
          <tbody>
            {project.capture_jobs.map((job) => (
              <tr key={job.split} data-split={job.split} data-state={job.state}>
                <td>{job.split}</td>
                <td>
                  <StateMark state={STATES[job.state]} word={job.state} />
                </td>
                <td class="number">{job.captured_samples} of {job.requested_samples}</td>
                <td class="mono small">{job.expected_taps.join(", ")}</td>
                <td>
                  <CaptureButton project={project.path} split={job.split} again={job.state !== "missing"} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** Captures a split in the background and tells how far it is. */
function CaptureButton({ project, split, again }: { project: string; split: string; again: boolean }) {
  const [jobId, setJobId] = useState<string | null>(null);
  const [told, setTold] = useState("");
  useEffect(() => {
    if (jobId === null) return;
    return onEvent((event) => {
      if (event.job_id !== jobId) return;
      setTold(event.message);
      if (isEnded(event.kind.replace(/^job_/, ""))) setJobId(null);
    });
  }, [jobId]);
  const start = async () => {
    setTold("");
    try {
      const job = await post<Job & JsonObject>("/api/dataset-capture-jobs", {
        project_path: project,
        split,
        force: again,
      });
      if (!isEnded(job.state)) setJobId(job.job_id);
    } catch (error) {
      setTold((error as Error).message);
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
            onClick={() => void post(`/api/dataset-capture-jobs/${jobId}/cancel`)}
          >
            Stop
          </button>
        )}
      {told !== "" && <span class="small muted">{told}</span>}
    </span>
  );
}
