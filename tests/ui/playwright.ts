/** The one place that names the browser driver, and the browser that it drives. */
import { needs } from "../support/needs.ts";

export {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
  type Request,
  type Route,
} from "npm:playwright-core@^1.65";

/**
 * A Chromium of this machine, or undefined. The headless shell comes first: the whole browser starts two more processes for
 * each window, and they take as long as the page.
 */
export const CHROMIUM: string | undefined = [
  Deno.env.get("SVC_CHROMIUM"),
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
].find((path) => path !== undefined && exists(path));

/** Options of a test that drives it. */
export const needsChromium = () =>
  needs("Chromium (apt-get install chromium-headless-shell, or SVC_CHROMIUM)", CHROMIUM);

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
