/** `svc mcp serve`: the tools of a project for programs that speak the Model Context Protocol. By hand: a server. */
import { command, type CommandSpec, flag } from "../command.ts";

export const mcpCommands: CommandSpec[] = [
  command({
    usage: "mcp serve",
    summary: "serve the tools of this project over standard input and output (Model Context Protocol)",
    options: { readOnly: flag("--read-only", "offer only tools that neither write nor run") },
    notes:
      "An assistant starts it: see docs/guides/assistants.md. What would remove or overwrite needs a confirmation.",
    examples: ["svc mcp serve", "svc --project-root my_project mcp serve --read-only"],
    async call({ svc, options, context, cancellation }) {
      const { serveMcp } = await import("../../mcp/serve.ts");
      await serveMcp(svc, {
        readOnly: options.readOnly ?? false,
        onError: ({ message }) => context.note(message),
        cancellation,
      });
    },
    json: null,
    show() {},
  }),
];
