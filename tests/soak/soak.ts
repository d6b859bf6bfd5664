/**
 * `deno task soak` measures the memory of a server, `deno task soak faults` performs commands with faults below them, and
 * `deno task soak page` runs the tests of the page under a load.
 */
const [name] = Deno.args;
await import(name === "faults" ? "./faults.ts" : name === "page" ? "./page.ts" : "./memory.ts");
