/** Where a beam toward the estimate of a near source focuses: its gain over the plane in front of the array. */
import { valueText } from "../metrics.ts";
import { focusGains } from "../../charts/maps.ts";
import { PowerMap } from "../../charts/power_map.tsx";
import { Wait } from "../../parts.tsx";
import { useMemo, useState } from "../../preact.ts";
import { useLoaded } from "../../state/fetched.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { readBlock } from "../fetch_array.ts";
import { IndexChoice, metadataNumber, sourceOf, ViewPanel } from "./parts.tsx";

/** A snapshot [example, antenna] with the true and the estimated positions [example, 2]: range in m, angle in degrees. */
export interface Foci {
  problem: Artifact & { shape: number[] };
  truth: Artifact;
  estimate: Artifact;
}

const CELLS = 96, DEEPEST_DB = 20;

export function fociOf(artifacts: readonly Artifact[]): Foci | null {
  const find = (kind: string) => artifacts.find((one) => one.kind === `near_field.${kind}.numpy`);
  const problem = find("array_observation"), truth = find("range_angle_truth"), estimate = find("range_angle_estimate");
  if (problem?.shape?.length !== 2 || truth === undefined || estimate === undefined) return null;
  return { problem: { ...problem, shape: problem.shape }, truth, estimate };
}

interface Place {
  x: number;
  y: number;
}

/** x along the array and y away from it, m, of a range in m and an angle in degrees. */
const placeOf = (range: number, angle: number): Place => ({
  x: range * Math.sin(angle * Math.PI / 180),
  y: range * Math.cos(angle * Math.PI / 180),
});

export function FocusView({ foci: { problem, truth, estimate }, summary }: { foci: Foci; summary: RunSummary }) {
  const [examples, antennas] = problem.shape, [index, setIndex] = useState(0);
  const { value, ...wait } = useLoaded(
    (signal) => Promise.all([truth, estimate].map((one) => readBlock(one, [index], signal))),
    `${estimate.path} ${index}`,
  );
  const map = useMemo(() => {
    if (value === null) return null;
    const [isAt, foundAt] = value.map(({ real: [range, angle] }) => ({ range, angle }));
    const reach = 0.6 * Math.max(isAt.range, foundAt.range), wavelength = metadataNumber(problem, "wavelength_m")!;
    return { isAt, foundAt, reach, cells: focusGains(foundAt, { antennas, wavelength, reach, cells: CELLS }) };
  }, [value]);
  return (
    <ViewPanel
      title="Near-field focus"
      controls={<IndexChoice label="Example" count={examples} value={index} onChoose={setIndex} />}
    >
      {map === null ? <Wait of={wait} what="the positions" /> : (
        <PowerMap
          title="Gain of the focused beam"
          sentence={`Beam of ${antennas} antennas toward the estimate (cross) of the source (circle), ` +
            `${valueText(map.foundAt.range)} m and ${valueText(map.isAt.range)} m away.`}
          source={sourceOf(summary, problem, truth, estimate)}
          cells={map.cells}
          columns={CELLS}
          x={{ title: "Along the array (m)", low: -map.reach, high: map.reach }}
          y={{ title: "Away from the array (m)", low: 0, high: 2 * map.reach }}
          deepest={DEEPEST_DB}
          marks={[
            { ...placeOf(map.isAt.range, map.isAt.angle), role: "target" },
            { ...placeOf(map.foundAt.range, map.foundAt.angle), role: "estimate" },
          ]}
        />
      )}
    </ViewPanel>
  );
}
