/** Waveforms of a run: their spectra, in which distortion shows beside the band, and the distribution of their envelope. */
import { valueText } from "../metrics.ts";
import { Chart } from "../../charts/chart.tsx";
import { eyeOf, INTERVALS } from "../../charts/eye.ts";
import { PowerMap } from "../../charts/power_map.tsx";
import { envelopeFigure, spectrumFigure } from "../../charts/spectra.ts";
import { useMemo, useState } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { type Block, MOST_VALUES, readBlock } from "../fetch_array.ts";
import { Select } from "../../parts.tsx";
import { metadataNumber, nameOf, sourceOf } from "./parts.tsx";
import { view } from "./view.tsx";

export const WAVEFORMS = view({
  title: "Waveforms",
  matches({ artifacts }) {
    const waveforms = artifacts.filter(({ kind, shape }) =>
      kind === "channel.waveform.complex_numpy" && (shape?.[0] ?? 0) > 1
    );
    return waveforms.length === 0 ? [] : [waveforms];
  },
  keyOf: (waveforms) => waveforms.map(({ path }) => path).join(" "),
  what: "the waveforms",
  load: (waveforms, _, signal) =>
    Promise.all(waveforms.map((one) => readBlock(one, [], signal, { first: MOST_VALUES }))),
  figure(value, { item: waveforms, summary }) {
    const read = waveforms.map((artifact, i) => ({
      label: nameOf(artifact),
      real: value[i].real,
      imaginary: value[i].imaginary!,
      spacings: (metadataNumber(artifact, "fft_size") ?? 1) * (metadataNumber(artifact, "oversampling") ?? 1),
    }));
    const cut = value.some(({ shape }) => shape[0] > MOST_VALUES);
    const facts = {
      subtitle: cut ? `The first ${valueText(MOST_VALUES)} samples` : "",
      source: sourceOf(summary, ...waveforms),
    };
    return (
      <>
        <Chart figure={spectrumFigure(read, { ...facts, title: "Spectrum" })} />
        <Chart figure={envelopeFigure(read, { ...facts, title: "Envelope" })} />
        <EyeView waveforms={waveforms} read={value} summary={summary} />
      </>
    );
  },
});

/** Level of the darkest colour below the most crossed cell. */
const EYE_DB = 30;

/** The eye of one of the waveforms. */
function EyeView({ waveforms, read, summary }: { waveforms: Artifact[]; read: Block[]; summary: RunSummary }) {
  const [path, setPath] = useState(waveforms[0].path);
  const at = Math.max(0, waveforms.findIndex((one) => one.path === path)), artifact = waveforms[at];
  const eye = useMemo(
    () => eyeOf({ real: read[at].real, imaginary: read[at].imaginary! }, metadataNumber(artifact, "oversampling") ?? 1),
    [read, at],
  );
  return (
    <>
      {waveforms.length > 1 && (
        <Select
          label="Eye of"
          value={artifact.path}
          options={waveforms.map((one) => [one.path, nameOf(one)] as const)}
          onChoose={setPath}
        />
      )}
      <PowerMap
        title="Eye diagram"
        sentence={`In-phase part of ${
          nameOf(artifact)
        } over ${INTERVALS} sample intervals; samples are at whole times.`}
        source={sourceOf(summary, artifact)}
        cells={eye.counts}
        columns={eye.columns}
        x={{ title: "Time (sample intervals)", low: 0, high: INTERVALS }}
        y={{ title: "In phase", low: -eye.reach, high: eye.reach }}
        deepest={EYE_DB}
      />
    </>
  );
}
