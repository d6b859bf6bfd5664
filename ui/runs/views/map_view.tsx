/** Where things are, and where they were found: a map in metres. */
import { Chart } from "../../charts/chart.tsx";
import { equalDomains } from "../../charts/maps.ts";
import type { CurveFigure, FigurePoint } from "../../../lib/figure/types.ts";
import { useMemo } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { useLoaded } from "../../state/fetched.ts";
import { readBlock } from "../fetch_array.ts";
import { Wait } from "../../parts.tsx";
import { sourceOf, ViewPanel } from "./parts.tsx";

export interface Places {
  truth: Artifact;
  estimate: Artifact;
  /** Ranges, whose companion array has the anchors. */
  problem: Artifact | null;
}

export function placesOf(artifacts: readonly Artifact[]): Places | null {
  const find = (kind: string) => artifacts.find((one) => one.kind === `ai_phy.localization_${kind}.numpy`) ?? null;
  const truth = find("truth") ?? find("scene"), estimate = find("estimate");
  return truth === null || estimate === null
    ? null
    : { truth, estimate, problem: find("problem") ?? find("observation") };
}

export function MapView(
  { places: { truth, estimate, problem: ranges }, summary }: { places: Places; summary: RunSummary },
) {
  const { value, ...wait } = useLoaded((signal) =>
    Promise.all([
      readBlock(truth, [], signal),
      readBlock(estimate, [], signal),
      ...(ranges === null ? [] : [readBlock({ ...ranges, array: "anchors" }, [0], signal)]),
    ]), estimate.path);
  const figure = useMemo((): CurveFigure | null => {
    if (value === null) return null;
    const points = ({ real }: { real: Float64Array }): FigurePoint[] =>
      Array.from(
        { length: real.length / 2 },
        (_, i) => ({ x: real[2 * i], y: real[2 * i + 1], low: null, high: null }),
      );
    const [isAt, foundAt, anchors] = value.map(points);
    const [x, y] = equalDomains(value.map(points));
    const axis = (title: string, domain: [number, number]) => ({ title, unit: "m", scale: "linear" as const, domain });
    return {
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
  }, [value]);
  return (
    <ViewPanel title="Map">
      {figure === null ? <Wait of={wait} what="the positions" /> : <Chart figure={figure} />}
    </ViewPanel>
  );
}
