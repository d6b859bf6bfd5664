#!/usr/bin/env -S deno run -A
/** The command line, `svc`. */
import { main } from "./lib/cli/main.ts";

if (import.meta.main) Deno.exit(await main(Deno.args));
