/**
 * Builds the library for Node 20 and browsers: `lib/library/mod.ts` with everything that it imports as one module, lowered to
 * what Node 20 reads, and its types.
 *
 *     deno task library [folder]      writes build/library: an npm package with svc.js and svc.d.ts
 *
 * The types are bundled by rollup-plugin-dts under Node; npm fetches it, because only a release needs it.
 */
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "npm:typescript@^6.0.3";
import config from "../../deno.json" with { type: "json" };
import { PROGRAM_ROOT } from "../artifact/program.ts";
import { prettyJson } from "../contract/json.ts";
import { callTool, writeText } from "./npm_tool.ts";
import { fullLock, npmCache, packageOf } from "./packages.ts";

const ENTRY = "lib/library/mod.ts";
/** Packages whose types stand in those of the library: specifier, file of the types. */
const TYPED = [
  ["npm:zod@^4.6.7", "zod/index.d.ts"],
  ["npm:yaml@^2.9.1", "yaml/dist/index.d.ts"],
  ["npm:hono@^4.13.19", "hono/dist/types/index.d.ts"],
  ["npm:hono@^4.13.19/types", "hono/dist/types/types.d.ts"],
  ["npm:hono@^4.13.19/client", "hono/dist/types/client/index.d.ts"],
] as const;

/** Packages that operations call when they run, which the library does not. */
const LEFT_OUT = [
  "npm:@huggingface/tokenizers@^0.2.0",
  "npm:h5wasm@^0.8.11",
  "npm:pako@^2.1.0",
  "npm:@jsquash/avif@2.1.1/codec/enc/avif_enc.js",
  "npm:@jsquash/avif@2.1.1/codec/dec/avif_dec.js",
  "npm:@jsquash/webp@1.5.0/codec/enc/webp_enc_simd.js",
  "npm:@jsquash/webp@1.5.0/codec/dec/webp_dec.js",
];

async function bundle(file: string, minify: boolean): Promise<string> {
  const { success, errors, outputFiles } = await Deno.bundle({
    entrypoints: [file],
    outputDir: "/",
    platform: "browser",
    format: "esm",
    minify,
    write: false,
    external: LEFT_OUT,
  });
  if (!success) throw new Error(errors.map(({ text }) => text).join("\n"));
  return new TextDecoder().decode(outputFiles![0].contents);
}

/** Stands for modules that are imported, though no function of the library calls them: a call says so. */
const ABSENT = `function svcAbsent(name) {
  const call = () => { throw new Error("The library for Node and browsers has no " + name); };
  return new Proxy(call, { get: (_, key) => key === "env" ? {} : svcAbsent(name + "." + String(key)) });
}`;

/**
 * Lowers a module to ES2022, and replaces imports of Node's modules and of packages left out. Exported for tests.
 * @param text of an ECMAScript module
 */
export function lowered(text: string): string {
  const { factory } = ts;
  const replace: ts.TransformerFactory<ts.SourceFile> = (context) => (file) => {
    const visit = (node: ts.Node): ts.Node => {
      if (!ts.isImportDeclaration(node)) return node;
      const name = (node.moduleSpecifier as ts.StringLiteral).text;
      if (!name.startsWith("node:") && !LEFT_OUT.includes(name)) throw new Error(`The bundle imports ${name}`);
      const absent = factory.createCallExpression(factory.createIdentifier("svcAbsent"), undefined, [
        factory.createStringLiteral(name),
      ]);
      const { name: whole, namedBindings } = node.importClause!;
      const pattern = namedBindings !== undefined && ts.isNamedImports(namedBindings)
        ? factory.createObjectBindingPattern(
          namedBindings.elements.map(({ propertyName, name }) =>
            factory.createBindingElement(undefined, propertyName as ts.Identifier | undefined, name)
          ),
        )
        : whole ?? (namedBindings as ts.NamespaceImport).name;
      const declaration = factory.createVariableDeclaration(pattern, undefined, undefined, absent);
      return factory.createVariableStatement(
        undefined,
        factory.createVariableDeclarationList([declaration], ts.NodeFlags.Const),
      );
    };
    return ts.visitEachChild(file, visit, context);
  };
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, allowJs: true },
    transformers: { before: [replace] },
    fileName: "svc.js",
  });
  return `${ABSENT}\n${outputText}`;
}

