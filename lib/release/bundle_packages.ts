/**
 * Bundles npm packages of many small modules into one module each: Deno loads zod and yaml in a fifth of the time. Built-in
 * modules of Node that a package names load at their first use. The import map of deno.json names the bundles, a program
 * that is imported by URL loads the packages themselves.
 *
 *     deno task build:packages
 */
import { PROGRAM_ROOT } from "../artifact/program.ts";
import { fullLock, packageOf } from "./packages.ts";

/** Specifier, and its members that no module uses and that hold many modules. Exported for tests. */
export const BUNDLED: Readonly<Record<string, readonly string[]>> = {
  // Both hold the messages of all languages.
  "npm:zod@^4.6.7": ["core", "locales"],
  "npm:yaml@^2.9.1": [],
  // Its program starts processes for commands that are programs of their own; here none is.
  "npm:commander@^15.1.0": [],
};

/** The bundle of a package, relative to the program's root. Exported for tests. */
export const bundleOf = (specifier: string): string =>
  `lib/contract/packages/${packageOf(specifier.slice("npm:".length)).name}.js`;

/** The text of a bundle. Exported for tests. */
export async function bundlePackage(specifier: string): Promise<string> {
  const { name } = packageOf(specifier.slice("npm:".length));
  const locked = `${name}@${fullLock().specifiers[specifier]}`;
  const all = Object.keys(await import(`npm:${locked}`)), left = ["default", "z", "module.exports"];
  const names = all.filter((member) => !left.includes(member) && !BUNDLED[specifier].includes(member)).sort();
  const folder = await Deno.makeTempDir({ prefix: "svc-bundle-" });
  try {
    await Deno.writeTextFile(`${folder}/members.ts`, `export { ${names.join(", ")} } from "npm:${locked}";\n`);
    const exported = all.includes("z") ? "* as z" : "*";
    await Deno.writeTextFile(`${folder}/entry.ts`, `export ${exported} from "./members.ts";\n`);
    const { success, errors, outputFiles } = await Deno.bundle({
      entrypoints: [`${folder}/entry.ts`],
      outputDir: "/",
      platform: "browser",
      format: "esm",
      minify: true,
      write: false,
    });
    if (!success) throw new Error(errors.map(({ text }) => text).join("\n"));
    const text = builtinsOnUse(new TextDecoder().decode(outputFiles![0].contents));
    return `// @ts-self-types="npm:${locked}"\n// ${locked}, license in THIRD_PARTY.md. Written by deno task build:packages.\n${text}`;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The part of `node:events` that commander inherits: Node's module takes a tenth of the start of a short command. */
const EVENTS = "class{#of={};on(name,take){(this.#of[name]??=[]).push(take);return this}" +
  "emit(name,...given){for(const take of this.#of[name]??[])take.apply(this,given);return this.listenerCount(name)>0}" +
  "listenerCount(name){return this.#of[name]?.length??0}}";

/** Imports of built-in modules as objects and functions that load theirs at the first use of a member. */
function builtinsOnUse(text: string): string {
  const found = "globalThis.process.getBuiltinModule";
  return text.replace(/import ?([\w$]+|\{[^}]*\}) ?from ?"(node:\w+)";/g, (_, names: string, module: string) => {
    if (module === "node:events") return `var ${/as (.*)\}/.exec(names)![1]}=${EVENTS};`;
    if (!names.startsWith("{")) {
      return `var ${names}=new Proxy({},{get:(_,name)=>${found}("${module}")[name]});`;
    }
    return names.slice(1, -1).split(",").map((name) => {
      const [member, own = member] = name.trim().split(/ +as +/);
      return `var ${own}=(...given)=>${found}("${module}").${member}(...given);`;
    }).join("");
  });
}

if (import.meta.main) {
  for (const specifier of Object.keys(BUNDLED)) {
    const text = await bundlePackage(specifier);
    await Deno.writeTextFile(new URL(bundleOf(specifier), PROGRAM_ROOT), text);
    console.log(`${bundleOf(specifier)} ${text.length} bytes`);
  }
}
