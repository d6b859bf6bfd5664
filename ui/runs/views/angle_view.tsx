/** Angle spectra of an array, with the true and the estimated directions of arrival. */
import { angleFigure, angleSpectra, directionGuides } from "../../charts/beam.ts";
import { Chart } from "../../charts/chart.tsx";
import { useMemo, useState } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { useLoaded } from "../../state/fetched.ts";
import { readBlock } from "../fetch_array.ts";
import { Wait } from "../../parts.tsx";
import { IndexChoice, metadataNumber, sourceOf, ViewPanel } from "./parts.tsx";

/** Snapshots [example, antenna, snapshot] with their directions of arrival. */
export interface Hearing {
  observation: Artifact & { shape: number[] };
  spacing: number;
  truth: Artifact | null;
  estimate: Artifact | null;
}

export function hearingOf(artifacts: readonly Artifact[]): Hearing | null {
  const observation = artifacts.find(({ kind, shape }) =>
    /^ai_phy\.aoa_(observation|problem)\./.test(kind) && shape?.length === 3
  );
  if (observation === undefined) return null;
  const spacing = metadataNumber(observation, "element_spacing_wavelengths");
  if (spacing === null) return null;
  const find = (kind: string) =>
    artifacts.find((other) => other.kind === kind && other.shape?.[0] === observation.shape![0]) ?? null;
  return {
    observation: { ...observation, shape: observation.shape! },
    spacing,
    truth: find("ai_phy.aoa_truth.numpy"),
    estimate: find("ai_phy.aoa_estimate.numpy"),
  };
}

export function AngleView({ hearing, summary }: { hearing: Hearing; summary: RunSummary }) {
  const { observation, spacing, truth, estimate } = hearing, [examples, antennas, snapshots] = observation.shape;
  const [index, setIndex] = useState(0);
  const { value, ...wait } = useLoaded(async (signal) => {
    const angles = async (artifact: Artifact | null) =>
      artifact === null ? [] : Array.from((await readBlock(artifact, [index], signal)).real);
    return await Promise.all([readBlock(observation, [index], signal), angles(truth), angles(estimate)]);
  }, `${observation.path} ${index}`);
  const figure = useMemo(() => {
    if (value === null) return null;
    const [{ real, imaginary }, isAt, foundAt] = value,
      sources = Math.max(1, isAt.length || foundAt.length),
      x = new Float64Array(2 * real.length);
    real.forEach((one, i) => x.set([one, imaginary![i]], 2 * i));
    const { bartlett, music } = angleSpectra(x, antennas, snapshots, spacing, sources);
    return angleFigure(
      "angle-spectrum",
      [{ label: "Bartlett", powers: bartlett }, ...(music === null ? [] : [{ label: "MUSIC", powers: music }])],
      directionGuides(isAt, foundAt),
      {
        title: "Angle spectrum",
        subtitle: `Example ${index} · ${antennas} antennas, ${spacing} wavelengths apart · ${snapshots} snapshots`,
        source: sourceOf(summary, observation),
      },
    );
  }, [value]);
  return (
    <ViewPanel
      title="Directions"
      controls={<IndexChoice label="Example" count={examples} value={index} onChoose={setIndex} />}
    >
      {figure === null ? <Wait of={wait} what="the snapshots" /> : <Chart figure={figure} />}
    </ViewPanel>
  );
}
