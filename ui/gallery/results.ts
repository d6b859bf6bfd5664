/** Stored results of shipped recipes, which `deno task gallery` makes, as the cards draw them. */
import type { CurveFigure } from "../../lib/figure/types.ts";
import { estimateText } from "../../lib/figure/number_text.ts";
import { unitText } from "../../lib/figure/unit_text.ts";
import stored from "../pages/gallery_results.json" with { type: "json" };
import type { Card } from "./cards.ts";

/** A value with the ends of its interval, and the bound where no event was seen. */
type Estimate = readonly [value: number | null, low?: number | null, high?: number | null, bound?: number];

/** The small result of a recipe: curves over its swept parameter, or numbers. */
export interface GalleryResult {
  /** Of the authored recipe. */
  sha256: string;
  x?: readonly [title: string, unit: string];
  y?: readonly [title: string, unit: string, scale: "linear" | "log"];
  series?: readonly (readonly [label: string, points: readonly (readonly [x: number, ...Estimate])[]])[];
  metric?: readonly [name: string, unit: string];
  numbers?: readonly (readonly [label: string, Estimate])[];
  /** The stored image: an image as received at each value of the swept parameter, from left to right, or one. */
  film?: readonly [width: number, height: number, ...at: number[]];
  /** Why there is neither curve nor number. */
  none?: string;
}

/** Name of the file in `ui/pictures` with the images of a recipe. */
export const pictureNameOf = (path: string): string =>
  `gallery_${path.replace(/^recipes\/(recipe_starters\/)?|\.\w+$/g, "")}`;

const RESULTS = stored as unknown as { readonly [path: string]: GalleryResult };

/** The stored result of a card; none where it is of another digest than the recipe. */
export function resultOf({ path, recipeSha256 }: Pick<Card, "path" | "recipeSha256">): GalleryResult | null {
  const found = RESULTS[path];
  return found !== undefined && found.sha256 === recipeSha256 ? found : null;
}

const END = { domain: null, scale: "linear" } as const;

/** The curves of a result; null where it has numbers. */
export function figureOf({ x, y, series }: GalleryResult): Pick<CurveFigure, "series" | "x" | "y"> | null {
  if (x === undefined || y === undefined || series === undefined) return null;
  return {
    x: { ...END, title: x[0], unit: x[1] },
    y: { ...END, title: y[0], unit: y[1], scale: y[2] },
    series: series.map(([label, points]) => ({
      label,
      kind: "measured",
      points: points.map(([x, y, low = null, high = null, bound]) => ({ x, y, low, high, bound })),
    })),
  };
}

/** The numbers of a result in words, with their intervals. */
export const numbersOf = ({ metric, numbers = [] }: GalleryResult): [label: string, text: string][] =>
  numbers.map(([label, [mean, low = null, high = null, bound]]) => [
    label,
    estimateText({ mean, low, high, bound }, "unicode", unitText(metric![1])),
  ]);

/** What a card gives, in words. */
export const givesOf = (card: Card, result: GalleryResult | null): string =>
  result?.y ? `${result.y[0]} over ${result.x![0]}` : result?.metric?.[0] ?? card.gives ?? "";
