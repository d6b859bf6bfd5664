/** The example notebooks, executed from a new project: in the Deno kernel, and in Python on the runs that the first one left. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { CLI_ARGS, svc } from "../support/cli.ts";
import { needs } from "../support/needs.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { FULL_SIZE } from "../support/reduced_sizes.ts";
import { withModules } from "../support/python.ts";
import { performer } from "../support/shell.ts";

interface Cell {
  cell_type: string;
  outputs?: { output_type: string; data?: Record<string, string | string[]>; text?: string | string[] }[];
}

async function run(
  command: readonly string[],
  options: Deno.CommandOptions = {},
): Promise<{ success: boolean; text: string }> {
  const [program, ...args] = command;
  try {
    const { success, stdout, stderr } = await new Deno.Command(program, { args, stdin: "null", ...options }).output();
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    return { success, text };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { success: false, text: `no ${program}` };
    throw error;
  }
}

const PYTHON = "/usr/bin/python3";
const jupyter = (await run(["sh", "-c", "command -v jupyter-nbconvert"])).success;
const python = jupyter && await withModules(PYTHON, "ipykernel", "numpy", "pandas");
const drawing = python && await withModules(PYTHON, "matplotlib");

/** A project, and a home in which the Deno kernel is known. */
const root = await Deno.makeTempDir({ prefix: "svc-notebooks-" }), project = join(root, "project");
const env = {
  HOME: root,
  SVC_PROJECT: project,
  DENO_DIR: JSON.parse((await run([Deno.execPath(), "info", "--json"])).text).denoDir,
};

/**
 * Executes a notebook. A kernel may answer a cell after it said that it is idle, and that answer is lost: a notebook whose
 * cells lack results is executed again, at most five times, until each of them had its result in one execution.
 * @param results number of code cells that have a result
 * @returns the data of the results, a row for each code cell
 */
async function execute(name: string, kernel: string, cwd: string, results: number): Promise<Record<string, string>[]> {
  const found: Record<string, string>[] = [];
  for (let left = 5; left >= 0; left--) {
    for (const [cell, row] of (await executeOnce(name, kernel, cwd)).entries()) {
      found[cell] = { ...found[cell], ...row };
    }
    if (found.filter((row) => Object.keys(row).length > 0).length === results) break;
  }
  return found;
}

async function executeOnce(name: string, kernel: string, cwd: string): Promise<Record<string, string>[]> {
  const out = join(root, name);
  const { success, text } = await run([
    ...["jupyter-nbconvert", "--to", "notebook", "--execute", `--ExecutePreprocessor.kernel_name=${kernel}`],
    // A cell is a computation, which takes as long as the machine needs.
    ...["--ExecutePreprocessor.timeout=-1", "--output", out, join(cwd, name)],
  ], { cwd, env: { ...env, PATH: `${join(root, "bin")}:${Deno.env.get("PATH")}` } });
  assert.ok(success, text);
  const { cells } = JSON.parse(await Deno.readTextFile(out)) as { cells: Cell[] };
  return cells.filter(({ cell_type }) => cell_type === "code").map(({ outputs = [] }) => {
    const data = outputs.filter(({ output_type }) => output_type === "execute_result").at(-1)?.data ?? {};
    const printed = outputs.flatMap(({ output_type, text = [] }) => output_type === "stream" ? text : []).join("");
    if (printed !== "") return { printed };
    return Object.fromEntries(Object.entries(data).map(([type, parts]) => [type, [parts].flat().join("")]));
  });
}

/** Runs the cells of a notebook as its kernel does: prints the forms of the last expression, or what a cell printed, as JSON. */
const CELLS = `
import ast, contextlib, io, json, sys
sys.path.insert(0, "")
space, rows = {}, []
for source in json.loads(sys.argv[1]):
    tree, printed = ast.parse(source), io.StringIO()
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), space)
        value = None if last is None else eval(compile(last, "cell", "eval"), space)
    row = {} if value is None else {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        row["text/html"] = value._repr_html_()
    rows.append({"printed": printed.getvalue()} if printed.getvalue() else row)
print(json.dumps(rows))
`;

async function cellsOf(path: string): Promise<string[]> {
  const { cells } = JSON.parse(await Deno.readTextFile(path)) as { cells: (Cell & { source: string[] })[] };
  return cells.filter(({ cell_type }) => cell_type === "code").map(({ source }) => source.join(""));
}

/**
 * The sweeping notebook as a script that prints the forms of the last line of each cell, with fewer points and replicates; under
 * `deno task soak whole` in its kernel, which may execute it several times.
 */
async function executeDeno(name: string, folder: string, results: number): Promise<Record<string, string>[]> {
  if (FULL_SIZE) return await execute(name, "deno", folder, results);
  const cells = (await cellsOf(join(folder, name))).map((source) => {
    const lines = source.trimEnd().split("\n"), last = lines.pop()!.replace(/;$/, "");
    return `${lines.join("\n")}\nshown.push(await formsOf(${last}));\n`;
  }).join("").replace("../../mod.ts", new URL("../../mod.ts", import.meta.url).href)
    .replace("{ parallelPoints: 2 }", '{ points: ["0", "8", "9", "17"] }').replace("replicates: 2", "replicates: 1");
  const shown = `const shown = [], display = Symbol.for("Jupyter.display");
const formsOf = (value) => value[display]?.() ?? { "text/plain": Deno.inspect(value) };`;
  await Deno.writeTextFile(join(root, "cells.ts"), `${shown}\n${cells}console.log(JSON.stringify(shown));\n`);
  const { success, text } = await run([Deno.execPath(), ...CLI_ARGS.slice(0, -1), join(root, "cells.ts")], {
    cwd: folder,
    env,
  });
  assert.ok(success, text);
  return JSON.parse(text.split("\n").find((line) => line.startsWith("[{"))!);
}

