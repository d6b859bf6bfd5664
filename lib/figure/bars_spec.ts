/** One horizontal bar per method, with its interval and its value. */
import { axisTitle } from "./axis.ts";
import { numberText } from "./number_text.ts";
import { type FigureStyle, seriesLooks } from "./style.ts";
import { textWidth } from "./text_width.ts";
import type { BarFigure, FigureSpec } from "./types.ts";

export function barsViews({ bars, value }: BarFigure, style: FigureStyle): FigureSpec[] {
  const looks = seriesLooks(bars.map(({ kind }) => kind), style);
  const size = style.font_size;
  const texts = bars.map((bar) => numberText(bar.value, "unicode", 3));
  const high = Math.max(...bars.map((bar) => Math.max(bar.value, bar.high ?? 0)), 0) || 1;
  // Space for the number after the longest bar.
  const room = Math.max(...texts.map((text) => textWidth(text, size))) + size;
  const data = bars.map((bar, i) => ({ ...bar, text: texts[i], end: Math.max(bar.value, bar.high ?? 0) }));
  const y = {
    field: "label",
    type: "nominal",
    sort: null,
    title: null,
    axis: { ticks: false, domain: false, labelLimit: 0 },
  };
  const x = {
    field: "value",
    type: "quantitative",
    title: axisTitle(value),
    scale: { domain: [0, high * style.width / (style.width - room)], nice: false },
    axis: { tickCount: 5 },
  };
  const color = {
    field: "label",
    type: "nominal",
    scale: { domain: bars.map(({ label }) => label), range: looks.map(({ color }) => color) },
    legend: null,
  };
  const thin = style.line_width * 0.55;
  const along = (field: string) => ({ field, type: "quantitative", scale: x.scale, title: x.title });
  return [{
    width: style.width,
    height: { step: size * 2.2 },
    data: { values: data },
    layer: [
      { mark: { type: "bar", height: { band: 0.62 }, opacity: 0.85 }, encoding: { x, y, color } },
      {
        transform: [{ filter: "datum.low !== null && datum.high !== null" }],
        mark: { type: "rule", strokeWidth: thin * 1.6, color: style.ink },
        encoding: { x: along("low"), x2: { field: "high" }, y },
      },
      {
        mark: { type: "text", align: "left", dx: size * 0.4, fontSize: size, color: style.ink },
        encoding: { x: along("end"), y, text: { field: "text", type: "nominal" } },
      },
    ],
  }];
}
