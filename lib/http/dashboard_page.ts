/** The document of the dashboard. All it shows is made by its script; the nonce is for styles that libraries write themselves. */
import { version } from "../run/version.ts";

/** @param nonce new for each page */
export function dashboardPage(nonce: string, { digest }: { digest: string }): string {
  const base = `/static/${digest}`;
  return `<!doctype html>
<html lang="en" data-nonce="${nonce}" data-version="${version}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>svc</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/main.css">
<script type="module" src="${base}/main.js"></script>
<div id="app"></div>
<noscript>The dashboard needs scripts. The same interface is described at <a href="/api/openapi.json">/api/openapi.json</a>.</noscript>
</html>
`;
}
