/**
 * Curves and bars as pgfplots: `\input` of the file draws the figure with the fonts of the document. It needs
 * \usepackage{pgfplots} and \pgfplotsset{compat=1.18}.
 */
import { escapeLatex, latexComment } from "../contract/escape.ts";
import { type FigureStyle, seriesLooks, STYLES } from "./style.ts";
import type { BarFigure, CurveFigure, Figure, FigureAxis, FigurePoint, FigureSeries } from "./types.ts";

/** Names of markers in pgfplots. */
const MARKS: Record<string, string> = {
  circle: "*",
  square: "square*",
  "triangle-up": "triangle*",
  diamond: "diamond*",
  cross: "x",
  "triangle-right": "triangle*, mark options={rotate=-90}",
};

/**
 * A figure as a tikzpicture, or null for a form that pgfplots does not draw from coordinates: a matrix, power levels.
 * @param style its colours, and its size where that is in points; those of `paper` without a size when left out
 */
export function pgfplots(figure: Figure, style?: FigureStyle): string | null {
  if (figure.form === "curves") return curves(figure, style);
  return figure.form === "bars" ? bars(figure, style) : null;
}

/** Size of the plot inside its axes where it is in points, and the place of its legend. */
function layout(style: FigureStyle | undefined): string[] {
  const legend = style?.legend === "bottom"
    ? "legend style={at={(0.5,-0.25)}, anchor=north}"
    : "legend pos=outer north east";
  return [...size(style), legend];
}

const size = (style: FigureStyle | undefined): string[] =>
  style?.unit === "pt" ? ["scale only axis", `width=${style.width}pt, height=${style.height}pt`] : [];

const titled = ({ title, unit }: FigureAxis) => `{${escapeLatex(unit === "" ? title : `${title} (${unit})`)}}`;

const picture = (options: readonly (string | null)[], body: readonly string[], source: Figure["source"]): string =>
  [
    ...Object.entries(source).map(([key, value]) => latexComment(`${key}: ${value}`)),
    "\\begin{tikzpicture}",
    "\\begin{axis}[",
    ...options.filter((option) => option !== null).map((option) => `  ${option},`),
    "]",
    ...body,
    "\\end{axis}",
    "\\end{tikzpicture}",
    "",
  ].join("\n");

const colourName = (color: string) => `svc${color.slice(1).toUpperCase()}`;

function curves(
  { x, y, series, step, markers, joined, guides = [], source }: CurveFigure,
  style: FigureStyle | undefined,
): string {
  const looks = seriesLooks(series.map(({ kind }) => kind), style ?? STYLES.paper);
  const seen = series.map((one, at) => ({ one, look: looks[at] })).filter(({ one }) => one.hidden !== true);
  const ends = ({ domain }: FigureAxis, name: string) =>
    domain === null ? null : `${name}min=${domain[0]}, ${name}max=${domain[1]}`;
  const colours = [...new Set(seen.map(({ look }) => look.color))].map((color) =>
    `\\definecolor{${colourName(color)}}{HTML}{${color.slice(1).toUpperCase()}}`
  );
  const body = seen.flatMap(({ one, look: { color, dash, marker } }) => {
    const bare = marker === null || step || markers === false;
    const lined = one.kind === "theory" || (joined !== false && one.joined !== false);
    const options = [
      colourName(color),
      lined ? null : "only marks",
      step && "const plot",
      bare ? "mark=none" : `mark=${MARKS[marker]}`,
      dash[1] === 0
        ? null
        : `dash pattern=${dash.map((length, at) => `${at % 2 === 0 ? "on" : "off"} ${length}pt`).join(" ")}`,
      ...(one.points.some(({ low }) => low !== null) ? ["error bars/.cd, y dir=both, y explicit"] : []),
    ].filter(Boolean).join(", ");
    return [
      `\\addplot[${options}] coordinates {`,
      ...one.points.flatMap((point) => coordinate(point)),
      "};",
      `\\addlegendentry{${escapeLatex(one.label)}}`,
      ...bounds(one, color),
    ];
  });
  const lines = guides.map(({ axis, at, label }) =>
    `\\draw[gray, dashed] (${
      axis === "x" ? `axis cs:${at},\\pgfkeysvalueof{/pgfplots/ymin}` : `axis cs:\\pgfkeysvalueof{/pgfplots/xmin},${at}`
    }) -- (${
      axis === "x" ? `axis cs:${at},\\pgfkeysvalueof{/pgfplots/ymax}` : `axis cs:\\pgfkeysvalueof{/pgfplots/xmax},${at}`
    }); ${latexComment(label)}`
  );
  const options = [
    `xlabel=${titled(x)}`,
    `ylabel=${titled(y)}`,
    x.scale === "log" ? "xmode=log" : null,
    y.scale === "log" ? "ymode=log" : null,
    ends(x, "x"),
    ends(y, "y"),
    "grid=major",
    "legend cell align=left",
    ...layout(style),
  ];
  return [...colours, picture(options, [...body, ...lines], source)].join("\n");
}

/** A measured point with its interval; a point without a value has no coordinate. */
function coordinate({ x, y, low, high }: FigurePoint): string[] {
  if (y === null) return [];
  return [low === null || high === null ? `  (${x},${y})` : `  (${x},${y}) += (0,${high - y}) -= (0,${y - low})`];
}

/** Upper bounds of rates without an event, as arrows downwards. */
function bounds({ points }: FigureSeries, color: string): string[] {
  const found = points.flatMap(({ x, bound }) => bound === undefined ? [] : [`  (${x},${bound})`]);
  if (found.length === 0) return [];
  return [
    `\\addplot[${colourName(color)}, only marks, mark=triangle, mark options={rotate=180}, forget plot] coordinates {`,
    ...found,
    "};",
  ];
}

function bars({ value, bars, source }: BarFigure, style: FigureStyle | undefined): string {
  const names = bars.map((_, at) => `b${at}`);
  return picture(
    [
      "xbar",
      `xlabel=${titled(value)}`,
      `symbolic y coords={${names.join(",")}}`,
      "ytick=data",
      ...size(style),
      `yticklabels={${bars.map(({ label }) => `{${escapeLatex(label)}}`).join(",")}}`,
    ],
    [
      "\\addplot[fill=gray!30, error bars/.cd, x dir=both, x explicit] coordinates {",
      ...bars.map(({ value, low, high }, at) =>
        `  (${value},${names[at]})` +
        (low === null || high === null ? "" : ` += (${high - value},0) -= (${value - low},0)`)
      ),
      "};",
    ],
    source,
  );
}