/** A notebook for Python in a plain one, and under `deno task soak whole` in its kernel, which takes seconds to start. */
async function executePython(name: string, cwd: string, results: number): Promise<Record<string, string>[]> {
  if (FULL_SIZE) return await execute(name, "python3", cwd, results);
  const path = `${join(root, "bin")}:${Deno.env.get("PATH")}`;
  const { success, text } = await run([PYTHON, "-c", CELLS, JSON.stringify(await cellsOf(join(cwd, name)))], {
    cwd,
    env: { ...env, PATH: path, MPLBACKEND: "agg" },
  });
  assert.ok(success, text);
  const rows = JSON.parse(text.split("\n").find((line) => line.startsWith("["))!) as Record<string, string>[];
  assert.equal(rows.filter((row) => Object.keys(row).length > 0).length, results);
  return rows;
}

/** The sweeping notebook, executed once: the other one reads its runs. */
let swept: Promise<Record<string, string>[]> | undefined;
async function sweep(): Promise<Record<string, string>[]> {
  if (FULL_SIZE) assert.ok((await run([Deno.execPath(), "jupyter", "--install"], { env })).success);
  assert.equal((await svc(["init", project])).code, 0);
  return await executeDeno("sweep_and_compare.ipynb", join(ROOT_PATH, "docs/notebooks"), 6);
}

Deno.test({
  name: "the example notebook sweeps, plots and compares",
  ...needs("jupyter-nbconvert", jupyter),
  async fn() {
    const [graph, table, figure, result, compared, verdict] = await (swept ??= sweep());
    assert.match(graph["image/svg+xml"], /^<svg/);
    assert.match(table["text/html"], /<th>snr_db<\/th>/);
    assert.match(figure["image/svg+xml"], /^<svg/);
    assert.match(result["text/html"], /<table/);
    assert.match(compared["image/svg+xml"], /^<svg/);
    assert.match(verdict["text/plain"], /valid/);
  },
});

Deno.test({
  name: "the Python notebook reads the runs with the reader of the guide",
  ...needs("jupyter-nbconvert, and ipykernel, numpy and pandas for /usr/bin/python3", python),
  async fn() {
    const text = await Deno.readTextFile(join(ROOT_PATH, "docs/notebooks/read_results.ipynb"));
    const { cells } = JSON.parse(text) as { cells: { source: string[] }[] };
    const guide = await Deno.readTextFile(join(ROOT_PATH, "docs/guides/results_in_python.md"));
    assert.ok(guide.includes(cells[1].source.join("").trim()), "the notebook has the reader of the guide");
    await (swept ??= sweep());
    await Deno.writeTextFile(join(project, "read_results.ipynb"), text);
    const [, table, power] = await executePython("read_results.ipynb", project, 2);
    assert.match(table["text/html"], /channel\.ber/);
    const mean = Number(power["text/plain"]);
    assert.ok(mean > 1 && mean < 2.5, String(mean));
  },
});

Deno.test({
  name: "the Python notebook sweeps, reads arrays and draws with the client",
  ...needs("jupyter-nbconvert, and ipykernel, numpy, pandas and matplotlib for /usr/bin/python3", drawing),
  async fn() {
    const folder = join(root, "swept");
    assert.equal((await svc(["init", folder])).code, 0);
    await Deno.writeTextFile(join(folder, "svc.py"), (await svc(["client", "python"])).stdout);
    await Deno.mkdir(join(root, "bin"), { recursive: true });
    await using shared = performer(svc, [Deno.execPath(), ...CLI_ARGS]);
    await Deno.writeTextFile(join(root, "bin/svc"), `#!/usr/bin/env bash\n${shared.command}\n`, { mode: 0o755 });
    await Deno.copyFile(join(ROOT_PATH, "docs/notebooks/sweep_in_python.ipynb"), join(folder, "sweep_in_python.ipynb"));
    const [, sweep, table, , power, refusal] = await executePython("sweep_in_python.ipynb", folder, 4);
    assert.match(sweep["text/html"], /<th>channel\.ber<\/th>/);
    assert.match(table["text/html"], /channel\.error_count/);
    // Es/N0 of 7 dB: mean power 1 + 10^-0.7.
    assert.ok(Math.abs(Number(power["text/plain"]) - 1.1995) < 0.02, power["text/plain"]);
    assert.match(refusal.printed, /^recipe_invalid: .*\$\.steps\[4\]\.params\.snr_db[^]*hint: Give a number/);
    for (const name of ["bit_error_rate.png", "received.png"]) {
      assert.ok((await Deno.stat(join(folder, name))).size > 5000, name);
    }
  },
});

Deno.test.afterAll(() => Deno.remove(root, { recursive: true }));
