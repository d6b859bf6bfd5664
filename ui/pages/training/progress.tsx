// deno-lint-ignore-file jsx-key -- elements in tuples of facts are not lists
/** The training of a project: the commands that do it, the losses so far, and the way of its networks into a recipe. */
import { numberText } from "../../../lib/figure/number_text.ts";
import { valueText } from "../../runs/metrics.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import type { CurveFigure } from "../../../lib/figure/types.ts";
import { messageOf } from "../../api.ts";
import { Chart } from "../../charts/chart.tsx";
import { commandOf, CopyCommand, shellWord } from "../../copy_command.tsx";
import { Facts, StateMark } from "../../parts.tsx";
import { useMemo, useState } from "../../preact.ts";
import { address } from "../../router.ts";
import { announce } from "../../state/announce.ts";
import { useFetched } from "../../state/fetched.ts";
import { type Copy, edit, openCopy } from "../../state/copies.ts";
import { bound, type Packaged, packageProject, type Project } from "../../state/training.ts";

/** The recipe that the view shows, which networks are bound in, and its working copy where it is open. */
export interface Target {
  recipe: JsonObject | null;
  copy: Copy | null;
}

const PACKAGE_STATES = { missing: "planned", exported: "warning", sealed: "ready" };

export function Progress({ project, target }: { project: Project; target: Target }) {
  const { curve, checkpoint, package: made } = project;
  const figure = useMemo(() => lossFigure(project), [project]);
  const best = curve.reduce((least, row) => Math.min(least, row.validation_loss), Infinity);
  return (
    <>
      <Commands project={project} />
      <Facts
        look="spaced"
        of={[
          [
            "Epochs",
            curve.length === 0 ? "none yet" : `${curve.at(-1)!.epoch}, best validation loss ${valueText(best)}`,
          ],
          [
            "Checkpoint",
            <StateMark state={checkpoint ? "ready" : "planned"} word={checkpoint ? "present" : "missing"} />,
          ],
          ["Package", <StateMark state={PACKAGE_STATES[made.state]} word={made.state} />],
        ]}
      />
      {curve.length > 0 && <Chart figure={figure} />}
      {made.state !== "missing" && <Binding project={project} target={target} />}
    </>
  );
}

/** The command lines of the way from data to artifact, in their order; they name the store of the server. */
function Commands({ project: { path, package: made } }: { project: Project }) {
  const { value: health } = useFetched("/api/health");
  if (health === null || health === undefined) return null;
  const store = health.workspace, folder = `${store}/${path}`;
  const inside = made.path === "." ? folder : `${folder}/${made.path}`;
  const lines = [
    commandOf("--workspace", store, "dataset-capture", "run", folder),
    `python3 ${shellWord(`${folder}/train.py`)}`,
    commandOf("artifact", "package", inside, "--out", `${folder}/package.zip`),
    commandOf("--workspace", store, "artifact", "import", `${folder}/package.zip`),
  ];
  return (
    <ol class="small" aria-label="Commands">
      {lines.map((line) => (
        <li key={line} class="row">
          <code>{line}</code> <CopyCommand command={line} />
        </li>
      ))}
    </ol>
  );
}

/** Seals and imports the networks, and binds them in the recipe of the view. */
function Binding({ project: { path }, target }: { project: Project; target: Target }) {
  const [made, setMade] = useState<Packaged | null>(null);
  const [busy, setBusy] = useState(false), [problem, setProblem] = useState("");
  const recipe = made === null || target.recipe === null ? null : bound(target.recipe, made);
  const run = async () => {
    setBusy(true);
    setProblem("");
    try {
      setMade(await packageProject(path));
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  const bind = () => {
    if (target.copy === null) openCopy(recipe!);
    else edit(target.copy.id, recipe!);
    announce(`${recipe!.name} runs the trained networks`);
  };
  return (
    <div class="row" aria-busy={busy}>
      <button type="button" disabled={busy} onClick={run}>Package and import</button>
      {problem !== "" && <span class="small" role="alert">{problem}</span>}
      {made !== null && (
        <>
          <span class="small" data-artifact={made.artifact_package_sha256}>
            In the store as <code>{made.id}</code>
            {made.largest_relative_difference !== null &&
              `, equal to PyTorch within ${numberText(made.largest_relative_difference, "unicode", 2)}`}
          </span>
          {recipe === null
            ? <span class="small muted">The recipe above has no block for it</span>
            : <button type="button" onClick={bind}>Bind in {String(recipe.name)}</button>}
          <a href={address("editor")}>Editor</a>
        </>
      )}
    </div>
  );
}

function lossFigure({ id, curve }: Project): CurveFigure {
  const line = (label: string, name: "train_loss" | "validation_loss") => ({
    label,
    kind: "measured" as const,
    points: curve.map((row) => ({ x: row.epoch, y: row[name], low: null, high: null })),
  });
  const axis = (title: string) => ({ title, unit: "", scale: "linear" as const, domain: null });
  return {
    form: "curves",
    type: "series",
    title: `Losses of ${id}`,
    subtitle: "curve.csv of the trainer",
    source: { project: id },
    x: axis("Epoch"),
    y: axis("Loss"),
    series: [line("training", "train_loss"), line("validation", "validation_loss")],
    step: false,
    front: null,
  };
}
