/**
 * Curves, bars, boxes and heat maps as pgfplots: `\input` of the file draws the figure with the fonts of the document. It
 * needs \usepackage{pgfplots} and \pgfplotsset{compat=1.18}; boxes also need \usepgfplotslibrary{statistics}.
 */
import { latexComment } from "../contract/escape.ts";
import { layoutOf, LOST_TITLE } from "./curves_spec.ts";
import { latexText } from "./latex.ts";
import { signsOf } from "./legend.ts";
import { heatDomain, logTicks, shownValue } from "./heat_spec.ts";
import { hiddenPoints } from "./overlaps.ts";
import { numberText } from "./number_text.ts";
import { type FigureStyle, type SeriesLook, seriesLooks, STYLES } from "./style.ts";
import type {
  BarFigure,
  BoxFigure,
  CurveFigure,
  Figure,
  FigureAxis,
  FigurePoint,
  FigureSeries,
  HeatFigure,
} from "./types.ts";

/** Names of markers in pgfplots. */
const MARKS: Record<string, string> = {
  circle: "*",
  square: "square*",
  "triangle-up": "triangle*",
  diamond: "diamond*",
  cross: "x",
  "triangle-right": "triangle*, mark options={rotate=-90}",
};

/** The same as outlines. */
const HOLLOW: Record<string, string> = Object.fromEntries(
  Object.entries(MARKS).map(([name, mark]) => [name, mark === "*" ? "o" : mark.replace("*", "")]),
);

/**
 * A figure as a tikzpicture, or null for a form that pgfplots does not draw from coordinates: a matrix, power levels.
 * @param style its colours, and its size where that is in points; those of `paper` without a size when left out
 */
