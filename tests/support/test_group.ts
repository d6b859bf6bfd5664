/**
 * Several test files in one process: shared modules are loaded, compiled and warmed up once. `tests/run.ts` starts this
 * file with a `GroupRequest` in the environment, and `tests/support/group_output.ts` reads what it prints.
 *
 * The tests of a file stay together. Their names begin with the path of the file. A last entry of each file runs its hooks,
 * compares the state that files share, and says that the file has ended. A file that does not load is one failed test.
 */
// Takes the hook of Deno before it is replaced here.
import "./process_end.ts";
import { AFTER_ALL, BEFORE_ALL, GROUP_VARIABLE, type GroupRequest, LOAD, mark } from "./group_output.ts";
import { ownCpuS } from "./process_tree.ts";
import { shuffled } from "./shuffle.ts";

type Hook = () => void | Promise<void>;

const { files, filter, seed }: GroupRequest = JSON.parse(Deno.env.get(GROUP_VARIABLE)!);
// Programs that the tests start do not see it.
Deno.env.delete(GROUP_VARIABLE);

const define = Deno.test, exit = Deno.exit;
/** Files that do not restore what they replace would change the tests of other files. */
const WATCHED: [string, object, string[]][] = [
  ["globalThis", globalThis, [
    "setTimeout",
    "setInterval",
    "queueMicrotask",
    "fetch",
    "Date",
    "Worker",
    "SharedArrayBuffer",
  ]],
  ["console", console, ["log", "info", "warn", "error", "debug"]],
  ["Date", Date, ["now"]],
  ["Math", Math, ["random"]],
  ["performance", performance, ["now"]],
  ["Deno", Deno, ["Command", "exit", "test"]],
];

function sharedState(): Map<string, unknown> {
  const values = WATCHED.flatMap(([name, object, keys]) =>
    keys.map((key) => [`${name}.${key}`, Reflect.get(object, key)] as const)
  );
  const variables = Object.entries(Deno.env.toObject()).map(([name, value]) =>
    [`the variable ${name}`, value] as const
  );
  return new Map<string, unknown>([["the working directory", Deno.cwd()], ...variables, ...values]);
}

function requireUnchanged(before: Map<string, unknown>): void {
  const after = sharedState();
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key));
  if (changed.length === 0) return;
  throw new Error(
    `The file changes ${changed.join(", ")} for files that share its process. Restore it, or write in the file ` +
      '"// Process of its own:" and the reason',
  );
}

/** Whether a filter of `deno test` takes a name: a text, or an expression between slashes. */
function isWanted(name: string): boolean {
  if (filter === undefined) return true;
  const expression = /^\/(.*)\/$/.exec(filter);
  return expression === null ? name.includes(filter) : new RegExp(expression[1]).test(name);
}

/** The forms of a test: name and function, options before or within them, and all in one object. */
function definitionOf(args: unknown[]): Deno.TestDefinition {
  const fn = args.find((part) => typeof part === "function");
  const name = args.find((part) => typeof part === "string");
  const options = args.find((part) => typeof part === "object") ?? {};
  return { name: fn?.name, ...options, ...name === undefined ? {} : { name }, ...fn && { fn } } as Deno.TestDefinition;
}

class GroupedFile {
  readonly #tests: Deno.TestDefinition[] = [];
  readonly #before: Hook[] = [];
  readonly #after: Hook[] = [];

  constructor(readonly path: string, readonly url: string) {}

  async load(): Promise<void> {
    const before = sharedState();
    const cpuS = ownCpuS(), startedMs = performance.now();
    console.log(mark({ loads: this.path }));
    Reflect.set(Deno, "test", this.#replaced());
    // Deno would end the group meanwhile, as if it had passed.
    Reflect.set(Deno, "exit", (code = 0) => {
      throw new Error(`The file ends its process while it loads, with code ${code}`);
    });
    try {
      await import(this.url);
      restore();
      requireUnchanged(before);
    } catch (error) {
      this.#tests.splice(0, Infinity, { name: LOAD, fn: () => Promise.reject(error) });
    } finally {
      restore();
    }
    const wanted = this.#tests.filter(({ name }) => name === LOAD || isWanted(name));
    console.log(mark({ tests: wanted.length, cpuS: since(cpuS), seconds: (performance.now() - startedMs) / 1000 }));
    this.#register(seed === undefined ? wanted : shuffled(wanted, seed));
  }

  /** `Deno.test` while this file loads. */
  #replaced(): typeof Deno.test {
    const test = (...args: unknown[]) => this.#add(this.#tests, definitionOf(args));
    const members = {
      ignore: (...args: unknown[]) => this.#add(this.#tests, { ...definitionOf(args), ignore: true }),
      only: (...args: unknown[]) => this.#add(this.#tests, { ...definitionOf(args), only: true }),
      beforeAll: (hook: Hook) => this.#add(this.#before, hook),
      afterAll: (hook: Hook) => this.#add(this.#after, hook),
    };
    return Object.assign(test, members) as unknown as typeof Deno.test;
  }

  #add<Part>(parts: Part[], part: Part): void {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = Infinity;
    const { stack } = new Error();
    Error.stackTraceLimit = limit;
    // It would be missing from the next file that imports the module.
    if (!stack!.includes(this.url)) {
      throw new Error("A module of several files of tests defines a test or a hook; use atProcessEnd, or a function");
    }
    parts.push(part);
  }

  #register(tests: Deno.TestDefinition[]): void {
    const name = (text: string) => `${this.path}: ${text}`;
    let state = new Map<string, unknown>(), cpuS: number | null = null, startedMs = 0;
    define({
      name: name(BEFORE_ALL),
      fn: async () => {
        [state, cpuS, startedMs] = [sharedState(), ownCpuS(), performance.now()];
        for (const hook of this.#before) await hook();
      },
    });
    for (const test of tests) define({ ...test, name: name(test.name) });
    define({
      name: name(AFTER_ALL),
      fn: async () => {
        // Hooks run in the reverse order, as in a process of their own.
        const errors: unknown[] = [];
        for (const hook of this.#after.toReversed()) {
          try {
            await hook();
          } catch (error) {
            errors.push(error);
          }
        }
        // What has been closed settles before the next test counts its operations.
        for (let turn = 0; turn < 3; turn++) await new Promise((done) => setTimeout(done, 0));
        console.log(mark({ ends: this.path, cpuS: since(cpuS), seconds: (performance.now() - startedMs) / 1000 }));
        if (errors.length > 1) throw new AggregateError(errors, errors.join("; "));
        if (errors.length > 0) throw errors[0];
        requireUnchanged(state);
      },
    });
  }
}

function restore(): void {
  Reflect.set(Deno, "test", define);
  Reflect.set(Deno, "exit", exit);
}

function since(before: number | null): number | null {
  const now = ownCpuS();
  return before === null || now === null ? null : now - before;
}

for (const { path, url } of files) await new GroupedFile(path, url).load();
