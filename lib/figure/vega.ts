/** The only import of the plotting libraries. Import it lazily: loading takes about half a second. */
import * as vega from "npm:vega@^6.4.0";

export { parse, resetSVGDefIds, View } from "npm:vega@^6.4.0";
export { compile, type TopLevelSpec } from "npm:vega-lite@^6.5.0";

interface TextItem {
  fontSize?: number;
  fontWeight?: string | number;
}

/** Text measurement of the library, an estimate without a canvas; its types omit this. */
export const { textMetrics } = vega as typeof vega & {
  textMetrics: { width: (item: TextItem, text: string) => number };
};
