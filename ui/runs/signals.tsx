/** Sent and received data: images, texts, constellations, soft values, spectra. */
import { Constellation } from "../charts/density.tsx";
import { ImageCompare } from "../charts/image_compare.tsx";
import { SeriesChart } from "../charts/series.tsx";
import { isObject } from "../../lib/contract/value.ts";
import { type JSX, useMemo, useState } from "../preact.ts";
import { type Artifact, artifactsOf, type RunDocuments, type RunSummary } from "./documents.ts";
import { Section, Select } from "../parts.tsx";
import { ANGLES, BEAMS, PATTERNS, SURFACES } from "./views/angle_views.tsx";
import { ArrayView } from "./views/array_view.tsx";
import { AnswerView, isAnswers, RankingView } from "./views/answer_views.tsx";
import { CHANNELS } from "./views/channel_view.tsx";
import { IMPORTANCE } from "./views/importance_view.tsx";
import { nameOf, optionOf, sourceOf, ViewPanel } from "./views/parts.tsx";
import { FOCI, POSITIONS } from "./views/place_views.tsx";
import { RADAR } from "./views/range_doppler_view.tsx";
import { CONFUSIONS, DELIVERIES, ERRORS, USER_RATES } from "./views/report_views.tsx";
import { resourceGridOf, ResourceGridView } from "./views/resource_grid_view.tsx";
import { BUDGETS, POWERS, SCHEDULES } from "./views/resource_views.tsx";
import { scenesOf, SceneView } from "./views/scene_view.tsx";
import { isFaithfulness, StateView } from "./views/state_view.tsx";
import { TEXTS, Texts } from "./views/texts_view.tsx";
import { useReports } from "./views/use_reports.ts";
import { customView, type View } from "./views/view.tsx";
import { WAVEFORMS } from "./views/waveform_view.tsx";

/** Complex arrays that are points of a plane rather than channels, weights or spectra. */
const POINTS = /symbols|frames|noise|iq_/;
/** Real arrays with a view that shows all of them. */
const VIEWED = new Set([
  "channel.llr.numpy",
  "image.batch.numpy",
  "ai_phy.beampattern.numpy",
  "ntn.link_budget.numpy",
  "isac.range_doppler_map.numpy",
  "semantic.importance_map.numpy",
]);

const some = <T,>(items: T[], least = 1): T[] | null => items.length >= least ? items : null;
const ofKind = (artifacts: readonly Artifact[], wanted: string) => artifacts.filter(({ kind }) => kind === wanted);

/** The views in the order of the page. */
const VIEWS: readonly View[] = [
  customView(({ artifacts }) => scenesOf(artifacts), (scenes) => <SceneView {...scenes} />),
  IMPORTANCE,
  customView(
    ({ artifacts }) => some(ofKind(artifacts, "image.batch.numpy"), 2),
    (images) => <Images images={images} />,
  ),
  customView(
    ({ reports }) => some(reports.filter(isFaithfulness)),
    (reports, summary) => <StateView reports={reports} summary={summary} />,
  ),
  customView(({ artifacts, reports }) => {
    const report = reports.find(isAnswers);
    return report && { report, questions: artifacts.find(({ kind }) => kind === "vqa.questions.json") };
  }, (answers) => <AnswerView {...answers} />),
  customView(({ artifacts }) => {
    const rankings = artifacts.find(({ kind }) => kind === "retrieval.rankings.json");
    return rankings && { rankings, texts: ofKind(artifacts, TEXTS).at(-1) };
  }, (found) => <RankingView {...found} />),
  customView(({ artifacts }) => some(ofKind(artifacts, TEXTS)), (texts) => <Texts texts={texts} />),
  CONFUSIONS,
  ANGLES,
  RADAR,
  customView(
    ({ artifacts }) => resourceGridOf(artifacts),
    (grid, summary) => <ResourceGridView grid={grid} summary={summary} />,
  ),
  DELIVERIES,
  POSITIONS,
  ERRORS,
  BEAMS,
  PATTERNS,
  FOCI,
  SURFACES,
  USER_RATES,
  SCHEDULES,
  BUDGETS,
  POWERS,
  CHANNELS,
  WAVEFORMS,
  customView(({ artifacts }) => {
    const symbols = artifacts.filter(({ dtype, kind }) => dtype?.startsWith("complex") && POINTS.test(kind));
    const soft = ofKind(artifacts, "channel.llr.numpy");
    return symbols.length + soft.length === 0 ? null : { symbols, soft };
  }, (streams, summary) => <Streams {...streams} summary={summary} />),
  customView(
    ({ artifacts }) => some(artifacts.filter(({ dtype, kind }) => dtype?.startsWith("float") && !VIEWED.has(kind))),
    (arrays, summary) => (
      <ViewPanel title="Arrays">
        <Choice
          artifacts={arrays}
          first={arrays.find(({ kind }) => /allocation|decision|spectrum|estimate/.test(kind))}
        >
          {(artifact) => (
            <ArrayView key={artifact.path} artifact={artifact} summary={summary} value={valueAxis(artifact)} />
          )}
        </Choice>
      </ViewPanel>
    ),
  ),
];

