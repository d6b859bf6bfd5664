/** The view in the middle of the editor. A sweep that starts shows its curve. */
import { signal } from "../preact.ts";

export const CENTRE_VIEWS = ["Graph", "Matrix", "Raw JSON", "Specs"] as const;
export type CentreView = typeof CENTRE_VIEWS[number];
export const centreView = signal<CentreView>("Graph");
