/** The first page: three starting points, each one press from a figure, and a tour of five steps. */
import type { JsonObject } from "../../lib/contract/value.ts";
import type { CurveFigure } from "../../lib/figure/types.ts";
import { ask, get, problemText } from "../api.ts";
import { MiniCurve } from "../charts/mini_curve.tsx";
import { STARTING_POINTS, type StartingPoint, startingRecipe } from "../form/starting_points.ts";
import { Film, pictureAt } from "../gallery/film.tsx";
import { Proof } from "../gallery/proof.tsx";
import { Page, Section, Trouble } from "../parts.tsx";
import { useEffect, useState, whenReachable } from "../preact.ts";
import { address, go } from "../router.ts";
import { copies, nameOf, openCopy, restore } from "../state/copies.ts";
import { LastWork } from "../runs/last_work.tsx";
import { loadMetrics } from "../runs/metrics.ts";
import { startRun } from "../state/runs.ts";
import { tour } from "../state/settings.ts";
import type { TourPart } from "./tour.ts";
import results from "./start_results.json" with { type: "json" };

/** What the cards show, of runs that were made with the program. */
const RESULTS = results as unknown as { [id: string]: { figure: CurveFigure } };

async function recipeOf(point: StartingPoint): Promise<JsonObject> {
  const { recipe } = "template" in point.from
    ? await ask("/api/recipe-templates/instantiate", { template_id: point.from.template })
    : await get("/api/recipe", { query: { path: point.from.recipe } });
  return startingRecipe(point, recipe);
}

const TOUR: readonly (readonly [title: string, text: string, view: string])[] = [
  ["Start", "Open one of the starting points above, or a template for one of 20 tasks.", "templates"],
  ["Change", "Select a block in the graph; its parameters are on the right. Every change can be undone.", "editor"],
  ["Run", "Ctrl+Enter runs the recipe. The result is below the graph, with intervals.", "editor"],
  ["Sweep", "Press Sweep at a parameter: its values become points of a curve under Matrix.", "editor"],
  ["Compare", "Choose two runs in the list and press Compare: only their differences are shown.", "runs"],
];

export default function Start() {
  const [busy, setBusy] = useState<string | null>(null), [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    restore().catch(() => {});
    loadMetrics().catch(() => {});
  }, []);
  const start = async (point: StartingPoint) => {
    setBusy(point.title);
    setProblem(null);
    try {
      const copy = openCopy(await recipeOf(point));
      await startRun(copy);
      go("editor");
    } catch (error) {
      setProblem(problemText(error));
    } finally {
      setBusy(null);
    }
  };
  const open = copies.value;
  return (
    <Page
      title="Start"
      actions={open.length > 0 && <a class="button" href={address("editor")}>Continue with {nameOf(open.at(-1)!)}</a>}
    >
      <p class="lead">
        Build a communication link from blocks, run it, and get curves with confidence intervals and a record that
        others can verify.
      </p>
      <Trouble text={problem} />
      <div class="cards">
        {STARTING_POINTS.map((point) => (
          <article key={point.title} class="panel card" aria-label={point.title}>
            <h2>{point.title}</h2>
            <p>{point.text}</p>
            <ol class="chain" aria-label={`Parts of ${point.title}`}>
              {point.chain.map((part) => <li key={part}>{part}</li>)}
            </ol>
            <CardResult point={point} />
            <button type="button" class="primary" disabled={busy !== null} onClick={() => start(point)}>
              {busy === point.title ? "Starting" : "Open and run"}
            </button>
          </article>
        ))}
      </div>
      <p class="row">
        <button
          type="button"
          onClick={async () => {
            openCopy((await import("../../lib/contract/graph_edits.ts")).emptyLink());
            go("editor");
          }}
        >
          Empty link
        </button>
        <span class="muted">Source, channel and metric, to build a link of your own from</span>
      </p>
      <LastWork>
        <p class="row">
          <a href={address("templates")}>All recipes of the gallery</a>
          <a href={address("benchmarks")}>Benchmarks with their results</a>
          <a href={address("catalog")}>Operations and metrics</a>
        </p>
        <Proof />
        <Section
          title="Tour in five steps"
          look="panel"
          actions={
            <button type="button" onClick={() => tour.value = tour.value === "on" ? "off" : "on"}>
              {tour.value === "on" ? "Skip the tour" : "Show the tour"}
            </button>
          }
        >
          {tour.value === "on" && (
            <ol class="tour">
              {TOUR.map(([title, text, view]) => (
                <li key={title}>
                  <a
                    href={address(view)}
                    onClick={async (event) => {
                      if (view !== "editor") return;
                      event.preventDefault();
                      (await whenReachable(() => import("./tour.ts"))).pointAt(title as TourPart);
                    }}
                  >
                    {title}
                  </a>{" "}
                  {text}
                </li>
              ))}
            </ol>
          )}
        </Section>
      </LastWork>
    </Page>
  );
}

/** The curve of a starting point, and a photograph as received at each value. */
function CardResult({ point: { id, title } }: { point: StartingPoint }) {
  const { figure } = RESULTS[id], strip = PICTURES[id], { x } = figure;
  const values = [...new Set(figure.series.filter(({ kind }) => kind === "measured").flatMap(({ points }) => points))]
    .map((point) => point.x);
  return (
    <>
      <MiniCurve figure={figure} picture={`${title}: ${figure.title}, stored`} tall={strip === undefined} />
      {strip !== undefined && (
        <Film
          src={pictureAt(strip)}
          size={[480, 96]}
          alt={`A photograph as received at ${x.title} ${values.join(", ")} ${x.unit}`}
          values={values.map((value) => `${value} ${x.unit}`)}
        />
      )}
    </>
  );
}

/** Starting points of images. */
const PICTURES: { readonly [id: string]: string } = { photographs: "start_photographs", learned: "start_learned" };
