/**
 * A part of all changes of a hostile author, evenly spread over documents, places, values and commands; `deno task soak
 * hostile` runs all.
 */
import assert from "node:assert/strict";
import { casesOf, faultsOf, hostileProject } from "../support/hostile_documents.ts";
import { inFolder } from "../support/cli.ts";

/** Changed documents, each read by one command. */
const CASES = Number(Deno.env.get("SVC_HOSTILE_CASES") ?? 12);

Deno.test(
  "documents of a hostile author change nothing outside, and every command ends with a code",
  inFolder(async (folder) => {
    const project = await hostileProject(folder), each = Math.ceil(CASES / project.documents.length);
    assert.ok(project.documents.length >= 10, "documents of bundles, a result and shards");
    const faults: string[] = [];
    for (const [number, document] of project.documents.entries()) {
      const cases = casesOf(project, document), { commands } = document;
      // Steps without a common divisor reach every kind of value and every command.
      for (let at = 0; at < each; at++) {
        const one = cases[(number + at * (Math.floor(cases.length / each) | 1)) % cases.length];
        faults.push(...await faultsOf(project, one, [commands[(number + at) % commands.length]]));
      }
    }
    assert.deepEqual(faults, []);
  }),
);
