import assert from "node:assert/strict";
import { fromFileUrl } from "./support/paths.ts";

const ROOT = new URL("../", import.meta.url);

/** Rooms from the ground up; a module imports from its own room and from those below. */
const STOREYS: string[][] = [
  ["lib/numeric"],
  ["lib/contract"],
  ["lib/artifact"],
  ["lib/onnx"],
  ["lib/recipe"],
  ["lib/research"],
  ["lib/training", "lib/model"],
  ["lib/fetch"],
  ["lib/plan"],
  ["lib/execute"],
  ["lib/run"],
  ["lib/figure"],
  ["lib/template", "lib/benchmark", "lib/adapter", "lib/capture"],
  ["lib/http"],
  // `svc ui serve` starts the server.
  ["lib/cli"],
];
const OPERATIONS_MAY_USE = ["ops", "lib/contract", "lib/numeric", "lib/artifact"];

interface GraphModule {
  specifier: string;
  dependencies?: { specifier: string; code?: { specifier?: string }; type?: { specifier?: string } }[];
}

async function moduleGraph(entry: string): Promise<GraphModule[]> {
  const command = new Deno.Command(Deno.execPath(), { args: ["info", "--json", fromFileUrl(new URL(entry, ROOT))] });
  const { stdout, success } = await command.output();
  assert.ok(success, `deno info ${entry}`);
  return JSON.parse(new TextDecoder().decode(stdout)).modules;
}

/** Path from the root, or null for a module that is not ours. */
const pathOf = (specifier: string) => specifier.startsWith(ROOT.href) ? specifier.slice(ROOT.href.length) : null;
const roomOf = (path: string) => path.startsWith("lib/") ? path.split("/").slice(0, 2).join("/") : path.split("/")[0];
const storeyOf = (room: string) => STOREYS.findIndex((rooms) => rooms.includes(room));

/** Why an import goes the wrong way, or null. */
function objection(from: string, to: string): string | null {
  const [source, target] = [roomOf(from), roomOf(to)];
  if (source === target || ["mod.ts", "cli.ts", "server.ts"].includes(source)) return null;
  // Data files are not code: they may be imported by whoever reads them.
  if (to.endsWith(".json") || to === "deno.lock") return null;
  if (source === "ops") {
    // The registry module is the place where the operations are handed to those above.
    return OPERATIONS_MAY_USE.includes(target) ? null : "operations see contract, numeric and artifact only";
  }
  // The page is built for whoever serves it, and takes pure parts of the library: types, typed JSON, layouts, figures.
  if (to === "ui/build.ts") return source === "lib/http" ? null : "only the server builds the page";
  if (source === "ui") {
    if (to === "lib/template/working_copy.ts") return null;
    return ["lib/contract", "lib/numeric", "lib/plan", "lib/figure"].includes(target) ? null : "the page speaks HTTP";
  }
  if (target === "ops") {
    return source === "lib/cli" || source === "lib/http" ? null : "only the faces bring operations in";
  }
  const [below, above] = [storeyOf(target), storeyOf(source)];
  if (below < 0 || above < 0) return "one of the two has no place in the house";
  return below < above ? null : "imports go downwards";
}

Deno.test("imports point one way", async () => {
  const wrong: string[] = [];
  let edges = 0;
  for (
    const entry of [
      "mod.ts",
      "cli.ts",
      "server.ts",
      "lib/execute/worker.ts",
      "lib/http/jobs/worker.ts",
      "lib/http/threads/worker.ts",
    ]
  ) {
    for (const { specifier, dependencies = [] } of await moduleGraph(entry)) {
      const from = pathOf(specifier);
      if (from === null) continue;
      for (const { code, type } of dependencies) {
        for (const target of [code?.specifier, type?.specifier]) {
          const to = target ? pathOf(target) : null;
          if (to === null) continue;
          edges++;
          const why = objection(from, to);
          if (why !== null) wrong.push(`${from} -> ${to}: ${why}`);
        }
      }
    }
  }
  assert.ok(edges > 100, "the graph was read");
  assert.deepEqual([...new Set(wrong)], []);
});

Deno.test("the rule itself notices an import that goes up", () => {
  assert.equal(objection("lib/numeric/a.ts", "lib/run/b.ts"), "imports go downwards");
  assert.equal(objection("ops/channel/a.ts", "lib/plan/b.ts"), "operations see contract, numeric and artifact only");
  assert.equal(objection("lib/plan/a.ts", "ops/index.ts"), "only the faces bring operations in");
  assert.equal(objection("lib/run/a.ts", "lib/plan/b.ts"), null);
});

Deno.test("each npm dependency is named in one place", async () => {
  const places = new Map<string, Set<string>>();
  for (
    const entry of [
      "mod.ts",
      "cli.ts",
      "server.ts",
      "lib/execute/worker.ts",
      "lib/http/jobs/worker.ts",
      "lib/http/threads/worker.ts",
    ]
  ) {
    for (const { specifier, dependencies = [] } of await moduleGraph(entry)) {
      const from = pathOf(specifier);
      if (from === null) continue;
      for (const dependency of dependencies) {
        const name = /^npm:((?:@[^/]+\/)?[^@/]+)/.exec(dependency.specifier)?.[1];
        if (name) places.set(name, (places.get(name) ?? new Set()).add(from));
      }
    }
  }
  assert.ok(places.has("zod"));
  assert.deepEqual([...places].filter(([, files]) => files.size > 1).map(([name, files]) => [name, [...files]]), []);
});
