/** The whole graph in small, with the part that is seen. */
import type { GraphLayout } from "../../lib/figure/graph/layout.ts";
import { contracts } from "../state/contracts.ts";

export interface Size {
  width: number;
  height: number;
}

export interface View {
  x: number;
  y: number;
  scale: number;
}

export default function Minimap({ layout, view, size }: { layout: GraphLayout; view: View; size: Size }) {
  return (
    <svg class="minimap" viewBox={`0 0 ${layout.width} ${layout.height}`} aria-hidden="true">
      {layout.blocks.map(({ id, op, plane, x, y, width, height }) => (
        <rect
          key={id}
          class={`plane-${contracts.value.get(op)?.own ? "own" : plane}`}
          x={x}
          y={y}
          width={width}
          height={height}
        />
      ))}
      <rect
        class="seen"
        x={-view.x / view.scale}
        y={-view.y / view.scale}
        width={size.width / view.scale}
        height={size.height / view.scale}
      />
    </svg>
  );
}
