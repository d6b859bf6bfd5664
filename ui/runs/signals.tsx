/** Sent and received data: images, texts, constellations, soft values, spectra. */
import { Constellation } from "../charts/density.tsx";
import { ImageCompare } from "../charts/image_compare.tsx";
import { SeriesChart } from "../charts/series.tsx";
import { isObject } from "../../lib/contract/value.ts";
import { useMemo, useState } from "../preact.ts";
import { type Artifact, artifactsOf, type RunDocuments, type RunSummary } from "./documents.ts";
import { Section, Select } from "../parts.tsx";
import { ANGLES, BEAMS, PATTERNS, SURFACES } from "./views/angle_views.tsx";
import { ArrayView } from "./views/array_view.tsx";
import { ANSWERS, RANKINGS } from "./views/answer_views.tsx";
import { CHANNELS } from "./views/channel_view.tsx";
import { IMPORTANCE } from "./views/importance_view.tsx";
import { nameOf, optionOf, sourceOf } from "./views/parts.tsx";
import { FOCI, POSITIONS } from "./views/place_views.tsx";
import { RADAR } from "./views/range_doppler_view.tsx";
import { CONFUSIONS, DELIVERIES, ERRORS, USER_RATES } from "./views/report_views.tsx";
import { resourceGridOf, ResourceGridView } from "./views/resource_grid_view.tsx";
import { BUDGETS, POWERS, SCHEDULES } from "./views/resource_views.tsx";
import { scenesOf, SceneView } from "./views/scene_view.tsx";
import { STATES } from "./views/state_view.tsx";
import { TEXTS, Texts } from "./views/texts_view.tsx";
import { useReports } from "./views/use_reports.ts";
import { beside, customView, type View, view } from "./views/view.tsx";
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

/** One of several artifacts. */
const ONE = { keyOf: ({ path }: Artifact) => path, menu: { label: "Artifact", textOf: nameOf } };

const SYMBOLS = view({
  ...ONE,
  title: "Symbols",
  matches: ({ artifacts }) => artifacts.filter(({ dtype, kind }) => dtype?.startsWith("complex") && POINTS.test(kind)),
  first: (symbols) => symbols.find(({ kind }) => kind.includes("rx_symbols")),
  figure: (_, { item, summary }) => <Layers artifact={item} summary={summary} />,
});

const SOFT_VALUES = view({
  ...ONE,
  title: "Soft values",
  matches: ({ artifacts }) => ofKind(artifacts, "channel.llr.numpy"),
  figure: (_, { item, summary }) => (
    <SeriesChart
      path={item.path}
      array={item.array}
      kind="histogram"
      title={`Log-likelihood ratios of ${item.step}`}
      value={{ title: "Log-likelihood ratio", unit: "" }}
      source={sourceOf(summary, item)}
    />
  ),
});

const ARRAYS = view({
  ...ONE,
  title: "Arrays",
  matches: ({ artifacts }) => artifacts.filter(({ dtype, kind }) => dtype?.startsWith("float") && !VIEWED.has(kind)),
  first: (arrays) => arrays.find(({ kind }) => /allocation|decision|spectrum|estimate/.test(kind)),
  figure: (_, { item, summary }) => (
    <ArrayView key={item.path} artifact={item} summary={summary} value={valueAxis(item)} />
  ),
});

/** The views in the order of the page. */
const VIEWS: readonly View[] = [
  customView(({ artifacts }) => scenesOf(artifacts), (scenes) => <SceneView {...scenes} />),
  IMPORTANCE,
  customView(
    ({ artifacts }) => some(ofKind(artifacts, "image.batch.numpy"), 2),
    (images) => <Images images={images} />,
  ),
  STATES,
  ANSWERS,
  RANKINGS,
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
  beside(SYMBOLS, SOFT_VALUES),
  ARRAYS,
];

export default function Signals({ documents: { summary } }: { documents: RunDocuments }) {
  const artifacts = useMemo(() => artifactsOf(summary), [summary]);
  const reports = useReports(summary, artifacts) ?? [];
  const shown = VIEWS.map((view) => view({ artifacts, reports }, summary));
  return shown.some(({ length }) => length > 0)
    ? <div class="stack">{shown}</div>
    : <p class="empty">This run has no signals to show. Its files are under Artifacts.</p>;
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

/** No row of the table of views: its two images are chosen by two menus. */
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
