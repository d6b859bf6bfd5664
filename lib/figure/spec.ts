/** From a figure and a style to a Vega-Lite specification. */
import { barsViews } from "./bars_spec.ts";
import { boxesViews } from "./boxes_spec.ts";
import { curvesViews } from "./curves_spec.ts";
import { heatViews } from "./heat_spec.ts";
import { levelsViews } from "./levels_spec.ts";
import { matrixViews } from "./matrix_spec.ts";
import { type FigureStyle, isDark } from "./style.ts";
import { textWidth } from "./text_width.ts";
import type { Figure, FigureSpec } from "./types.ts";

/** Defaults for fonts, lines and colours of marks. */
function configOf(style: FigureStyle): FigureSpec {
  const { font_size: size, ink, muted, grid } = style;
  const line = style.line_width * 0.45;
  return {
    // The root has the description of the image; names on single marks would only disturb screen readers.
    aria: false,
    font: `${style.font}, Helvetica, Arial, sans-serif`,
    view: { stroke: null },
    concat: { spacing: style.legend === "right" ? size * 1.5 : size * 0.8 },
    axis: {
      labelFontSize: size,
      titleFontSize: size,
      titleFontWeight: 600,
      titlePadding: size * 0.6,
      labelPadding: size * 0.3,
      labelColor: muted,
      labelFlush: false,
      // Least distance between numbers.
      labelSeparation: size * 0.6,
      titleColor: ink,
      domainColor: muted,
      domainWidth: line,
      tickColor: muted,
      tickWidth: line,
      tickSize: size * 0.35,
      gridColor: grid,
      gridWidth: line,
    },
    legend: {
      labelFontSize: size,
      titleFontSize: size,
      titleFontWeight: 600,
      labelColor: muted,
      titleColor: ink,
      gradientThickness: size,
    },
    title: {
      anchor: "start",
      fontSize: style.title_size || size,
      fontWeight: 600,
      color: ink,
      subtitleFontSize: size,
      subtitleColor: muted,
      subtitlePadding: size * 0.35,
      offset: size,
    },
  };
}

function viewsOf(figure: Figure, style: FigureStyle): FigureSpec[] {
  if (figure.form === "curves") return curvesViews(figure, style);
  if (figure.form === "levels") return levelsViews(figure, style);
  if (figure.form === "heat") return heatViews(figure, style);
  if (figure.form === "boxes") return boxesViews(figure, style);
  return figure.form === "bars" ? barsViews(figure, style) : matrixViews(figure, style);
}

/** The title with the mark of incomplete numbers, which stands alone where the style has no title. */
function markedTitle({ title }: Figure, mark: string, style: FigureStyle, subtitle: FigureSpec): FigureSpec {
  const color = isDark(style) ? "#ff9e5e" : "#b3261e";
  return style.title_size === 0
    ? { text: mark, color, anchor: "end", fontSize: style.font_size, offset: style.font_size * 0.4 }
    : { text: [mark, title], color, ...subtitle };
}

/** Breaks a subtitle between its parts into lines no wider than the plot with its axis. */
function subtitleLines(text: string, style: FigureStyle): string[] {
  const lines: string[] = [];
  for (const part of text.split(" · ")) {
    const longer = lines.length === 0 ? part : `${lines.at(-1)} · ${part}`;
    if (lines.length > 0 && textWidth(longer, style.font_size) <= style.width + style.font_size * 4) lines.pop();
    else if (lines.length > 0) {
      lines.push(part);
      continue;
    }
    lines.push(longer);
  }
  return lines;
}

/**
 * The specification of a figure: plain JSON, determined by figure and style.
 * @param style one of `STYLES`, or a custom one
 */
export function figureSpec(figure: Figure, style: FigureStyle): FigureSpec {
  const views = viewsOf(figure, style);
  const subtitle = figure.subtitle === "" ? {} : { subtitle: subtitleLines(figure.subtitle, style) };
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description: [figure.title, figure.mark, figure.subtitle].filter(Boolean).join(". "),
    usermeta: { figure: figure.type, style: style.name, ...figure.source },
    background: style.background,
    padding: Math.round(style.font_size * 0.5),
    ...(figure.mark !== undefined
      ? { title: markedTitle(figure, figure.mark, style, subtitle) }
      : style.title_size === 0
      ? {}
      : { title: { text: figure.title, ...subtitle } }),
    config: configOf(style),
    ...(views.length === 1 ? views[0] : { [style.legend === "right" ? "hconcat" : "vconcat"]: views }),
  };
}
