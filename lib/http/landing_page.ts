/** The page at `/` where the dashboard cannot be built: why, what this is and where the interface begins. It holds no data, and neither scripts nor forms. */
import { escapeXml } from "../contract/escape.ts";
import { version } from "../run/version.ts";

const LINKS: [string, string][] = [
  ["/api/openapi.json", "the whole interface, described in OpenAPI 3.1"],
  ["/api/health", "whether the server answers, and its capabilities"],
  ["/api/doctor", "checks of this machine"],
  ["/api/ops", "the operations that a recipe can use"],
  ["/api/recipes", "the recipes of this project"],
  ["/api/recipe-templates", "scenarios to start from"],
  ["/api/runs", "finished and running runs"],
  ["/api/run-jobs", "queued and running jobs"],
  ["/metrics", "counters for Prometheus"],
];

/**
 * @param nonce of the page's style
 * @param reason why this page is shown in place of the dashboard
 */
export function landingPage(nonce: string, reason: string): string {
  const rows = LINKS.map(([path, text]) => `<dt><a href="${path}">${path}</a></dt><dd>${text}</dd>`).join("\n");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>svc ${version}</title>
<style nonce="${nonce}">
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color: #1c1e21; background: #fff; }
dt { font-family: ui-monospace, monospace; } dd { margin: 0 0 .6rem; color: #555; }
@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #16181b; } dd { color: #a8a8a8; } a { color: #8ab4f8; } }
</style>
<h1>svc ${version}</h1>
<p>Reproducible experiments for communication and semantic-communication research. This server answers over HTTP with
the same library calls as the command line. Where it was started with a token, everything but this page and
<code>/api/health</code> needs it.</p>
<p><strong>The dashboard is not here:</strong> ${escapeXml(reason)}.</p>
<dl>
${rows}
</dl>
</html>
`;
}
