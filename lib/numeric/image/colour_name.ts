/**
 * Names of colours: the region of the hue circle that contains a colour, or black, grey or white for a colour without
 * hue.
 *
 * With V = max(R, G, B), C = V - min(R, G, B) and the hue H in degrees: V below 0.2 is black; C/V below 0.3 is grey,
 * silver from V = 0.55 and white from V = 0.85 on; otherwise the hue determines the name. Dark orange is brown, light
 * red is pink. Thresholds are wide, so that rounding, JPEG and weak noise do not change the name of a saturated colour.
 */

export const COLOUR_NAMES = [
  "red",
  "orange",
  "yellow",
  "green",
  "cyan",
  "blue",
  "purple",
  "magenta",
  "pink",
  "brown",
  "black",
  "grey",
  "silver",
  "white",
] as const;
export type ColourName = typeof COLOUR_NAMES[number];

/** Names from each angle on, in degrees. */
const HUES: readonly (readonly [number, ColourName])[] = [
  [345, "red"],
  [330, "pink"],
  [285, "magenta"],
  [255, "purple"],
  [197, "blue"],
  [165, "cyan"],
  [70, "green"],
  [44, "yellow"],
  [16, "orange"],
  [0, "red"],
];

/** The name of a colour with components in 0 … 255. */
export function colourName(red: number, green: number, blue: number): ColourName {
  const value = Math.max(red, green, blue), chroma = value - Math.min(red, green, blue);
  if (value < 51) return "black";
  const saturation = chroma / value;
  if (saturation < 0.3) return value >= 217 ? "white" : value >= 140 ? "silver" : "grey";
  const hue = hueOf(red, green, blue, value, chroma);
  const [, name] = HUES.find(([from]) => hue >= from)!;
  if (name === "orange" && value < 170) return "brown";
  return name === "red" && saturation < 0.5 && value > 200 ? "pink" : name;
}

function hueOf(red: number, green: number, blue: number, value: number, chroma: number): number {
  const sixth = value === red
    ? (green - blue) / chroma
    : value === green
    ? (blue - red) / chroma + 2
    : (red - green) / chroma + 4;
  return ((sixth + 6) % 6) * 60;
}
