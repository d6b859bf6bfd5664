/**
 * Heat maps: a cell for each pair of values of two dimensions, its colour the value. The scale is viridis, which keeps its
 * order with any colour vision and in grey print. Few cells have their number, and a bound has the sign of one.
 */
import { axisTitle, decadesOf, SIGNED } from "./axis.ts";
import { numberText, superscript } from "./number_text.ts";
import { type FigureStyle, isDark } from "./style.ts";
import { textWidth } from "./text_width.ts";
import type { FigureSpec, HeatFigure } from "./types.ts";

/** What a cell shows as its colour: its value, or the bound of a rate without events. */
export const shownValue = ({ value, bound }: HeatFigure["cells"][number]): number | null => bound ?? value;

/** Ends of the scale of colours. */
export function heatDomain({ cells, value }: HeatFigure): [number, number] {
  const values = cells.map(shownValue).filter((one) => one !== null);
  if (value.scale === "log") return decadesOf(values).map((decade) => Number(`1e${decade}`)) as [number, number];
  const low = Math.min(...values), high = Math.max(...values);
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

/** Every k-th of the names, so that they do not touch. */
function spread(names: readonly string[], step: number, needed: number): string[] {
  const every = Math.max(1, Math.ceil(needed / step));
  return names.filter((_, at) => at % every === 0);
}

/** Least size of a number in a cell, as a share of that of other texts. */
const SMALLEST = 0.7;

export function heatViews(figure: HeatFigure, style: FigureStyle): FigureSpec[] {
  const { columns, rows, cells, value } = figure, size = style.font_size, dark = isDark(style);
  const stepX = style.width / columns.length, stepY = style.height / rows.length;
  const [low, high] = heatDomain(figure), log = value.scale === "log";
  const along = (number: number) => log ? Math.log10(number) : number;
  const texts = cells.map((cell) => {
    const shown = shownValue(cell);
    return shown === null ? "" : `${cell.bound === undefined ? "" : "≤ "}${numberText(shown, "unicode", 2)}`;
  });
  const widest = Math.max(...texts.map((text) => textWidth(text, size)));
  const fit = Math.min(1, (stepX - size * 0.3) / widest, stepY / (size * 1.15)), labelled = fit >= SMALLEST;
  const data = cells.map((cell, at) => {
    const shown = shownValue(cell),
      share = shown === null ? 0 : (along(shown) - along(low)) / (along(high) - along(low));
    return {
      column: columns[cell.column],
      row: rows[cell.row],
      shown,
      text: labelled ? texts[at] : cell.bound === undefined ? "" : "≤",
      light: dark ? share < 0.55 : share > 0.45,
    };
  }).filter(({ shown }) => shown !== null);
  const axis = {
    ticks: false,
    domain: false,
    grid: false,
    labelLimit: 0,
    labelOverlap: false,
    labelAngle: 0,
    labelExpr: SIGNED,
  };
  const names = Math.max(...columns.map((name) => textWidth(name, size)));
  const place = {
    x: {
      field: "column",
      type: "ordinal",
      title: axisTitle(figure.x),
      scale: { domain: columns, padding: 0 },
      axis: { ...axis, values: spread(columns, stepX, names + size * 0.5) },
    },
    y: {
      field: "row",
      type: "ordinal",
      title: axisTitle(figure.y),
      // The first row is the lowest.
      scale: { domain: rows.toReversed(), padding: 0 },
      axis: { ...axis, values: spread(rows, stepY, size * 1.2) },
    },
  };
  const bottom = style.legend === "bottom";
  const ticks = log
    ? {
      values: logTicks(low, high),
      labelExpr: `(${
        JSON.stringify(
          Object.fromEntries(
            logTicks(low, high).map((tick) => [tick, `10${superscript(Math.round(Math.log10(tick)))}`]),
          ),
        )
      })[toString(datum.value)] || ''`,
    }
    : { tickCount: 5 };
  const legend = {
    type: "gradient",
    title: axisTitle(value),
    offset: size,
    orient: bottom ? "bottom" : "right",
    direction: bottom ? "horizontal" : "vertical",
    gradientLength: bottom ? style.width : style.height - 2 * size,
    titleLimit: 0,
    labelLimit: 0,
    ...ticks,
  };
  const colour = {
    field: "shown",
    type: "quantitative",
    scale: { scheme: "viridis", type: log ? "log" : "linear", domain: [low, high], reverse: !dark, nice: false },
  };
  return [{
    width: style.width,
    height: style.height,
    data: { values: data },
    layer: [
      // Cells overlap a little: viewers show gaps between shapes that only touch.
      {
        mark: { type: "rect", width: { band: 1 + 0.4 / stepX }, height: { band: 1 + 0.4 / stepY } },
        encoding: { ...place, color: { ...colour, legend } },
      },
      {
        mark: { type: "text", fontSize: labelled ? size * fit : Math.min(size, stepX, stepY), baseline: "middle" },
        encoding: {
          ...place,
          text: { field: "text", type: "nominal" },
          color: { condition: { test: "datum.light", value: "#ffffff" }, value: "#000000" },
        },
      },
    ],
  }];
}

/** The decades between the ends, at most nine. */
export function logTicks(low: number, high: number): number[] {
  const first = Math.round(Math.log10(low)), last = Math.round(Math.log10(high));
  const every = Math.ceil((last - first) / 8);
  return Array.from({ length: last - first + 1 }, (_, at) => first + at).filter((_, at) => at % every === 0)
    .map((decade) => Number(`1e${decade}`));
}
