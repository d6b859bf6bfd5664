/** Labels beside points: where points are close, no label hides another one, a marker or the frame. */
import assert from "node:assert/strict";
import { labelSize, type PlacedLabel, placedLabels } from "../../../lib/figure/point_labels.ts";
import { STYLES } from "../../../lib/figure/style.ts";
import { textWidth } from "../../../lib/figure/text_width.ts";
import type { FigurePoint, FigureSeries } from "../../../lib/figure/types.ts";

const style = STYLES.ieee, size = labelSize(style);
const axes = { x: { scale: { domain: [20, 40] } }, y: { scale: { type: "log", domain: [0.01, 1] } } };
const at = (x: number, y: number, label = "0.125"): FigurePoint => ({ x, y, low: null, high: null, label });
const series = (label: string, ...points: FigurePoint[]): FigureSeries => ({ label, kind: "measured", points });

/** The middle of a label in the units of the plot, from its upper left corner. */
const middle = ({ label_x, label_y }: PlacedLabel) => [
  (label_x - 20) / 20 * style.width,
  -Math.log10(label_y) / 2 * style.height,
];

Deno.test("a point alone has its label at its upper right, without a line", () => {
  const [label] = placedLabels([series("a", at(30, 0.1))], style, axes), [x, y] = middle(label);
  assert.equal(label.away, false);
  assert.ok(x > style.width / 2 && y < style.height / 2 && x < style.width / 2 + 40);
});

Deno.test("labels of close points are apart, away from all markers and in the frame, with lines where they are away", () => {
  const close = (x: number, y: number) => Array.from({ length: 6 }, (_, i) => at(x + 0.05 * i, y * (1 + 0.01 * i)));
  const corners = [at(20, 0.01), at(20, 1), at(40, 0.01), at(40, 1)];
  const both = [series("a", ...close(30, 0.1), ...corners), series("b", ...close(30.1, 0.101))];
  const labels = placedLabels(both, style, axes), reach = Math.sqrt(style.marker_size) / 2;
  assert.equal(labels.length, 16);
  assert.ok(labels.some(({ away }) => away) && labels.some(({ away }) => !away));
  const boxes = labels.map((label) => ({ place: middle(label), wide: textWidth(label.label, size) }));
  for (const [i, { place: [x, y], wide }] of boxes.entries()) {
    assert.ok(x - wide / 2 > -1e-6 && x + wide / 2 < style.width + 1e-6, labels[i].label);
    assert.ok(y - size / 2 > -1e-6 && y + size / 2 < style.height + 1e-6, labels[i].label);
    for (const { place: [u, v], wide: other } of boxes.slice(i + 1)) {
      assert.ok(Math.abs(x - u) > (wide + other) / 2 - 1e-6 || Math.abs(y - v) > size - 1e-6, `${x} ${y} ${u} ${v}`);
    }
    for (const { x: px, y: py } of both.flatMap(({ points }) => points)) {
      const [u, v] = middle({ label_x: px, label_y: py! } as PlacedLabel);
      assert.ok(Math.abs(x - u) > wide / 2 + reach - 1e-6 || Math.abs(y - v) > size / 2 + reach - 1e-6);
    }
  }
});

Deno.test("points outside the axes, hidden series and points without a value have no label", () => {
  const hidden = { ...series("c", at(30, 0.1)), hidden: true };
  const none = { ...at(31, 0.1), y: null };
  assert.deepEqual(placedLabels([series("a", at(50, 0.1), none), hidden], style, axes), []);
});
