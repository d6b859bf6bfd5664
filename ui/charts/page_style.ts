/** The style of figures on the page: width of the container, light or dark theme. */
import { darkened, type FigureStyle, STYLES } from "../../lib/figure/style.ts";
import { useEffect, useState } from "../preact.ts";
import { theme } from "../state/settings.ts";

const NARROWEST = 180;
/** Least and largest height of a plot, and its part of the width and of the window. */
const LOWEST = 180, HIGHEST = 520, FLAT = 0.5, OF_WINDOW = 0.45;
/** The same of a figure that is the subject of its page. */
const TALL = { highest: 720, flat: 0.6, ofWindow: 0.6 };
/** Space beside the plot, for axis labels and margins. */
const AROUND = 96;
const NARROW = 620;

/** Whether a container is too narrow for a legend on the right. */
export const isNarrow = (width: number): boolean => width < NARROW;

/**
 * The style for a container.
 *
 * @param width of the container in pixels
 * @param legend width of the legend beside the plot; 0 without one
 * @param tall whether the figure takes most of the window
 */
export function screenStyle(width: number, legend: number, dark: boolean, tall = false): FigureStyle {
  const narrow = isNarrow(width);
  const { highest, flat, ofWindow } = tall ? TALL : { highest: HIGHEST, flat: FLAT, ofWindow: OF_WINDOW };
  const inner = Math.max(NARROWEST, width - AROUND - (narrow ? 0 : legend));
  const style: FigureStyle = {
    ...STYLES.svc,
    name: "page",
    width: inner,
    height: Math.round(Math.max(LOWEST, Math.min(highest, inner * flat, innerHeight * ofWindow))),
    legend: "none",
    font_size: narrow ? 11 : 12,
    // The page shows the title as a heading.
    title_size: 0,
  };
  return dark ? darkened(style) : style;
}

/** The style of files: light, with a legend, independent of the screen. */
export const fileStyle = (screen: FigureStyle): FigureStyle => ({
  ...STYLES.svc,
  width: screen.width,
  height: screen.height,
});

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

/** Whether the page has the dark theme. */
export function useDark(): boolean {
  const [system, setSystem] = useState(darkSystem.matches);
  useEffect(() => {
    const listen = () => setSystem(darkSystem.matches);
    darkSystem.addEventListener("change", listen);
    return () => darkSystem.removeEventListener("change", listen);
  }, []);
  return theme.value === "system" ? system : theme.value === "dark";
}
