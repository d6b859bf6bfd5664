#!/usr/bin/env -S deno run -A
/** The command line, `svc`. */
if (import.meta.main) {
  const [command, permissions] = Deno.args;
  // A compiled program is also the process of an adapter, which loads nothing else.
  if (command === "adapter-process") await (await import("./lib/adapter/process/entry.ts")).serveAdapter(permissions);
  // Of a run, the first thread of the steps loads beside the program.
  if (Deno.args.includes("recipe") && (Deno.args.includes("run") || Deno.args.includes("run-matrix"))) {
    (await import("./lib/execute/pool.ts")).startEarly();
  }
  const { main } = await import("./lib/cli/main.ts");
  Deno.exit(await main(Deno.args));
}