/** The library as one module. Exported for tests. */
export async function libraryModule(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "svc-library-" });
  try {
    const file = join(folder, "svc.js");
    const whole = LEFT_OUT.reduce(
      (text, name) => text.replaceAll(`import(${JSON.stringify(name)})`, `Promise.resolve(svcAbsent("${name}"))`),
      await bundle(new URL(ENTRY, PROGRAM_ROOT).href, false),
    );
    await Deno.writeTextFile(file, lowered(whole));
    return await bundle(file, true);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * The declarations of the library by path: those of its modules that its entry reaches. The sources themselves are checked by
 * `deno check`.
 */
async function declarations(): Promise<Map<string, string>> {
  const root = fileURLToPath(PROGRAM_ROOT), registry = join(await npmCache(), "registry.npmjs.org");
  const folder = await Deno.makeTempDir({ prefix: "svc-types-" });
  try {
    const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["types"] }).output();
    await Deno.writeFile(join(folder, "deno.d.ts"), stdout);
    const modules = join(folder, "node_modules");
    await Deno.mkdir(join(modules, "@types"), { recursive: true });
    for (const [name, version] of Object.entries(typePackages())) {
      await Deno.symlink(join(registry, name, version), join(modules, name), { type: "dir" });
    }
    const program = ts.createProgram(
      [join(folder, "deno.d.ts"), join(modules, "@types/node/index.d.ts"), join(root, ENTRY)],
      {
        target: ts.ScriptTarget.ESNext,
        module: ts.ModuleKind.ESNext,
        moduleResolution: ts.ModuleResolutionKind.Bundler,
        strict: true,
        allowImportingTsExtensions: true,
        resolveJsonModule: true,
        declaration: true,
        emitDeclarationOnly: true,
        skipLibCheck: true,
        preserveSymlinks: true,
        lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
        types: [],
        rootDir: root,
        outDir: "/",
        paths: Object.fromEntries(TYPED.map(([specifier, path]) => [specifier, [join(modules, path)]])),
      },
    );
    const written = new Map<string, string>();
    const { diagnostics } = program.emit(
      undefined,
      (path, text) => written.set(path.replace(/^\/+/, ""), text),
      undefined,
      true,
    );
    const problems = diagnostics.map(({ file, messageText }) =>
      `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`
    );
    if (problems.length > 0) throw new Error(problems.join("\n"));
    return reachedFrom(ENTRY.replace(/\.ts$/, ".d.ts"), written);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Packages whose types stand in those of the library, with their locked versions. */
const typePackages = () =>
  Object.fromEntries(
    Object.keys(fullLock().npm).map(packageOf).filter(({ name }) => /^(@types\/node|hono|yaml|zod)$/.test(name))
      .map(({ name, version }) => [name, version]),
  );

/** Declarations that an entry reaches, with the names that other programs use for modules. */
function reachedFrom(entry: string, all: ReadonlyMap<string, string>): Map<string, string> {
  const reached = new Map<string, string>(), waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const text = all.get(path);
    if (text === undefined) throw new Error(`The compiler wrote no types of ${path}`);
    if (reached.has(path)) continue;
    const plain = text.replace(/^import "[^"]+";\n/gm, "");
    for (const [, target] of plain.matchAll(SPECIFIER)) {
      if (target.startsWith(".")) waiting.push(join(dirname(path), target.replace(/\.ts$/, ".d.ts")));
    }
    reached.set(
      path,
      plain.replace(SPECIFIER, (whole, target) => {
        return whole.replace(target, target.replace(/^npm:([\w-]+)@[^/]+/, "$1").replace(/\.ts$/, ".js"));
      }),
    );
  }
  return reached;
}

const SPECIFIER = /(?:\bfrom |\bimport\()"([^"]+)"/g;

const BUNDLERS = ["rollup@4.52.5", "rollup-plugin-dts@6.5.1", "typescript@6.0.3"];
const BUNDLE_TYPES = `import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
const [input, file] = process.argv.slice(2);
const onLog = (level, log, handler) => level === "warn" ? handler("error", log) : handler(level, log);
const bundle = await rollup({ input, plugins: [dts()], external: /^(node:|zod|yaml|hono)/, onLog });
await bundle.write({ file });
`;

/** The declarations of the library as one file. */
async function bundledTypes(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "svc-types-" });
  try {
    for (const [path, text] of await declarations()) await writeText(join(folder, "types", path), text);
    await writeText(join(folder, "package.json"), `{"private": true, "type": "module"}\n`);
    await writeText(join(folder, "bundle.mjs"), BUNDLE_TYPES);
    await callTool(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", ...BUNDLERS], folder);
    const modules = join(await npmCache(), "registry.npmjs.org");
    for (const [name, version] of Object.entries(typePackages())) {
      const link = join(folder, "node_modules", name);
      await Deno.mkdir(dirname(link), { recursive: true });
      await Deno.symlink(join(modules, name, version), link, { type: "dir" });
    }
    await callTool(["node", "bundle.mjs", join("types", ENTRY.replace(/\.ts$/, ".d.ts")), "svc.d.ts"], folder);
    return await Deno.readTextFile(join(folder, "svc.d.ts"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Description of the package, without its dependencies. Exported for tests. */
export const LIBRARY = {
  name: `${config.name}-library`,
  version: config.version,
  description: "Compiles, plans and lints experiments of svc in Node and browsers, and calls its server",
  license: config.license,
  type: "module",
  engines: { node: ">=20" },
  exports: { ".": { types: "./svc.d.ts", default: "./svc.js" } },
};

/**
 * Writes the package of the library. Exported for tests.
 * @param folder absolute, new or empty
 */
export async function buildLibrary(folder: string): Promise<void> {
  const [module, types] = await Promise.all([libraryModule(), bundledTypes()]);
  // For types alone: the module holds its packages. The types of Node are those of node:sqlite.
  const used = Object.entries(typePackages()).filter(([name]) =>
    new RegExp(`from '${name.replace("@types/node", "node:")}`).test(types)
  );
  await writeText(join(folder, "svc.js"), module);
  await writeText(join(folder, "svc.d.ts"), types);
  await writeText(join(folder, "package.json"), prettyJson({ ...LIBRARY, dependencies: Object.fromEntries(used) }));
  for (const name of ["LICENSE", "THIRD_PARTY.md"]) {
    await Deno.copyFile(new URL(name, PROGRAM_ROOT), join(folder, name));
  }
}

if (import.meta.main) {
  const folder = resolve(Deno.args[0] ?? "build/library");
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await buildLibrary(folder);
}
