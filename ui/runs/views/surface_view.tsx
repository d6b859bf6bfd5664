/** The directions into which a reconfigurable surface reflects. */
import { angleFigure, beamPattern, reflectedWeights } from "../../charts/beam.ts";
import { AngleChart } from "../../charts/angle_chart.tsx";
import type { FigureGuide } from "../../../lib/figure/types.ts";
import { numberText } from "../../../lib/figure/number_text.ts";
import { useMemo, useState } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { useLoaded } from "../../state/fetched.ts";
import { type Block, readBlock } from "../fetch_array.ts";
import { Wait } from "../../parts.tsx";
import { IndexChoice, metadataNumber, sourceOf, ViewPanel } from "./parts.tsx";

const HALF_WAVELENGTH = 0.5;

/** Phases [example, element] with the channels that they are for. */
export interface Surface {
  phases: Artifact & { shape: number[] };
  channel: Artifact;
}

export function surfaceOf(artifacts: readonly Artifact[]): Surface | null {
  const phases = artifacts.find(({ kind, shape }) => kind === "ris.phases.numpy" && shape?.length === 2);
  const channel = artifacts.find(({ kind, shape }) =>
    kind === "ris.channel.numpy" && shape?.[0] === phases?.shape?.[0]
  );
  if (phases === undefined || channel === undefined) return null;
  return { phases: { ...phases, shape: phases.shape! }, channel };
}

export function SurfaceView({ surface: { phases, channel }, summary }: { surface: Surface; summary: RunSummary }) {
  const [examples, elements] = phases.shape, [index, setIndex] = useState(0);
  const row = Math.min(index, examples - 1);
  const { value, ...wait } = useLoaded(
    (signal) => Promise.all([readBlock(phases, [row], signal), readBlock({ ...channel, array: "g" }, [row], signal)]),
    `${phases.path} ${row}`,
  );
  const figure = useMemo(() => {
    if (value === null) return null;
    const [{ real }, incident] = value, receiver = metadataNumber(channel, "receiver_angle_deg");
    const g = firstAntenna(incident, elements);
    const guides: FigureGuide[] = receiver === null
      ? []
      : [{ axis: "x", at: receiver, label: `receiver ${numberText(receiver, "unicode")}°` }];
    return angleFigure(
      "beam-pattern",
      [
        { label: "Reflected", powers: beamPattern(reflectedWeights(real, g), HALF_WAVELENGTH) },
        {
          label: "Equal phases",
          kind: "baseline",
          powers: beamPattern(reflectedWeights(real.map(() => 0), g), HALF_WAVELENGTH),
        },
      ],
      guides,
      {
        title: "Reflected beam",
        subtitle: `Example ${row} · ${elements} elements · ${String(phases.metadata.optimizer).replaceAll("_", " ")}`,
        source: sourceOf(summary, phases, channel),
      },
    );
  }, [value]);
  return (
    <ViewPanel
      title="Reflecting surface"
      controls={<IndexChoice label="Example" count={examples} value={row} onChoose={setIndex} />}
    >
      {figure === null ? <Wait of={wait} what="the phases" /> : <AngleChart figure={figure} />}
    </ViewPanel>
  );
}

/** The channel from the first transmit antenna, of a block [element, tx]; interleaved. */
function firstAntenna({ real, imaginary }: Block, elements: number): Float64Array {
  const antennas = real.length / elements, out = new Float64Array(2 * elements);
  for (let n = 0; n < elements; n++) {
    out[2 * n] = real[n * antennas];
    out[2 * n + 1] = imaginary![n * antennas];
  }
  return out;
}
