/**
 * Tests of shipped recipes, packs and documents at the full sizes that the documents state: `deno task soak shipped [parts of paths]`.
 * It exits with the code of the tests.
 */
import { join } from "node:path";
import { ROOT_PATH } from "../support/paths.ts";

const FILES = ["tests/recipes/shipped_run_test.ts", "tests/docs/documents_test.ts"];
const [, ...asked] = Deno.args, files = asked.length > 0 ? asked : FILES.map((file) => join(ROOT_PATH, file));

const { code } = await new Deno.Command(Deno.execPath(), {
  args: ["run", "-A", "--frozen", join(ROOT_PATH, "tests/run.ts"), ...files],
  env: { SVC_TEST_SIZE: "full" },
  stdin: "null",
}).spawn().status;
Deno.exit(code);
