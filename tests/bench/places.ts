/** How the benchmarks start the command line. */
import { fileURLToPath } from "node:url";

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const addressOfCli = ["run", "-A", "--no-check", "--config", at("deno.json"), at("cli.ts")];
