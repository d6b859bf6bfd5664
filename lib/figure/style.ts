/**
 * Figure styles. `svc` is for screens and reports, `paper` for one column of a two-column page (252 pt, no title: the
 * caption has it), `ieee` and `springer` for a column of their journals, with `-wide` for two, `compact` for pages with many
 * figures. A style file may change any field of one of them.
 *
 * Series colours are those of Okabe and Ito, distinct with any colour vision; dash and marker distinguish series in
 * grey print.
 */

export interface FigureStyle {
  name: string;
  /** Inside the axes, like the height. */
  width: number;
  height: number;
  /** Unit of all lengths. */
  unit: "px" | "pt";
  /** Font family of the SVG; PNG files always use Inter. */
  font: string;
  font_size: number;
  /** 0 for no title. */
  title_size: number;
  line_width: number;
  /** Area of a marker. */
  marker_size: number;
  legend: "right" | "bottom" | "none";
  /** Colours are #rrggbb. */
  series: string[];
  baseline: string;
  ink: string;
  muted: string;
  grid: string;
  background: string;
  /** Pixels per unit of length. */
  png_scale: number;
}

const SVC: FigureStyle = {
  name: "svc",
  width: 480,
  height: 320,
  unit: "px",
  font: "Inter",
  font_size: 12,
  title_size: 14,
  line_width: 1.75,
  marker_size: 45,
  legend: "right",
  series: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900"],
  baseline: "#667386",
  ink: "#1b2330",
  muted: "#4d596b",
  grid: "#dfe3e8",
  background: "#ffffff",
  png_scale: 2,
};

const PAPER: FigureStyle = {
  ...SVC,
  name: "paper",
  width: 206,
  height: 150,
  unit: "pt",
  font_size: 8,
  title_size: 0,
  line_width: 1,
  marker_size: 18,
  legend: "bottom",
  ink: "#000000",
  muted: "#000000",
  grid: "#d9d9d9",
  png_scale: 6,
};

/** Points that labels and ticks take beside the axes of `paper`. */
const BESIDE = 46;

/** The style `paper` in a width of its own, labels included. */
const wide = (name: string, points: number, height = PAPER.height): FigureStyle => ({
  ...PAPER,
  name,
  width: points - BESIDE,
  height,
});

export const STYLE_NAMES = ["svc", "paper", "compact", "ieee", "ieee-wide", "springer", "springer-wide"] as const;

export const STYLES: Readonly<Record<typeof STYLE_NAMES[number], FigureStyle>> = {
  svc: SVC,
  paper: PAPER,
  compact: {
    ...SVC,
    name: "compact",
    width: 250,
    height: 165,
    font_size: 10,
    title_size: 11,
    line_width: 1.25,
    marker_size: 24,
    legend: "bottom",
    png_scale: 3,
  },
  // One and two columns: 3.5 and 7.16 inches (IEEE Author Center), 84 and 174 mm (Springer Nature, artwork guidelines).
  ieee: wide("ieee", 252),
  "ieee-wide": wide("ieee-wide", 515.5, 210),
  springer: wide("springer", 238.1),
  "springer-wide": wide("springer-wide", 493.2, 210),
};

/** The same style for a dark page. */
export function darkened(style: FigureStyle): FigureStyle {
  return {
    ...style,
    name: `${style.name}-dark`,
    series: ["#56b4e9", "#ff9e5e", "#4fd1a5", "#e9a6cf", "#f0e442"],
    baseline: "#8b98aa",
    ink: "#e4e9f0",
    muted: "#aab6c6",
    grid: "#2b3440",
    background: "#191f27",
  };
}

/** Whether the background is dark; colour scales then begin dark. */
export function isDark({ background }: FigureStyle): boolean {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(background.slice(at, at + 2), 16));
  // Weights of Rec. 709.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
}

const DASHES: readonly number[][] = [[1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [10, 4]];
const THEORY_DASHES: readonly number[][] = [[4, 3], [1.5, 2.5], [7, 2, 1.5, 2], [9, 3], [2.5, 1.2], [9, 2, 2, 2, 2, 2]];
const MARKERS = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-right"] as const;

/** Theory is thinner than measurements. */
export const theoryWidth = (style: FigureStyle): number => style.line_width * 0.6;

/** The look of the i-th series of a kind. */
export interface SeriesLook {
  color: string;
  dash: number[];
  /** Null for none. */
  marker: string | null;
}

/** Looks of series in order. Each kind has its own count, so that an added baseline changes no other colour. */
export function seriesLooks(
  kinds: readonly ("measured" | "baseline" | "theory")[],
  style: FigureStyle,
): SeriesLook[] {
  const counts = { measured: 0, baseline: 0, theory: 0 };
  const unit = style.line_width / 1.75;
  return kinds.map((kind) => {
    const index = counts[kind]++;
    const scaled = (dash: readonly number[]) => dash.map((length) => length * unit);
    if (kind === "theory") {
      const dash = scaled(THEORY_DASHES[index % THEORY_DASHES.length]);
      return { color: style.ink, dash, marker: null };
    }
    const marker = MARKERS[(kind === "baseline" ? MARKERS.length - 1 - index : index) % MARKERS.length] ?? "circle";
    const palette = kind === "baseline" ? [style.baseline] : style.series;
    return {
      color: palette[index % palette.length],
      dash: scaled(DASHES[(index + Math.floor(index / palette.length)) % DASHES.length]),
      marker,
    };
  });
}
