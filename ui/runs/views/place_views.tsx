/** Positions, true and estimated: a map in metres, and the gain of a beam that is focused at the estimate of a near source. */
import type { CurveFigure, FigurePoint } from "../../../lib/figure/types.ts";
import { Chart } from "../../charts/chart.tsx";
import { equalDomains, focusGains } from "../../charts/maps.ts";
import { PowerMap } from "../../charts/power_map.tsx";
import { readBlock } from "../fetch_array.ts";
import { valueText } from "../metrics.ts";
import { metadataNumber, type Shaped, sourceOf } from "./parts.tsx";
import { view } from "./view.tsx";

const axis = (title: string, domain: [number, number]) => ({ title, unit: "m", scale: "linear" as const, domain });

/** Positions, with the anchors, a companion array of the ranges. */
export const POSITIONS = view({
  title: "Map",
  matches({ artifacts }) {
    const find = (kind: string) => artifacts.find((one) => one.kind === `ai_phy.localization_${kind}.numpy`);
    const truth = find("truth") ?? find("scene"), estimate = find("estimate");
    const ranges = find("problem") ?? find("observation");
    return truth === undefined || estimate === undefined ? [] : [{ truth, estimate, ranges }];
  },
  keyOf: ({ estimate }) => estimate.path,
  what: "the positions",
  load: ({ truth, estimate, ranges }, _, signal) =>
    Promise.all([
      readBlock(truth, [], signal),
      readBlock(estimate, [], signal),
      ...(ranges === undefined ? [] : [readBlock({ ...ranges, array: "anchors" }, [0], signal)]),
    ]),
  figure(value, { item: { truth, estimate }, summary }) {
    const places = value.map(({ real }) =>
      Array.from(
        { length: real.length / 2 },
        (_, i): FigurePoint => ({ x: real[2 * i], y: real[2 * i + 1], low: null, high: null }),
      )
    );
    const [isAt, foundAt, anchors] = places, [x, y] = equalDomains(places);
    const figure: CurveFigure = {
      form: "curves",
      type: "map",
      title: "Positions",
      subtitle: `${isAt.length} examples; lines are the errors`,
      source: sourceOf(summary, truth, estimate),
      x: axis("x", x),
      y: axis("y", y),
      series: [
        { label: "True", kind: "measured", points: isAt },
        { label: "Estimated", kind: "measured", points: foundAt },
        ...(anchors === undefined ? [] : [{ label: "Anchors", kind: "baseline" as const, points: anchors }]),
      ],
      step: false,
      joined: false,
      equal: true,
      segments: isAt.flatMap(({ x, y }, at) => {
        const found = foundAt[at];
        return found === undefined ? [] : [{ x, y: y!, x2: found.x, y2: found.y! }];
      }),
      front: null,
    };
    return <Chart figure={figure} />;
  },
});

const CELLS = 96, DEEPEST_DB = 20;

interface Place {
  range: number;
  angle: number;
}

/** x along the array and y away from it, m, of a range in m and an angle in degrees. */
const pointOf = ({ range, angle }: Place) => ({
  x: range * Math.sin(angle * Math.PI / 180),
  y: range * Math.cos(angle * Math.PI / 180),
});

/** A snapshot [example, antenna] with the true and the estimated positions [example, 2]: range in m, angle in degrees. */
export const FOCI = view({
  title: "Near-field focus",
  matches({ artifacts }) {
    const find = (kind: string) => artifacts.find((one) => one.kind === `near_field.${kind}.numpy`);
    const problem = find("array_observation");
    const truth = find("range_angle_truth"), estimate = find("range_angle_estimate");
    if (problem?.shape?.length !== 2 || truth === undefined || estimate === undefined) return [];
    return [{ problem: problem as Shaped, truth, estimate }];
  },
  keyOf: ({ estimate }) => estimate.path,
  indices: ({ problem: { shape } }) => [["Example", shape[0]]],
  what: "the positions",
  load: ({ truth, estimate }, indices, signal) =>
    Promise.all([truth, estimate].map((one) => readBlock(one, indices, signal))),
  figure(value, { item: { problem, truth, estimate }, summary }) {
    const [isAt, foundAt] = value.map(({ real: [range, angle] }): Place => ({ range, angle }));
    const reach = 0.6 * Math.max(isAt.range, foundAt.range), wavelength = metadataNumber(problem, "wavelength_m")!;
    const antennas = problem.shape[1];
    return (
      <PowerMap
        title="Gain of the focused beam"
        sentence={`Beam of ${antennas} antennas toward the estimate (cross) of the source (circle), ` +
          `${valueText(foundAt.range)} m and ${valueText(isAt.range)} m away.`}
        source={sourceOf(summary, problem, truth, estimate)}
        cells={focusGains(foundAt, { antennas, wavelength, reach, cells: CELLS })}
        columns={CELLS}
        x={{ title: "Along the array (m)", low: -reach, high: reach }}
        y={{ title: "Away from the array (m)", low: 0, high: 2 * reach }}
        deepest={DEEPEST_DB}
        marks={[{ ...pointOf(isAt), role: "target" }, { ...pointOf(foundAt), role: "estimate" }]}
      />
    );
  },
});
