/** What a link received at each value of a swept parameter: an image, or the symbols. */
import { unitText } from "../../lib/figure/unit_text.ts";
import { isNumber, toNumber } from "../../lib/contract/value.ts";
import { parameterAxis } from "../compare/parameter_axis.ts";
import { valueKey } from "../compare/pivot.ts";
import { type ComparedRun, numericMetrics, varying } from "../compare/table.ts";
import { thumbnailOf } from "../graph/thumbnails.ts";
import { Section, Select } from "../parts.tsx";
import { useEffect, useState } from "../preact.ts";
import { address, place } from "../router.ts";
import type { Artifact } from "./documents.ts";
import { entryOf, headlineOf, metricsOf, shownMetric } from "./metrics.ts";
import { imageIdsOf, imagePair, receivedSymbols } from "./received.ts";

/** @param runs with the coordinates of the sweep as their parameters */
export default function Filmstrip({ runs }: { runs: readonly ComparedRun[] }) {
  const [chosen, setChosen] = useState(""), [index, setIndex] = useState(0);
  const numeric = varying(runs).filter(({ numeric }) => numeric).map(({ name }) => name);
  const x = numeric.find((name) => name === place.value.query.get("x")) ?? numeric.at(-1);
  if (x === undefined) return null;
  const others = varying(runs).map(({ name }) => name).filter((name) => name !== x);
  const groupOf = ({ parameters }: ComparedRun) =>
    others.map((name) => `${name} ${valueKey(parameters.get(name))}`).join(", ");
  const groups = [...new Set(runs.map(groupOf))], group = groups.includes(chosen) ? chosen : groups[0];
  const frames = runs.filter((run) => groupOf(run) === group && isNumber(run.parameters.get(x) ?? null))
    .map((run) => ({ run, at: toNumber(run.parameters.get(x) as number), shown: receivedOf(run) }))
    .filter((frame): frame is typeof frame & { shown: Artifact } => frame.shown !== undefined)
    .sort((a, b) => a.at - b.at);
  if (frames.length < 2) return null;
  const images = imagePair(frames[0].run.outputs), ids = images === null ? [] : imageIdsOf(images.sent);
  const { title, unit } = parameterAxis(x), [metric] = headlineOf(numericMetrics(runs), metricsOf(runs[0].task));
  return (
    <Section
      title={`Received over ${title}`}
      look="panel"
      actions={
        <>
          {groups.length > 1 && <Select<string> label="Of" value={group} options={groups} onChoose={setChosen} />}
          {ids.length > 1 && (
            <Select<string>
              label="Image"
              value={String(index)}
              options={ids.map((id, at) => [String(at), id] as const)}
              onChoose={(at) => setIndex(Number(at))}
            />
          )}
        </>
      }
    >
      <ol class="filmstrip" tabIndex={0} aria-label={`Received over ${title}`}>
        {frames.map(({ run, at, shown }) => (
          <li key={run.id}>
            <a href={address("runs", [run.id])}>
              <Frame artifact={shown} index={index} label={`Received at ${title} ${at} ${unit}`} />
              <strong>{at} {unit}</strong>
            </a>
            {metric !== undefined && (
              <span class="small" title={entryOf(metric)?.name ?? metric}>
                {shownMetric(run.metrics.get(metric), run.rates.get(metric))} {unitText(entryOf(metric)?.unit ?? "")}
              </span>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}

const receivedOf = ({ outputs }: ComparedRun) => imagePair(outputs)?.received ?? receivedSymbols(outputs);

function Frame({ artifact, index, label }: { artifact: Artifact; index: number; label: string }) {
  const [url, setUrl] = useState<string | null>(null), [missing, setMissing] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    let made: string | null = null;
    thumbnailOf(artifact, stop.signal, index).then((found) => {
      made = found;
      if (!stop.signal.aborted) return setUrl(found);
      if (found !== null) URL.revokeObjectURL(found);
    }).catch(() => stop.signal.aborted || setMissing(true));
    return () => {
      stop.abort();
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [artifact.path, index]);
  if (missing) return <span class="frame muted small">The artifact is not kept</span>;
  return url === null ? <span class="frame" aria-busy="true" /> : <img class="frame" src={url} alt={label} />;
}
