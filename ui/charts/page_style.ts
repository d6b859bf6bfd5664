/** The style of figures on the page: as wide as its place, light or dark as the page is. */
import { darkened, type FigureStyle, STYLES } from "../../lib/figure/style.ts";
import { useEffect, useState } from "../preact.ts";
import { theme } from "../state/settings.ts";

const WIDEST = 720, NARROWEST = 180;
/** Beside the plot: the labels of its axis and some air. */
const AROUND = 96;
const NARROW = 620;

/** Whether a place is too narrow for a legend on the right. */
export const isNarrow = (width: number): boolean => width < NARROW;

/**
 * The style of a place.
 *
 * @param width of the place in pixels
 * @param legend width of what stands beside the plot; 0 for nothing
 */
export function screenStyle(width: number, legend: number, dark: boolean): FigureStyle {
  const narrow = isNarrow(width);
  const inner = Math.min(WIDEST, Math.max(NARROWEST, width - AROUND - (narrow ? 0 : legend)));
  const style: FigureStyle = {
    ...STYLES.svc,
    name: "page",
    width: inner,
    height: Math.round(Math.min(340, Math.max(180, inner * 0.62))),
    legend: "none",
    font_size: narrow ? 11 : 12,
    // The page has the title as a heading.
    title_size: 0,
  };
  return dark ? darkened(style) : style;
}

/** Files are made in the light style with their legend, whatever the screen shows. */
export const fileStyle = (screen: FigureStyle): FigureStyle => ({
  ...STYLES.svc,
  width: screen.width,
  height: screen.height,
});

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is dark now. */
export function useDark(): boolean {
  const [system, setSystem] = useState(darkSystem.matches);
  useEffect(() => {
    const listen = () => setSystem(darkSystem.matches);
    darkSystem.addEventListener("change", listen);
    return () => darkSystem.removeEventListener("change", listen);
  }, []);
  return theme.value === "system" ? system : theme.value === "dark";
}
