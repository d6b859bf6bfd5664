/** Figures of the page as PDF. */
import assert from "node:assert/strict";
import { openTestServer } from "./support.ts";

Deno.test("a figure of the page becomes a PDF; an SVG with references is refused, and a read-only server answers", async () => {
  await using server = await openTestServer({ readOnly: true });
  const ask = (svg: string) =>
    server.request("/api/figures/pdf", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ svg }),
    });
  const svg = (inner: string) => `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20">${inner}</svg>`;
  const made = await ask(svg('<text x="1" y="9" font-size="8px">Es/N0</text>'));
  assert.deepEqual([made.status, made.headers.get("content-type")], [200, "application/pdf"]);
  assert.match(new TextDecoder("latin1").decode(await made.bytes()), /^%PDF-[^]*\/FontFile2/);
  const refused = await ask(svg('<image href="file:///etc/passwd"/>'));
  assert.deepEqual([refused.status, (await refused.json()).code], [400, "usage_invalid"]);
});
