/** Sent and received data: images, texts, constellations, soft values, spectra. */
import { Constellation } from "../charts/density.tsx";
import { ImageCompare } from "../charts/image_compare.tsx";
import { SeriesChart } from "../charts/series.tsx";
import { isObject } from "../../lib/contract/value.ts";
import { type JSX, useMemo, useState } from "../preact.ts";
import { type Artifact, artifactsOf, type RunDocuments, type RunSummary } from "./documents.ts";
import { Section, Select } from "../parts.tsx";
import { allocationsOf } from "./views/allocations.ts";
import { AngleView, hearingOf } from "./views/angle_view.tsx";
import { ArrayView } from "./views/array_view.tsx";
import { AnswerView, isAnswers, RankingView } from "./views/answer_views.tsx";
import { beamsOf, BeamView } from "./views/beam_view.tsx";
import { BudgetView } from "./views/budget_view.tsx";
import { ChannelView } from "./views/channel_view.tsx";
import { channelsOf } from "./views/channels.ts";
import { fociOf, FocusView } from "./views/focus_view.tsx";
import { importanceOf, ImportanceView } from "./views/importance_view.tsx";
import { MapView, placesOf } from "./views/map_view.tsx";
import { nameOf, optionOf, sourceOf, ViewPanel } from "./views/parts.tsx";
import { scenesOf, SceneView } from "./views/scene_view.tsx";
import { isFaithfulness, StateView } from "./views/state_view.tsx";
import { patternsOf, PatternView } from "./views/pattern_view.tsx";
import { PowerView } from "./views/power_view.tsx";
import { isWaveform, WaveformView } from "./views/waveform_view.tsx";
import { radarOf, RangeDopplerView } from "./views/range_doppler_view.tsx";
import {
  ConfusionView,
  DeliveryView,
  ErrorView,
  hasConfusion,
  hasDeliveries,
  hasErrors,
} from "./views/report_views.tsx";
import { Texts } from "./views/texts_view.tsx";
import { useReports } from "./views/use_reports.ts";
import { resourceGridOf, ResourceGridView } from "./views/resource_grid_view.tsx";
import { hasUserRates, ScheduleView, UserRatesView } from "./views/users_view.tsx";
import { surfaceOf, SurfaceView } from "./views/surface_view.tsx";

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
export default function Signals({ documents: { summary } }: { documents: RunDocuments }) {
  const artifacts = useMemo(() => artifactsOf(summary), [summary]);
  const reports = useReports(summary, artifacts) ?? [];
  const of = (test: (artifact: Artifact) => boolean) => artifacts.filter(test);
  const images = of(({ kind }) => kind === "image.batch.numpy");
  const texts = of(({ kind }) => kind === "text.batch.json");
  const symbols = of(({ dtype, kind }) => (dtype?.startsWith("complex") ?? false) && POINTS.test(kind));
  const waveforms = of(isWaveform);
  const soft = of(({ kind }) => kind === "channel.llr.numpy");
  const channels = channelsOf(artifacts), allocations = allocationsOf(artifacts, channels);
  const beams = beamsOf(artifacts), hearing = hearingOf(artifacts), places = placesOf(artifacts);
  const others = of(({ dtype, kind }) => dtype !== null && dtype.startsWith("float") && !VIEWED.has(kind));
  const importance = importanceOf(artifacts);
  const radar = radarOf(artifacts), resources = resourceGridOf(artifacts), delivering = reports.filter(hasDeliveries);
  const patterns = patternsOf(artifacts), surface = surfaceOf(artifacts), foci = fociOf(artifacts);
  const budgets = of(({ kind }) => kind === "ntn.link_budget.numpy");
  const schedules = of(({ kind }) => kind === "ai_phy.schedule.numpy"), rated = reports.filter(hasUserRates);
  const scenes = scenesOf(artifacts), rankings = artifacts.find(({ kind }) => kind === "retrieval.rankings.json");
  const faithful = reports.filter(isFaithfulness), answers = reports.find(isAnswers);
  const confusion = reports.find(hasConfusion), erring = reports.filter(hasErrors);
  if (
    images.length + texts.length + symbols.length + waveforms.length + soft.length + others.length + channels.length +
          beams.length + patterns.length + budgets.length + schedules.length + rated.length === 0 &&
    importance === null && hearing === null && places === null && radar === null && resources === null &&
    foci === null &&
    delivering.length === 0 && confusion === undefined && faithful.length === 0 &&
    answers === undefined && rankings === undefined
  ) {
    return <p class="empty">This run has no signals to show. Its files are under Artifacts.</p>;
  }
  return (
    <div class="stack">
      {scenes !== null && <SceneView {...scenes} />}
      {importance !== null && <ImportanceView importance={importance} />}
      {images.length > 1 && <Images images={images} />}
      {faithful.length > 0 && <StateView reports={faithful} summary={summary} />}
      {answers !== undefined && (
        <AnswerView
          report={answers}
          questions={artifacts.find(({ kind }) => kind === "vqa.questions.json")}
        />
      )}
      {rankings !== undefined && <RankingView rankings={rankings} texts={texts.at(-1)} />}
      {texts.length > 0 && <Texts texts={texts} />}
      {confusion !== undefined && <ConfusionView report={confusion} summary={summary} />}
      {hearing !== null && <AngleView hearing={hearing} summary={summary} />}
      {radar !== null && <RangeDopplerView radar={radar} summary={summary} />}
      {resources !== null && <ResourceGridView grid={resources} summary={summary} />}
      {delivering.length > 0 && <DeliveryView reports={delivering} summary={summary} />}
      {places !== null && <MapView places={places} summary={summary} />}
      {erring.length > 0 && <ErrorView reports={erring} summary={summary} />}
      {beams.length > 0 && <BeamView beams={beams} summary={summary} />}
      {patterns.length > 0 && <PatternView patterns={patterns} summary={summary} />}
      {foci !== null && <FocusView foci={foci} summary={summary} />}
      {surface !== null && <SurfaceView surface={surface} summary={summary} />}
      {rated.length > 0 && <UserRatesView reports={rated} summary={summary} />}
      {schedules.map((schedule) => <ScheduleView key={schedule.path} schedule={schedule} summary={summary} />)}
      {budgets.map((budget) => <BudgetView key={budget.path} budget={budget} summary={summary} />)}
      {allocations.length > 0 && <PowerView allocations={allocations} summary={summary} />}
      {channels.length > 0 && <ChannelView channels={channels} summary={summary} />}
      {waveforms.length > 0 && <WaveformView waveforms={waveforms} summary={summary} />}
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
      {others.length > 0 && (
        <ViewPanel title="Arrays">
          <Choice
            artifacts={others}
            first={others.find(({ kind }) => /allocation|decision|spectrum|estimate/.test(kind))}
          >
            {(artifact) => (
              <ArrayView key={artifact.path} artifact={artifact} summary={summary} value={valueAxis(artifact)} />
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
