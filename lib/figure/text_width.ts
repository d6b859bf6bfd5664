/** Widths of texts in Inter, to lay out legends and titles without a browser. */
import inter from "./font/inter.json" with { type: "json" };

const WIDTHS: Record<string, Record<string, number>> = inter.widths;

/**
 * Width of a text in the unit of its size.
 * @param weight 600 and above use the semi-bold letters
 */
export function textWidth(text: string, size: number, weight: number | string = 400): number {
  const bold = weight === "bold" || Number(weight) >= 600;
  const widths = WIDTHS[bold ? "600" : "400"];
  let total = 0;
  // A letter missing in the font has the width of an m.
  for (const character of text) total += widths[character] ?? widths.m;
  return total / inter.units_per_em * size;
}
