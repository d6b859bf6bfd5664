/** `svc ops list` is written without its call, so that it loads no schemas: it is what would be made of the call. */
import assert from "node:assert/strict";
import { system } from "../../../lib/api/calls/system.ts";
import { Session } from "../../../lib/api/session.ts";
import { commandOf } from "../../../lib/cli/call_commands.ts";
import { opsList } from "../../../lib/cli/commands/ops_list.ts";
import type { CommandSpec } from "../../../lib/cli/command.ts";

Deno.test("the list of operations is the command of its call", () => {
  const { format: _, ...options } = opsList.options!;
  const plain = ({ usage, summary }: CommandSpec, given = options) => ({
    usage,
    summary,
    options: Object.entries(given).map(([name, { option }]) => [name, option.flags, option.description.toLowerCase()]),
  });
  const made = commandOf(system.operations, { ...system.operations.cli, name: "ops list" });
  assert.deepEqual(plain(opsList), plain(made, made.options));
});

Deno.test("the summaries of operations are parts of their contracts", async () => {
  await using svc = new Session();
  const without = ({ id, name, input_kinds, output_kinds }: Awaited<ReturnType<Session["summaries"]>>[number]) => ({
    id,
    name,
    input_kinds,
    output_kinds,
  });
  for (const filter of [undefined, "ENCODE", "no such operation"]) {
    const contracts = await svc.system.operations({ filter });
    assert.deepEqual(await svc.summaries(filter), contracts.map(without));
  }
});
