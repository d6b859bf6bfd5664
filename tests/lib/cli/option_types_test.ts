/** Options of commands have the names and types of their declarations: `deno check` sees the errors that are expected here. */
import assert from "node:assert/strict";
import { recipes } from "../../../lib/api/calls/recipes.ts";
import { runs } from "../../../lib/api/calls/runs.ts";
import { commandOf, commandsOf } from "../../../lib/cli/call_commands.ts";
import { TABLE_FORMAT } from "../../../lib/cli/command.ts";

Deno.test("a wrong name of an option or a wrong type of its value is a type error", () => {
  const { list, show } = runs;
  const [listing, showing] = commandsOf("runs", { list, show }, {
    list: {
      options: { format: TABLE_FORMAT },
      show(rows, { options }) {
        const format: "table" | "csv" | "md" = options.format, limit: number = options.limit;
        const where: Record<string, string> | undefined = options.where;
        // @ts-expect-error -- the field is `status`
        const state: unknown = options.state;
        // @ts-expect-error -- a state is a text
        const status: number | undefined = options.status;
        return String([rows.length, format, limit, where, state, status]);
      },
    },
    show: {
      show(_run, { args, options }) {
        const [run]: [string] = args;
        // @ts-expect-error -- the run is an argument
        return run + options.runId;
      },
    },
  });
  const running = commandOf(recipes.run, { name: "recipe run", usage: "<file>", without: ["mode"] }, {
    // @ts-expect-error -- the field is `use_plan_cache`
    call: (_given, perform) => perform({ plan_cache: false }),
    exit({ status }, { options: { planCache, lint, ...options } }) {
      const switches: boolean[] = [planCache, lint];
      // @ts-expect-error -- the switch is `planCache`
      switches.push(options.usePlanCache);
      // @ts-expect-error -- the command leaves the mode out
      switches.push(options.compat);
      return status === "completed" && switches.length > 0 ? 0 : 1;
    },
  });
  // @ts-expect-error -- there is no such call
  commandsOf("runs", { list }, { lists: { examples: [] } });
  assert.deepEqual([listing, showing, running].map(({ usage }) => usage), [
    "runs list",
    "runs show <run>",
    "recipe run <file>",
  ]);
  assert.deepEqual(Object.keys(listing.options!).sort(), ["format", "limit", "recipe", "status", "where"]);
  assert.ok("planCache" in running.options! && !("compat" in running.options));
});
