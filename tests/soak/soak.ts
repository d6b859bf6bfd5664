/**
 * `deno task soak` measures the memory of a server, `deno task soak faults` performs commands with faults below them, and
 * `deno task soak hostile` runs every command on every changed document of a hostile author.
 */
const MODULES: Record<string, string> = { faults: "./faults.ts", hostile: "./hostile.ts" };
await import(MODULES[Deno.args[0]] ?? "./memory.ts");