export function pgfplots(figure: Figure, style?: FigureStyle): string | null {
  if (figure.form === "curves") return curves(figure, style);
  if (figure.form === "heat") return heat(figure, style);
  if (figure.form === "boxes") return boxes(figure, style);
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

const titled = ({ title, unit }: FigureAxis) => `{${latexText(unit === "" ? title : `${title} (${unit})`)}}`;

const picture = (
  options: readonly (string | null)[],
  body: readonly string[],
  { source, mark }: Pick<Figure, "source" | "mark">,
  below: readonly string[] = [],
): string =>
  [
    ...Object.entries(source).map(([key, value]) => latexComment(`${key}: ${value}`)),
    "\\begin{tikzpicture}",
    "\\begin{axis}[",
    ...(mark === undefined ? [] : [`  title={${latexText(mark)}}, title style={text=red!70!black},`]),
    ...options.filter((option) => option !== null).map((option) => `  ${option},`),
    "]",
    ...body,
    "\\end{axis}",
    ...below,
    "\\end{tikzpicture}",
    "",
  ].join("\n");

const definitions = (colors: readonly string[]) =>
  [...new Set(colors)].map((color) => `\\definecolor{${colourName(color)}}{HTML}{${color.slice(1).toUpperCase()}}`);

const colourName = (color: string) => `svc${color.slice(1).toUpperCase()}`;

function curves(figure: CurveFigure, style: FigureStyle | undefined): string {
  const { x, y, series, step, markers, joined, guides = [] } = figure;
  const looks = seriesLooks(series.map(({ kind }) => kind), style ?? STYLES.paper);
  const seen = series.map((one, at) => ({ one, look: looks[at] })).filter(({ one }) => one.hidden !== true);
  const { beside, ...drawn } = layoutOf(figure, style ?? STYLES.paper);
  const ends = ({ domain }: FigureAxis, name: "x" | "y") => {
    // Labels have their places on these axes.
    const shown = beside.length > 0 ? drawn[name].scale.domain as [number, number] : domain;
    return shown === null ? null : `${name}min=${shown[0]}, ${name}max=${shown[1]}`;
  };
  const colours = definitions(seen.map(({ look }) => look.color));
  const body = seen.flatMap(({ one, look: { color, dash, marker } }, index) => {
    const bare = marker === null || step || markers === false;
    const lined = one.kind === "theory" || (joined !== false && one.joined !== false);
    const options = [
      colourName(color),
      lined ? null : "only marks",
      step && "const plot",
      bare ? "mark=none" : `mark=${MARKS[marker]}`,
      ...dashed(dash),
      ...(one.points.some(({ low }) => low !== null) ? ["error bars/.cd, y dir=both, y explicit"] : []),
    ].filter(Boolean).join(", ");
    return [
      `\\addplot[${options}] coordinates {`,
      ...one.points.flatMap((point) => coordinate(point)),
      "};",
      `\\addlegendentry{${latexText(one.label)}}`,
      ...beside.filter(({ series }) => series === one.label).flatMap(({ x, y, label_x, label_y, label, away }) => {
        const place = `(axis cs:${label_x},${label_y})`, colour = colourName(color);
        return [
          ...away ? [`\\draw[${colour}, very thin] (axis cs:${x},${y}) -- ${place};`] : [],
          `\\node[${colour}, font=\\tiny, inner sep=0.5pt${away ? ", fill=white" : ""}] at ${place} {${
            latexText(label)
          }};`,
        ];
      }),
      ...bounds(one, color),
      ...losses(one, color, index),
    ];
  });
  body.push(
    ...hiddenPoints(figure).map(({ index, x, y, side }) => {
      const { color, marker } = looks[index];
      const options = [
        colourName(color),
        "only marks",
        `mark=${HOLLOW[marker!]}`,
        `mark size=${2 * side}pt`,
        "forget plot",
      ];
      return `\\addplot[${options.join(", ")}] coordinates {(${x},${y})};`;
    }),
  );
  for (const [sign, label] of signsOf(figure)) {
    const drawn = sign === "bound" ? BOUND : sign === "outage" ? LOSS : null;
    if (drawn !== null) body.push(`\\addlegendimage{only marks, ${drawn}}`, `\\addlegendentry{${latexText(label)}}`);
  }
  const lines = guides.flatMap(({ axis, at, label, whole }) => [
    ...(whole === true ? [`\\addlegendimage{gray, dashed}`, `\\addlegendentry{${latexText(label)}}`] : []),
    `\\draw[gray, dashed] (${
      axis === "x" ? `axis cs:${at},\\pgfkeysvalueof{/pgfplots/ymin}` : `axis cs:\\pgfkeysvalueof{/pgfplots/xmin},${at}`
    }) -- (${
      axis === "x" ? `axis cs:${at},\\pgfkeysvalueof{/pgfplots/ymax}` : `axis cs:\\pgfkeysvalueof{/pgfplots/xmax},${at}`
    }); ${latexComment(label)}`,
  ]);
  const lost = figure.lost === true && seen.some(({ one }) => one.points.some(({ outage = 0 }) => outage > 0));
  const options = [
    lost ? "name=values, xticklabels={}" : `xlabel=${titled(x)}`,
    `ylabel=${titled(y)}`,
    x.scale === "log" ? "xmode=log" : null,
    y.scale === "log" ? "ymode=log" : null,
    ends(x, "x"),
    ends(y, "y"),
    ...guides.filter(({ whole }) => whole === true).map(({ at }) => `extra y ticks={${at}}, extra y tick labels={}`),
    "grid=major",
    "legend cell align=left",
    ...(lost
      ? [...size(style), `legend style={at={(0.5,${figure.mark === undefined ? 1.03 : 1.15})}, anchor=south}`]
      : layout(style)),
  ];
  const below = lost ? lostAxis(figure, seen, style) : [];
  return [...colours, picture(options, [...body, ...lines], figure, below)].join("\n");
}

/** The share of lost items below the values. */
function lostAxis(
  { x }: CurveFigure,
  seen: readonly { one: FigureSeries; look: SeriesLook }[],
  style: FigureStyle | undefined,
): string[] {
  const height = style?.unit === "pt" ? style.height * 0.3 : 60;
  return [
    "\\begin{axis}[",
    "  at={(values.below south west)}, anchor=north west, yshift=-1ex,",
    `  scale only axis, width=${style?.unit === "pt" ? `${style.width}pt` : "240pt"}, height=${height}pt,`,
    `  xlabel=${titled(x)}, ylabel={${LOST_TITLE}}, ymin=0, ymax=1, ytick={0,0.5,1}, grid=major,`,
    ...(x.domain === null ? [] : [`  xmin=${x.domain[0]}, xmax=${x.domain[1]},`]),
    "]",
    ...seen.flatMap(({ one: { points }, look: { color, dash, marker } }) => {
      const found = points.flatMap(({ x, outage }) => outage === undefined ? [] : [`(${x},${outage})`]);
      if (found.length === 0) return [];
      const mark = marker === null ? "mark=none" : `mark=${MARKS[marker]}`;
      return [`\\addplot[${[colourName(color), mark, ...dashed(dash)].join(", ")}] coordinates {${found.join(" ")}};`];
    }),
    "\\end{axis}",
  ];
}

const dashed = (dash: readonly number[]): string[] =>
  dash[1] === 0
    ? []
    : [`dash pattern=${dash.map((length, at) => `${at % 2 === 0 ? "on" : "off"} ${length}pt`).join(" ")}`];

/** A measured point with its interval; a point without a value has no coordinate. */
function coordinate({ x, y, low, high }: FigurePoint): string[] {
  if (y === null) return [];
  return [low === null || high === null ? `  (${x},${y})` : `  (${x},${y}) += (0,${high - y}) -= (0,${y - low})`];
}

const BOUND = "mark=triangle, mark options={rotate=180}";

/** Upper bounds of rates without an event, as arrows downwards. */
function bounds({ points }: FigureSeries, color: string): string[] {
  const found = points.flatMap(({ x, bound }) => bound === undefined ? [] : [`  (${x},${bound})`]);
  if (found.length === 0) return [];
  return [
    `\\addplot[${colourName(color)}, only marks, ${BOUND}, forget plot] coordinates {`,
    ...found,
    "};",
  ];
}

const LOSS = "mark=x, mark size=4pt, thick";

/** Crosses on points of which items were lost; those of a point without a value are at the top, one line per series. */
function losses({ kind, points }: FigureSeries, color: string, line: number): string[] {
  const lost = kind === "theory" ? [] : points.filter(({ outage = 0 }) => outage > 0);
  const on = lost.flatMap(({ x, y }) => y === null ? [] : [`(${x},${y})`]);
  const colour = colourName(color), height = 0.95 - 0.05 * line;
  return [
    ...(on.length === 0
      ? []
      : [`\\addplot[only marks, ${LOSS}, ${colour}, forget plot] coordinates {${on.join(" ")}};`]),
    ...lost.filter(({ y }) => y === null).map(({ x }) =>
      `\\draw[${colour}] plot[only marks, ${LOSS}] coordinates {({axis cs:${x},1} |- {rel axis cs:0,${height}})};`
    ),
  ];
}

function bars(figure: BarFigure, style: FigureStyle | undefined): string {
  const { value, bars } = figure;
  const names = bars.map((_, at) => `b${at}`);
  return picture(
    [
      "xbar",
      `xlabel=${titled(value)}`,
      `symbolic y coords={${names.join(",")}}`,
      "ytick=data",
      ...size(style),
      `yticklabels={${bars.map(({ label }) => `{${latexText(label)}}`).join(",")}}`,
    ],
    [
      "\\addplot[fill=gray!30, error bars/.cd, x dir=both, x explicit] coordinates {",
      ...bars.map(({ value, low, high }, at) =>
        `  (${value},${names[at]})` +
        (low === null || high === null ? "" : ` += (${high - value},0) -= (${value - low},0)`)
      ),
      "};",
    ],
    figure,
  );
}

/** So many columns have space for a number in each cell. */
const NUMBERED_COLUMNS = 8;

function heat(figure: HeatFigure, style: FigureStyle | undefined): string {
  const { x, y, value, columns, rows, cells } = figure, log = value.scale === "log";
  const [low, high] = heatDomain(figure), along = (number: number) => log ? Math.log10(number) : number;
  const places = new Map(cells.map((cell) => [`${cell.column},${cell.row}`, cell]));
  const bottom = style?.legend === "bottom", tick = bottom ? "x" : "y";
  const ticks = log
    ? `, ${tick}tick={${logTicks(low, high).map(along).join(",")}}, ` +
      `${tick}ticklabel={$10^{\\pgfmathprintnumber{\\tick}}$}`
    : "";
  const named = (axis: "x" | "y", names: readonly string[]) => {
    const every = Math.ceil(names.length / 12),
      shown = names.flatMap((name, at) => at % every === 0 ? [{ name, at }] : []);
    return `${axis}tick={${shown.map(({ at }) => at).join(",")}}, ` +
      `${axis}ticklabels={${shown.map(({ name }) => `{${latexText(name.replace(/^-/, "−"))}}`).join(",")}}`;
  };
  return picture(
    [
      `xlabel=${titled(x)}`,
      `ylabel=${titled(y)}`,
      "colormap={svcheat}{indices of colormap={\\pgfplotscolormaplastindexof{viridis},...,0 of viridis}}",
      bottom ? "colorbar horizontal" : "colorbar",
      `colorbar style={${tick}label=${titled(value)}${bottom ? ", at={(0,-0.35)}, anchor=north west" : ""}${ticks}}`,
      `point meta min=${along(low)}, point meta max=${along(high)}`,
      `xmin=-0.5, xmax=${columns.length - 0.5}, ymin=-0.5, ymax=${rows.length - 0.5}`,
      named("x", columns),
      named("y", rows),
      "tick style={draw=none}",
      ...size(style),
    ],
    [
      `\\addplot[matrix plot*, mesh/cols=${columns.length}, point meta=explicit, unbounded coords=jump] coordinates {`,
      ...rows.map((_, row) =>
        columns.map((_, column) => {
          const cell = places.get(`${column},${row}`), shown = cell === undefined ? null : shownValue(cell);
          return `  (${column},${row}) [${shown === null ? "nan" : along(shown)}]`;
        }).join("")
      ),
      "};",
      ...cells.filter(({ bound }) => columns.length <= NUMBERED_COLUMNS || bound !== undefined).flatMap((cell) => {
        const shown = shownValue(cell);
        if (shown === null) return [];
        const light = (along(shown) - along(low)) / (along(high) - along(low)) > 0.45;
        const bound = cell.bound === undefined ? "" : "$\\le$ ";
        return [
          `\\node[font=\\${columns.length > NUMBERED_COLUMNS ? "tiny" : "scriptsize"}, inner sep=0pt, text=${
            light ? "white" : "black"
          }] at (axis cs:${cell.column},${cell.row}) ` +
          `{${bound}${columns.length > NUMBERED_COLUMNS ? "" : numberText(shown, "latex", 2)}};`,
        ];
      }),
    ],
    figure,
  );
}

function boxes(figure: BoxFigure, style: FigureStyle | undefined): string {
  const { x, value, series, places, boxes } = figure;
  const looks = seriesLooks(series.map(({ kind }) => kind), style ?? STYLES.paper), lying = x === null;
  const labels = series.map(({ label }) => label), width = 0.8 / series.length;
  const colours = definitions(looks.map(({ color }) => color));
  const body = boxes.map(({ series: name, place, low, q1, median, q3, high, outliers }) => {
    const at = labels.indexOf(name), across = places.indexOf(place);
    // The first row is the upper one.
    const position = lying ? labels.length - at : across + 1 + (at - (labels.length - 1) / 2) * width;
    const color = colourName(looks[at].color);
    const prepared = [
      `lower whisker=${low}, lower quartile=${q1}, median=${median}, upper quartile=${q3}, upper whisker=${high}`,
      `draw position=${position}, box extend=${lying ? 0.6 : width * 0.8}`,
    ].join(", ");
    const points = outliers.map((one) => `${one}\\\\`).join(" ");
    return `\\addplot[${color}, fill=${color}!25, mark=o, mark size=1.2pt, boxplot prepared={${prepared}}] ` +
      (points === "" ? "coordinates {};" : `table[row sep=\\\\, y index=0] {${points}};`);
  });
  const legend = lying ? [] : labels.flatMap((label, at) => [
    `\\addlegendimage{area legend, draw=${colourName(looks[at].color)}, fill=${colourName(looks[at].color)}!25}`,
    `\\addlegendentry{${latexText(label)}}`,
  ]);
  const names = lying ? labels.toReversed() : places.map((place) => place.replace(/^-/, "−"));
  const [category, measure] = lying ? ["y", "x"] : ["x", "y"];
  const options = [
    `boxplot/draw direction=${measure}`,
    x === null ? null : `xlabel=${titled(x)}`,
    `${measure}label=${titled(value)}`,
    `${category}tick={${names.map((_, at) => at + 1).join(",")}}`,
    `${category}ticklabels={${names.map((name) => `{${latexText(name)}}`).join(",")}}`,
    `${category}min=0.4, ${category}max=${names.length + 0.6}`,
    `${measure}majorgrids`,
    ...(lying ? size(style) : ["legend cell align=left", ...layout(style)]),
  ];
  return ["% Needs \\usepgfplotslibrary{statistics}", ...colours, picture(options, [...legend, ...body], figure)].join(
    "\n",
  );
}
