/** The document of the dashboard. All it shows is made by its script; the nonce is for styles that libraries write themselves. */
import type { BuiltPage } from "../../ui/build.ts";
import { version } from "../run/version.ts";

/**
 * All scripts of the frame and of the first view are fetched at once: a browser finds those that a script imports only in its text.
 * @param nonce new for each page
 */
export function dashboardPage(nonce: string, { digest, scripts: { frame, views } }: BuiltPage): string {
  const base = `/static/${digest}`;
  const ahead = frame.map((name) => `<link rel="modulepreload" href="${base}/${name}">`).join("\n");
  const byView = Object.entries(views).map(([view, names]) => ` data-${view}="${names.join(" ")}"`).join("");
  return `<!doctype html>
<html lang="en" data-nonce="${nonce}" data-version="${version}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>svc</title>
<link rel="icon" href="data:,">
<script src="${base}/boot.js"${byView}></script>
<link rel="preload" href="${base}/inter.woff2" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${base}/main.css">
${ahead}
<script type="module" src="${base}/main.js"></script>
<div id="app"></div>
<noscript>The dashboard needs scripts. The same interface is described at <a href="/api/openapi.json">/api/openapi.json</a>.</noscript>
</html>
`;
}
