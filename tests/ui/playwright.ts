/** The one place that names the browser driver. */
export { type Browser, type BrowserContext, chromium, type Locator, type Page } from "npm:playwright-core@^1.65";
