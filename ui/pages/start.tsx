/** The first page: three starting points, each one press from a figure, and a tour of five steps. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { ask, get, problemText } from "../api.ts";
import { setDimension } from "../form/matrix.ts";
import { Page, Section, Trouble } from "../parts.tsx";
import { useEffect, useState } from "../preact.ts";
import { address, go } from "../router.ts";
import { copies, nameOf, openCopy, restore } from "../state/copies.ts";
import { LastWork } from "../runs/last_work.tsx";
import { loadMetrics } from "../runs/metrics.ts";
import { startRun } from "../state/runs.ts";
import { tour } from "../state/settings.ts";

interface StartingPoint {
  title: string;
  text: string;
  /** The link as a chain of its parts. */
  chain: readonly string[];
  figure: string;
  recipe(): Promise<JsonObject>;
}

const template = async (id: string): Promise<JsonObject> =>
  (await ask("/api/recipe-templates/instantiate", { template_id: id })).recipe;

const POINTS: readonly StartingPoint[] = [
  {
    title: "Bits over AWGN",
    text: "Uncoded QPSK and 16QAM: measured bit error rates with intervals, beside the closed forms.",
    chain: ["Random bits", "QPSK, 16QAM", "AWGN", "Hard decisions"],
    figure: "Bit error rate over Es/N0, 10 points",
    async recipe() {
      const { recipe } = await get("/api/recipe", { query: { path: "recipes/qam_awgn.yaml" } });
      const fewer = setDimension(recipe, "modulation", ["qpsk", "qam16"]);
      return setDimension(fewer, "snr_db", [0, 3, 6, 9, 12]);
    },
  },
  {
    title: "Photographs over a digital link",
    text: "JPEG, a repetition code and QPSK: the image is perfect above a threshold and lost below it.",
    chain: ["Photographs", "JPEG", "Repetition, QPSK", "AWGN", "PSNR"],
    figure: "PSNR over Es/N0, 5 points, and received photographs",
    recipe: async () =>
      setDimension(
        await template("semantic_comm.image_reconstruction.protected_digital"),
        "snr_db",
        [0, 4, 6, 8, 10],
      ),
  },
  {
    title: "Learned joint coding",
    text: "A trained encoder maps pixels to symbols: quality falls gently with the noise.",
    chain: ["Photographs", "Learned encoder", "AWGN", "Learned decoder", "PSNR"],
    figure: "PSNR over Es/N0, 5 points, and received photographs",
    recipe: () => template("semantic_comm.image_reconstruction.deepjscc_awgn"),
  },
];

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
      const copy = openCopy(await point.recipe());
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
        {POINTS.map((point) => (
          <article key={point.title} class="panel card" aria-label={point.title}>
            <h2>{point.title}</h2>
            <p>{point.text}</p>
            <ol class="chain" aria-label={`Parts of ${point.title}`}>
              {point.chain.map((part) => <li key={part}>{part}</li>)}
            </ol>
            <p class="muted small">{point.figure}</p>
            <button type="button" class="primary" disabled={busy !== null} onClick={() => start(point)}>
              {busy === point.title ? "Starting" : "Open and run"}
            </button>
          </article>
        ))}
      </div>
      <LastWork>
        <p class="row">
          <a href={address("templates")}>All templates</a>
          <a href={address("benchmarks")}>Benchmarks with their results</a>
          <a href={address("catalog")}>Operations and metrics</a>
        </p>
        <Section
          title="Tour in five steps"
          look="panel"
          actions={
            <button type="button" class="quiet" onClick={() => tour.value = tour.value === "on" ? "off" : "on"}>
              {tour.value === "on" ? "Skip the tour" : "Show the tour"}
            </button>
          }
        >
          {tour.value === "on" && (
            <ol class="tour">
              {TOUR.map(([title, text, view]) => (
                <li key={title}>
                  <a href={address(view)}>{title}</a> {text}
                </li>
              ))}
            </ol>
          )}
        </Section>
      </LastWork>
    </Page>
  );
}
