/** The one place that names the plotting libraries. Import it lazily: they take about half a second to load. */
import * as vega from "npm:vega@^6.4.0";

export { parse, resetSVGDefIds, View } from "npm:vega@^6.4.0";
export { compile, type TopLevelSpec } from "npm:vega-lite@^6.5.0";

interface TextItem {
  fontSize?: number;
  fontWeight?: string | number;
}

/** How the library measures texts; without a canvas it guesses, and its types leave this out. */
export const { textMetrics } = vega as unknown as {
  textMetrics: { width: (item: TextItem, text: string) => number };
};
