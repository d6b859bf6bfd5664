/** The figure that says most about a run: that of its task, or the received symbols. */
import { Constellation } from "../charts/density.tsx";
import { Painted } from "../charts/image_compare.tsx";
import { readPixels } from "../charts/read_pixels.ts";
import { useLoaded } from "../state/fetched.ts";
import { imageAddress } from "../state/files.ts";
import { type Artifact, artifactsOf, type RunSummary } from "./documents.ts";
import { imageIdsOf, imagePair, receivedSymbols } from "./received.ts";
import { ANGLES, PATTERNS } from "./views/angle_views.tsx";
import { CHANNELS } from "./views/channel_view.tsx";
import { nameOf, sourceOf } from "./views/parts.tsx";
import { FOCI, POSITIONS } from "./views/place_views.tsx";
import { RADAR } from "./views/range_doppler_view.tsx";
import { CONFUSIONS } from "./views/report_views.tsx";
import { TEXTS, Texts } from "./views/texts_view.tsx";
import { useReports } from "./views/use_reports.ts";

/** The first of them that a run has is its figure. */
const FIGURES = [CONFUSIONS, POSITIONS, RADAR, ANGLES, FOCI, PATTERNS];

/** Images of a strip. */
const MOST_IMAGES = 4;

export default function ResultFigure({ summary }: { summary: RunSummary }) {
  const artifacts = artifactsOf(summary), reports = useReports(summary, artifacts);
  const images = imagePair(artifacts);
  if (images !== null) return <Strip {...images} />;
  // Which figure it is depends on the reports of classifiers alone.
  if (reports === null && summary.steps.some(({ op }) => /classification/.test(op))) {
    return <p class="muted" aria-busy="true">Reading the report</p>;
  }
  const sources = { artifacts, reports: reports ?? [] };
  for (const view of FIGURES) {
    const [figure] = view(sources, summary);
    if (figure !== undefined) return figure;
  }
  const texts = artifacts.filter(({ kind }) => kind === TEXTS);
  if (texts.length > 1) return <Texts texts={texts} />;
  const shown = receivedSymbols(artifacts);
  if (shown === undefined) return CHANNELS(sources, summary)[0] ?? null;
  return (
    <Constellation
      path={shown.path}
      array={shown.array}
      title={`Symbols of ${nameOf(shown)}`}
      source={sourceOf(summary, shown)}
    />
  );
}

/** The place of images of a shape, so that nothing moves when they come. */
function Waiting({ shape, count }: { shape: unknown; count: number }) {
  if (!Array.isArray(shape) || shape.length !== 4) return <p class="muted" aria-busy="true">Reading the images</p>;
  const [, height, width] = shape.map(Number);
  const blank = (label: string) => (
    <div class="painted">
      <canvas width={width} height={height} aria-hidden="true" />
      <span class="small muted">{label}</span>
    </div>
  );
  return (
    <div class="strip" aria-busy="true">
      {Array.from({ length: count }, (_, at) => <div key={at}>{blank("Reading")}{blank("the images")}</div>)}
    </div>
  );
}

/** The first images of a run, sent above received. */
function Strip({ sent, received }: { sent: Artifact; received: Artifact }) {
  const ids = imageIdsOf(sent).slice(0, MOST_IMAGES);
  const { value } = useLoaded(
    (signal) =>
      Promise.all(
        ids.map((_, at) => Promise.all([sent, received].map(({ path }) => readPixels(imageAddress(path, at), signal)))),
      ),
    `${sent.path} ${received.path}`,
  );
  if (value === null) return <Waiting shape={sent.metadata.shape} count={ids.length} />;
  return (
    <div class="strip">
      {value.map(([a, b], at) => (
        <div key={at}>
          <Painted image={a} label={`${ids[at]}, sent`} />
          <Painted image={b} label={`${ids[at]}, received`} />
        </div>
      ))}
    </div>
  );
}
