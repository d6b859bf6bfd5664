/** Waveforms of a run: their spectra, in which distortion shows beside the band, and the distribution of their envelope. */
import { Chart } from "../../charts/chart.tsx";
import { envelopeFigure, spectrumFigure } from "../../charts/spectra.ts";
import { useMemo } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { useLoaded } from "../../state/fetched.ts";
import { MOST_VALUES, readBlock } from "../fetch_array.ts";
import { Wait } from "../../parts.tsx";
import { metadataNumber, nameOf, sourceOf, ViewPanel } from "./parts.tsx";

export const isWaveform = ({ kind, shape }: Artifact): boolean =>
  kind === "channel.waveform.complex_numpy" && (shape?.[0] ?? 0) > 1;

export function WaveformView({ waveforms, summary }: { waveforms: Artifact[]; summary: RunSummary }) {
  const { value, ...wait } = useLoaded(
    (signal) => Promise.all(waveforms.map((one) => readBlock(one, [], signal, { first: MOST_VALUES }))),
    waveforms.map(({ path }) => path).join(" "),
  );
  const figures = useMemo(() => {
    if (value === null) return null;
    const read = waveforms.map((artifact, i) => ({
      label: nameOf(artifact),
      real: value[i].real,
      imaginary: value[i].imaginary!,
      spacings: (metadataNumber(artifact, "fft_size") ?? 1) * (metadataNumber(artifact, "oversampling") ?? 1),
    }));
    const cut = value.some(({ shape }) => shape[0] > MOST_VALUES);
    const facts = {
      subtitle: cut ? `The first ${MOST_VALUES.toLocaleString("en")} samples` : "",
      source: sourceOf(summary, ...waveforms),
    };
    return [
      spectrumFigure(read, { ...facts, title: "Spectrum" }),
      envelopeFigure(read, { ...facts, title: "Envelope" }),
    ];
  }, [value]);
  return (
    <ViewPanel title="Waveforms">
      {figures === null
        ? <Wait of={wait} what="the waveforms" />
        : figures.map((figure) => <Chart key={figure.type} figure={figure} />)}
    </ViewPanel>
  );
}
