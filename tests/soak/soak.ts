/** `deno task soak` measures the memory of a server, `deno task soak faults` performs commands with faults below them. */
await import(Deno.args[0] === "faults" ? "./faults.ts" : "./memory.ts");
