/** The program without its repository: a packaged program runs everything, offline and from an empty home. */
import assert from "node:assert/strict";
import { basename, dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import config from "../../../deno.json" with { type: "json" };
import { buildPackage } from "../../../lib/release/npm.ts";
import { compile, compileArguments, STARTED_BY_URL } from "../../../lib/release/compile.ts";
import { packageOf, runtimeLock } from "../../../lib/release/packages.ts";
import { programFiles } from "../../../lib/release/program.ts";
import { codeBlocks } from "../../docs/blocks.ts";
import { withBuiltPage } from "../../support/built_page.ts";
import { commandHost, inFolder } from "../../support/cli.ts";
import { readModuleGraph } from "../../support/module_graph.ts";
import { needs } from "../../support/needs.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";
import { sizeOf } from "../../support/sample.ts";
import { performer } from "../../support/shell.ts";
import { checkProgram } from "./check_program.ts";
import { call, checkout, type Installed, plans, walk } from "./walk.ts";

/** The last words of a command, or null where it cannot be started. */
async function started(program: string, ...args: string[]): Promise<string | null> {
  try {
    return new TextDecoder().decode((await new Deno.Command(program, { args, stderr: "null" }).output()).stdout).trim();
  } catch {
    return null;
  }
}

const node = await started("node", "--version");

Deno.test({
  name: "the npm package runs from an empty home without a network, and plans as the checkout does, in every form",
  ...needs("Node.js", node),
  fn: inFolder(async (root) => {
    const built = join(root, "package"), home = join(root, "home");
    await withBuiltPage((_page, state) => buildPackage(built, state));
    await Deno.mkdir(home);
    const prefix = await installPackage(built, root), folder = join(prefix, "lib/node_modules", config.name);
    const program = join(folder, "program"), adapter = join(program, "adapters/dct_slices");
    const env = { HOME: home, XDG_CACHE_HOME: join(home, "cache"), npm_config_registry: "none:" };
    // Commands of the launcher and its arguments: nothing of the checkout is read, so its files are the whole program.
    const flags = [
      ...["run", "-A", `--deny-read=${ROOT_PATH}`, "--no-check"],
      ...["--config", join(folder, "run/deno.json"), "--lock", join(folder, "run/deno.lock"), "--frozen"],
      ...["--cached-only", "--no-remote"],
    ];
    const hosted = { cwd: root, env: { ...env, DENO_DIR: join(home, "cache/svc/deno-0.1.0") } };
    const main = pathToFileURL(join(program, "lib/cli/main.ts")).href;
    await using host = commandHost(flags, hosted, main);
    const npm = {
      command: [join(prefix, "bin/svc")],
      env: { ...env, SVC_DENO: Deno.execPath() },
      perform: host.perform,
      adapter,
    };
    const project = await walk(npm, root);
    const unknown = await call({ ...npm, perform: undefined }, ["runs", "show", "nothing"], project);
    assert.equal(unknown.code, 4, "the launcher ends with the code of the program");

    await newcomer(npm, root);
    await signals(npm, project);

    const planned = await plans(npm, project);
    assert.deepEqual(planned, await plans(checkout(adapter), project));
    // A compiled program cannot read its sources: it takes their listed digests, whatever the files hold.
    await Deno.writeTextFile(join(program, "packaged.json"), '{"schema_version": 1, "form": "compiled"}');
    const source = join(program, "ops/codec/jpeg.ts");
    await Deno.writeTextFile(source, `${await Deno.readTextFile(source)}\n// altered\n`);
    await using compiled = commandHost(flags, hosted, main);
    assert.deepEqual(await plans({ ...npm, perform: compiled.perform }, project), planned);
  }),
});

/** The line of README.md that installs the package, and the commands of a newcomer behind it. */
async function readmeBlocks(): Promise<{ install: string; study: string[]; pruning: string[] }> {
  const [, [install, ...study], pruning] = codeBlocks(await Deno.readTextFile(join(ROOT_PATH, "README.md")), "sh")
    .map((block) => block.split("\n"));
  return { install, study, pruning };
}

/** Runs a line of a shell with npm, without a network and so without Deno, which is optional */
async function npmLine(line: string, root: string, prefix: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("bash", {
    args: ["-c", line],
    cwd: root,
    env: {
      HOME: join(root, "home"),
      npm_config_prefix: prefix,
      npm_config_offline: "true",
      npm_config_omit: "optional",
      npm_config_audit: "false",
      npm_config_fund: "false",
    },
    stdin: "null",
  }).output();
  assert.ok(success, `${line}: ${new TextDecoder().decode(stderr)}`);
}

/** Paths of the files of a folder, sorted. */
const filesOf = (folder: string, path = ""): string[] =>
  [...Deno.readDirSync(join(folder, path))].flatMap(({ name, isDirectory }) => {
    const inside = path === "" ? name : `${path}/${name}`;
    return isDirectory ? filesOf(folder, inside) : [inside];
  }).sort();

/**
 * The files that npm is given: it takes a file or leaves it out by its name and those of its folders, so one file of each name of a
 * folder and of each ending, and those whose names npm may treat in a special way; all files under `deno task soak whole`.
 */
function filesForNpm(files: string[]): string[] {
  if (FULL_SIZE) return files;
  const special = /^\.|(^|[-.])lock|npm|^(package\.json|svc\.mjs)$/;
  const byFolder = new Map(files.flatMap((path) => dirname(path).split("/").map((name) => [name, path])));
  const byEnding = new Map(files.map((path) => [extname(path) || basename(path), path]));
  const chosen = new Set([...byFolder.values(), ...byEnding.values()]);
  return files.filter((path) => chosen.has(path) || (special.test(basename(path)) && !path.startsWith("cache/")));
}

/**
 * Packs the folder into `build/` and installs the tarball by the line of README.md into an empty prefix. npm takes longer over the
 * bytes and names of 6,000 files of 120 MB than all that follows, and does nothing with them: it gets some of them, empty, and all
 * are moved to where it puts them.
 * @returns the prefix
 */
async function installPackage(folder: string, root: string): Promise<string> {
  const prefix = join(root, "prefix"),
    build = join(root, "build"),
    empty = join(root, "empty"),
    files = filesOf(folder),
    given = filesForNpm(files);
  for (const path of given) {
    await Deno.mkdir(dirname(join(empty, path)), { recursive: true });
    await Deno.writeTextFile(join(empty, path), "");
  }
  for (const path of ["package.json", "bin/svc.mjs"]) await Deno.copyFile(join(folder, path), join(empty, path));
  await Deno.mkdir(build);
  const { install } = await readmeBlocks();
  for (const line of [`npm pack '${empty}' --pack-destination '${build}'`, install]) await npmLine(line, root, prefix);
  const installed = join(prefix, "lib/node_modules", config.name);
  assert.deepEqual(filesOf(installed), given);
  const byNpm = new Set(given);
  for (const path of files) {
    const from = join(folder, path), to = join(installed, path);
    // The mode that npm gave a file stays.
    if (byNpm.has(path)) Deno.writeFileSync(to, Deno.readFileSync(from));
    else {
      Deno.mkdirSync(dirname(to), { recursive: true });
      Deno.renameSync(from, to);
    }
  }
  return prefix;
}

/**
 * The blocks of README.md: from the installation to a figure with at most five commands; then a run is pruned. Points of the sweep
 * get one replicate and the run one photograph, and as many as printed under `deno task soak whole`.
 */
async function newcomer({ command, env, perform }: Required<Installed>, root: string): Promise<void> {
  const { study, pruning } = await readmeBlocks();
  assert.ok(study.length <= 4);
  const shorter = (line: string) =>
    FULL_SIZE ? line : line.replace("--until-errors 100", "$& --replicates 1")
      .replace("run quickstart", "$& --set data.image_ids=camera");
  const lines = [...study, "ls .svc/benchmarks/*/figures/*.svg", ...pruning].map(shorter);
  const script = ["set -e -o pipefail", ...lines].join("\n")
    .replace("<result>", "$(ls .svc/benchmarks | tail -n 1)").replaceAll("<run>", "$(ls .svc/runs | tail -n 1)");
  await using svc = performer(perform, command);
  const bin = join(root, "bin"),
    bash = {
      command: ["bash", "-c"],
      env: { ...env, PATH: `${bin}:${Deno.env.get("PATH")}` },
      adapter: "",
    };
  await Deno.mkdir(bin);
  await Deno.writeTextFile(join(bin, "svc"), `#!/usr/bin/env bash\n${svc.command}\n`, { mode: 0o755 });
  const { code, stdout, stderr } = await call(bash, [script], root);
  assert.equal(code, 0, stdout + stderr);
}

/**
 * Ctrl+C reaches launcher and program at once, and cancels once; other signals reach the program through the launcher, which passes
 * them in one way: the first one here, and each under `deno task soak whole`.
 */
async function signals({ command: [program], env }: Required<Installed>, project: string): Promise<void> {
  const link = (id: string, from: string) =>
    `  - {id: ${id}, op: wireless.digital_link, params: {modulation: qam16}, inputs: {bits: ${from}.bits}}\n`;
  const links = Array.from({ length: 12 }, (_, i) => link(`link_${i}`, i === 0 ? "data" : `link_${i - 1}`)).join("");
  const data = "  - {id: data, op: source.random_bits, params: {bit_count: 4000000}}\n";
  await Deno.writeTextFile(join(project, "long.yaml"), `name: long\nmetadata: {seed: 1}\nsteps:\n${data}${links}`);
  const killed = (kill: string) =>
    `rm -f out err; ${program} recipe run long.yaml > out 2> err & pid=$!
until grep -qs 1/13 err; do kill -0 $pid || exit 1; sleep 0.05; done
${kill}; wait $pid; echo $? $(grep -c ^canceled out)`;
  const sent = [["kill -INT -- -$pid", "130 1\n"], ["kill -TERM $pid", "143 0\n"], ["kill -HUP $pid", "129 0\n"]]
    .slice(0, sizeOf(2, 3));
  const script = ["set -m", ...sent.map(([kill]) => killed(kill))].join("\n");
  const { stdout, stderr } = await call({ command: ["bash", "-c"], env, adapter: "" }, [script], project);
  assert.equal(stdout, sent.map(([, printed]) => printed).join(""), stderr);
}

Deno.test("the lock file of a packaged program has its packages, and none of tests and page", () => {
  const { npm, specifiers } = runtimeLock(programFiles(), ROOT_PATH);
  const names = new Set(Object.keys(npm).map((key) => packageOf(key).name));
  for (const name of ["zod", "yaml", "hono", "commander", "onnxruntime-web", "vega", "d3-array"]) {
    assert.ok(names.has(name), name);
  }
  for (const name of ["playwright-core", "assemblyscript", "binaryen", "preact", "axe-core"]) {
    assert.ok(!names.has(name), name);
  }
  assert.ok(Object.keys(specifiers).every((specifier) => names.has(packageOf(specifier.slice(4)).name)));
});

Deno.test("deno compile includes every worker, and every file that is read", async () => {
  const files = programFiles(), folder = "/program";
  const args = compileArguments({ program: folder, config: "c", lock: "l", files, output: "svc" });
  const included = args.flatMap((arg, index) => arg === "--include" ? [args[index + 1].slice(folder.length + 1)] : []);
  const covered = (path: string) => included.some((given) => path === given || path.startsWith(`${given}/`));
  const read = files.filter((path) => /^(recipes|benchmarks|adapters|docs)\/|^deno\.|^LICENSE/.test(path));
  assert.ok(read.length > 300);
  assert.deepEqual(read.filter((path) => !covered(path)), []);
  const graph = await readModuleGraph();
  const named = files.flatMap((path) => [...graph.get(path)?.urls ?? []])
    .filter((path) => /^lib\/(?!numeric\/(native|assembly))/.test(path));
  assert.deepEqual([...new Set(named)].filter((path) => !covered(path)), []);
  assert.deepEqual(STARTED_BY_URL.filter((path) => !named.includes(path)), [], "files that nothing starts");
});

Deno.test(
  "the check of a program fails for one that does nothing; the npm package passes it above",
  inFolder(async (root) => {
    const program = join(root, "svc");
    await Deno.writeTextFile(program, "#!/bin/sh\nexit 3\n", { mode: 0o755 });
    await assert.rejects(checkProgram(program), /svc init project/);
  }),
);

const runtime = Deno.env.get("DENORT_BIN");

Deno.test({
  name: "the compiled program runs from an empty home",
  ...needs("DENORT_BIN: the program of the runtime archive of this Deno", runtime),
  fn: inFolder(async (root) => {
    const program = join(root, "svc"), { success, text } = await compile(program);
    assert.ok(success, text);
    await checkProgram(program);
  }),
});
