/** Radiation patterns over the angle from broadside, with peak and half power. */
import { angleFigure, patternGuides } from "../../charts/beam.ts";
import { AngleChart } from "../../charts/angle_chart.tsx";
import { useMemo, useState } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { useLoaded } from "../../state/fetched.ts";
import { readBlock } from "../fetch_array.ts";
import { Select, Wait } from "../../parts.tsx";
import { IndexChoice, metadataNumber, nameOf, sourceOf, ViewPanel } from "./parts.tsx";

/** Power gains [example, angle]. */
export type Pattern = Artifact & { shape: number[] };

export function patternsOf(artifacts: readonly Artifact[]): Pattern[] {
  return artifacts.flatMap((artifact) => {
    const { kind, shape } = artifact;
    return kind === "ai_phy.beampattern.numpy" && shape?.length === 2 ? [{ ...artifact, shape }] : [];
  });
}

export function PatternView({ patterns, summary }: { patterns: Pattern[]; summary: RunSummary }) {
  const [path, setPath] = useState(patterns[0].path), [index, setIndex] = useState(0);
  const pattern = patterns.find((one) => one.path === path) ?? patterns[0];
  const row = Math.min(index, pattern.shape[0] - 1);
  const { value, ...wait } = useLoaded(
    (signal) =>
      Promise.all([readBlock(pattern, [row], signal), readBlock({ ...pattern, array: "angles_deg" }, [], signal)]),
    `${pattern.path} ${row}`,
  );
  const figure = useMemo(() => {
    if (value === null) return null;
    const [{ real: powers }, { real: angles }] = value, antennas = metadataNumber(pattern, "tx_antennas");
    return angleFigure(
      "beam-pattern",
      [{ label: "Pattern", powers, angles }],
      patternGuides(powers, angles),
      {
        title: "Radiation pattern",
        subtitle: `Example ${row}${antennas === null ? "" : ` · ${antennas} antennas in a line`}`,
        source: sourceOf(summary, pattern),
      },
    );
  }, [value]);
  return (
    <ViewPanel
      title="Radiation pattern"
      controls={
        <>
          {patterns.length > 1 && (
            <Select
              label="Pattern"
              value={pattern.path}
              options={patterns.map((one) => [one.path, nameOf(one)] as const)}
              onChoose={setPath}
            />
          )}
          <IndexChoice label="Example" count={pattern.shape[0]} value={row} onChoose={setIndex} />
        </>
      }
    >
      {figure === null ? <Wait of={wait} what="the pattern" /> : <AngleChart figure={figure} />}
    </ViewPanel>
  );
}
