/** The one place that names the accessibility checker; it runs inside of the page, as text. */
import axe from "npm:axe-core@^4.14/axe.min.js";

export const AXE_SOURCE: string = (axe as unknown as { source: string }).source;
