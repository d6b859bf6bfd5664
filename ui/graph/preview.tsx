/** The link of a recipe as a small drawing, without its measurements and checkpoints. */
import type { GraphFrame } from "../../lib/figure/graph/layout.ts";
import { useMemo } from "../preact.ts";
import { contracts } from "../state/contracts.ts";
import { foldedLayout } from "./fold.ts";
import { shortLines } from "./texts.ts";

interface PreviewStep {
  id: string;
  op: string;
  name: string;
  inputs: Readonly<Record<string, unknown>>;
}

/** Four blocks in a row are as wide as a card. */
const CARD: GraphFrame = {
  block: { width: 196, height: 84 },
  gutter: 34,
  pageWidth: 940,
  pageHeight: 420,
  labels: false,
};
const TYPE = 25, LETTERS = 11, LEADING = 28;

interface Props {
  steps: readonly PreviewStep[];
  /** Steps with a thick frame. */
  marked?: ReadonlySet<string>;
}

/** A head at the end of a wire, whose segments are horizontal or vertical. */
function arrowAt(points: readonly (readonly [number, number])[]): string {
  const [[fromX, fromY], [x, y]] = points.slice(-2), dx = Math.sign(x - fromX), dy = Math.sign(y - fromY);
  return `M${x},${y}l${7 * dy - 14 * dx},${7 * dx - 14 * dy}l${-14 * dy},${-14 * dx}z`;
}

export function GraphPreview({ steps, marked }: Props) {
  const { blocks, wires, width, height } = useMemo(() => {
    const shown = steps.filter(({ op }) => !/^metrics\.|^channel\.(bit_count_match|communication_resource)/.test(op));
    const ids = new Set(shown.map(({ id }) => id));
    const edges = shown.flatMap(({ id, inputs }) =>
      Object.entries(inputs).flatMap(([port, reference]) => {
        const [from, output] = String(reference).split(".");
        return ids.has(from) ? [{ from_step: from, from_output: output, to_step: id, to_input: port }] : [];
      })
    );
    const nodes = shown.map(({ id, op, name }) => ({ id, op, name, outputs: {} }));
    return foldedLayout({ schema_version: 1, recipe: "", nodes, edges }, CARD);
  }, [steps]);
  return (
    <svg class="graph-preview" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {wires.map(({ points }, at) => (
        <g key={at}>
          <polyline class="wire" points={points.map(([x, y]) => `${x},${y}`).join(" ")} />
          <path class="arrow" d={arrowAt(points)} />
        </g>
      ))}
      {blocks.map(({ id, name, op, plane, ...box }) => {
        const lines = shortLines(name, LETTERS, 2);
        return (
          <g key={id} transform={`translate(${box.x} ${box.y})`}>
            <rect class={marked?.has(id) ? "body marked" : "body"} width={box.width} height={box.height} rx="4" />
            <rect
              class={`plane-${contracts.value.get(op)?.own ? "own" : plane}`}
              width="12"
              height={box.height}
              rx="2"
            />
            {lines.map((line, at) => (
              <text
                key={at}
                x="22"
                y={box.height / 2 + TYPE / 3 + (at - (lines.length - 1) / 2) * LEADING}
                font-size={TYPE}
              >
                {line}
              </text>
            ))}
          </g>
        );
      })}
    </svg>
  );
}