export default function Signals({ documents: { summary } }: { documents: RunDocuments }) {
  const artifacts = useMemo(() => artifactsOf(summary), [summary]);
  const reports = useReports(summary, artifacts) ?? [];
  const shown = VIEWS.map((view) => view({ artifacts, reports }, summary));
  return shown.some(({ length }) => length > 0)
    ? <div class="stack">{shown}</div>
    : <p class="empty">This run has no signals to show. Its files are under Artifacts.</p>;
}

/** Symbols beside soft values. */
function Streams({ symbols, soft, summary }: { symbols: Artifact[]; soft: Artifact[]; summary: RunSummary }) {
  return (
    <div class="beside">
      {symbols.length > 0 && (
        <ViewPanel title="Symbols">
          <Choice artifacts={symbols} first={symbols.find(({ kind }) => kind.includes("rx_symbols"))}>
            {(artifact) => <Layers artifact={artifact} summary={summary} />}
          </Choice>
        </ViewPanel>
      )}
      {soft.length > 0 && (
        <ViewPanel title="Soft values">
          <Choice artifacts={soft}>
            {(artifact) => (
              <SeriesChart
                path={artifact.path}
                array={artifact.array}
                kind="histogram"
                title={`Log-likelihood ratios of ${artifact.step}`}
                value={{ title: "Log-likelihood ratio", unit: "" }}
                source={sourceOf(summary, artifact)}
              />
            )}
          </Choice>
        </ViewPanel>
      )}
    </div>
  );
}

/** Layers of a stream of symbols whose layers take turns. */
function layersOf({ kind, metadata, shape }: Artifact): number {
  const stream = shape?.length === 1 && /^channel\.(rx_)?symbols\./.test(kind), grid = metadata.ofdm_grid;
  const layers = Number(metadata.layers ?? (isObject(grid) ? grid.port_count : null) ?? 1);
  return stream && layers > 1 && shape[0] % layers === 0 ? layers : 1;
}

/** A constellation of each layer. */
function Layers({ artifact, summary }: { artifact: Artifact; summary: RunSummary }) {
  const layers = layersOf(artifact), { path, array } = artifact;
  const pictures = Array.from({ length: layers }, (_, layer) => (
    <Constellation
      key={`${path} ${layers} ${layer}`}
      path={path}
      array={array}
      part={{ stride: layers, offset: layer }}
      title={layers === 1 ? nameOf(artifact) : `${nameOf(artifact)}, layer ${layer}`}
      source={sourceOf(summary, artifact)}
    />
  ));
  return layers === 1 ? pictures[0] : <div class="constellations">{pictures}</div>;
}

const UNITS: Readonly<Record<string, string>> = { degree: "°", m: "m" };

/** What an array holds, as its kind says, with the unit of its metadata. */
function valueAxis({ kind, metadata }: Artifact): { title: string; unit: string } {
  const words = kind.split(".").at(-2)?.replaceAll("_", " ") ?? "value";
  return { title: words[0].toUpperCase() + words.slice(1), unit: UNITS[String(metadata.unit)] ?? "" };
}

function Choice(
  { artifacts, first, children }: {
    artifacts: Artifact[];
    first?: Artifact;
    children(artifact: Artifact): JSX.Element;
  },
) {
  const [path, setPath] = useState((first ?? artifacts[0]).path);
  const chosen = artifacts.find((artifact) => artifact.path === path) ?? artifacts[0];
  return (
    <>
      {artifacts.length > 1 && (
        <Select label="Artifact" value={path} options={artifacts.map(optionOf)} onChoose={setPath} />
      )}
      {children(chosen)}
    </>
  );
}

function Images({ images }: { images: Artifact[] }) {
  const [from, setFrom] = useState(images[0].path), [to, setTo] = useState(images.at(-1)!.path);
  const find = (path: string) => images.find((image) => image.path === path) ?? images[0];
  const left = find(from), right = find(to);
  const ids = Array.isArray(left.metadata.image_ids)
    ? left.metadata.image_ids.map(String)
    : Array.from({ length: left.shape?.length === 4 ? left.shape[0] : 1 }, (_, i) => `image ${i}`);
  const options = images.map(optionOf);
  return (
    <Section
      title="Images"
      look="panel"
      actions={
        <>
          <Select label="Reference" value={from} options={options} onChoose={setFrom} />
          <Select label="Against" value={to} options={options} onChoose={setTo} />
        </>
      }
    >
      <ImageCompare
        left={{ path: left.path, label: nameOf(left) }}
        right={{ path: right.path, label: nameOf(right) }}
        ids={ids}
      />
    </Section>
  );
}
