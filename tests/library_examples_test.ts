import assert from "node:assert/strict";
import { fromFileUrl } from "./support/paths.ts";

interface Declaration {
  kind: string;
  jsDoc?: { tags?: { kind: string; doc?: string }[] };
  def?: { elements?: DocSymbol[] };
}

interface DocSymbol {
  name: string;
  declarations: Declaration[];
}

/** What mod.ts exports, that of the namespace `kinds` among it; `z` is documented where it comes from. */
async function exportedSymbols(): Promise<DocSymbol[]> {
  const file = fromFileUrl(new URL("../mod.ts", import.meta.url));
  const { stdout, success } = await new Deno.Command(Deno.execPath(), { args: ["doc", "--json", file] }).output();
  assert.ok(success, "deno doc --json mod.ts");
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as { nodes: Record<string, { symbols: DocSymbol[] }> };
  return Object.values(nodes).flatMap(({ symbols }) => symbols).filter(({ name }) => name !== "z").flatMap((symbol) => [
    symbol,
    ...symbol.declarations.flatMap(({ def }) => def?.elements ?? []),
  ]);
}

Deno.test("every function and class that the library exports has an example that checks what it shows", async () => {
  const examples = new Map<string, string[]>();
  for (const { name, declarations } of await exportedSymbols()) {
    const callable = declarations.filter(({ kind }) => kind === "function" || kind === "class");
    if (callable.length === 0) continue;
    const tags = callable.flatMap(({ jsDoc }) => jsDoc?.tags ?? []);
    examples.set(name, tags.filter(({ kind }) => kind === "example").map(({ doc }) => doc ?? ""));
  }
  const named = (wrong: (docs: string[]) => boolean) =>
    [...examples].filter(([, docs]) => wrong(docs)).map(([id]) => id);
  for (const known of ["run", "Generator", "formatOfKind"]) assert.ok(examples.has(known), known);
  assert.deepEqual(named((docs) => docs.length === 0), [], "without an example");
  // console.assert only prints: an example that is wrong has to fail.
  const checks = (doc: string) =>
    doc.includes("```ts\n") && /\bassert(\.\w+)?\(/.test(doc.replaceAll("console.assert", ""));
  assert.deepEqual(named((docs) => !docs.every(checks)), [], "with an example that cannot fail");
});
