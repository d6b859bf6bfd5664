/** Operations of one's own: files to start from, and the conformance suite on a file. */
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ownPlace } from "../artifact/code_place.ts";
import { exists } from "../artifact/path_kind.ts";
import { PROGRAM_NAME, PROGRAM_ROOT, programForm } from "../artifact/program.ts";
import { messageOf, placedMessage, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import type { Operation } from "../contract/operation.ts";
import type { ConformanceCase } from "./case.ts";
import { casesOf } from "./samples.ts";
import { conformanceChecks } from "./suite.ts";

/**
 * The module that an operation of one's own imports: by name, which the configuration of this program resolves wherever it
 * is installed; of a program that was imported by URL, its address.
 */
const LIBRARY = PROGRAM_ROOT.startsWith("file:") ? PROGRAM_NAME : new URL("mod.ts", PROGRAM_ROOT).href;

/** The command that runs a test of one's own, or null where Deno cannot resolve the import: the program has its packages. */
function testCommand(file: string): string[] | null {
  const form = programForm();
  if (form === "url") return ["deno", "test", file];
  return form === "folder"
    ? ["deno", "test", "--config", fileURLToPath(new URL("deno.json", PROGRAM_ROOT)), file]
    : null;
}

/** The written files. */
export interface WrittenOperation {
  /** Of the operation. */
  id: string;
  /** As given by the caller. */
  folder: string;
  /** Operation, test and recipe: names in the folder. */
  files: string[];
  /** Runs the test; null for a packaged program. */
  test: string[] | null;
}

/**
 * Writes an operation to start from, its test and a recipe that uses it. All run as written.
 * @param name of the operation: `soft_limiter` gives `own.soft_limiter` in `soft_limiter.ts`
 * @throws SvcError `usage_invalid` for an invalid name or where a file exists
 */
export async function scaffoldOperation(name: string, { out = "." }: { out?: string } = {}): Promise<WrittenOperation> {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) {
    throw new SvcError("usage_invalid", `Cannot name an operation ${JSON.stringify(name)}`, {
      hint: "A name has lower-case letters, digits and _, and begins with a letter: soft_limiter",
    });
  }
  const texts = await Promise.all([
    import("../../recipes/scaffolds/own_limiter/own_limiter.ts", { with: { type: "text" } }),
    import("../../recipes/scaffolds/own_limiter/own_limiter_test.ts", { with: { type: "text" } }),
    import("../../recipes/scaffolds/own_limiter/own_limiter.yaml", { with: { type: "text" } }),
  ]);
  const camel = name.replace(/_+([a-z0-9])/g, (_, letter) => letter.toUpperCase());
  const files = [".ts", "_test.ts", ".yaml"].map((ending, at) => ({
    path: `${name}${ending}`,
    text: texts[at].default.replaceAll("../../../mod.ts", LIBRARY).replaceAll("own_limiter", name)
      .replaceAll("ownLimiter", camel),
  }));
  const occupied = files.find(({ path }) => exists(join(out, path)));
  if (occupied !== undefined) {
    throw new SvcError("usage_invalid", `Cannot write ${join(out, occupied.path)}: it exists`, {
      hint: "Choose another name, or another folder with --out",
    });
  }
  await Deno.mkdir(out, { recursive: true });
  for (const { path, text } of files) await Deno.writeTextFile(join(out, path), text, { createNew: true });
  const test = testCommand(join(out, `${name}_test.ts`));
  return { id: `own.${name}`, folder: out, files: files.map(({ path }) => path), test };
}

/** A check of the suite. */
export interface CheckedItem {
  name: string;
  status: "ok" | "failed";
  /** Null where it succeeded. */
  message: string | null;
}

export interface OperationReport {
  schema_version: 1;
  /** Of the operation. */
  id: string;
  /** Absolute path of the file, or of the folder of an adapter. */
  file: string;
  sha256: string;
  status: "conforms" | "fails";
  checks: CheckedItem[];
}

/**
 * Runs the suite on an operation.
 * @param root absolute path of the folder that places in code are relative to
 */
async function checkedItems(
  operation: Operation,
  cases: readonly ConformanceCase[],
  root: string,
): Promise<CheckedItem[]> {
  const checks: CheckedItem[] = [];
  for (const { name, run } of conformanceChecks(operation, cases)) {
    try {
      await run();
      checks.push({ name, status: "ok", message: null });
    } catch (error) {
      // Whatever the operation throws is a finding about it.
      checks.push({ name, status: "failed", message: placedMessage(messageOf(error), ownPlace(error, root)) });
    }
  }
  return checks;
}

/**
 * Runs the conformance suite on operations without cases, with inputs that are made from the kinds of their ports.
 * @param folder absolute path and digest of the folder with their code
 */
export async function checkOperations(
  name: string,
  operations: readonly Operation[],
  folder: { root: string; sha256: string },
): Promise<OperationReport> {
  const checks: CheckedItem[] = [], one = operations.length === 1;
  for (const operation of operations) {
    const items = await checkedItems(operation, casesOf(operation), folder.root);
    checks.push(...items.map((item) => one ? item : { ...item, name: `${operation.id}: ${item.name}` }));
  }
  return {
    schema_version: 1,
    id: one ? operations[0].id : name,
    file: folder.root,
    sha256: folder.sha256,
    status: statusOf(checks),
    checks,
  };
}

const statusOf = (checks: readonly CheckedItem[]) =>
  checks.every(({ status }) => status === "ok") ? "conforms" : "fails";

/**
 * Runs the conformance suite of the built-in operations on a file. The file exports the operation as its default, and as
 * `cases` the parameters and inputs to run it with.
 * @param load the operation of a module, checked; its code runs with the rights of this program
 * @throws SvcError `file_not_found`, `operation_file_invalid`
 */
export async function checkOperationFile(
  file: string,
  load: (moduleUrl: string) => Promise<Operation>,
): Promise<OperationReport> {
  const path = resolve(file), url = pathToFileURL(path).href;
  if (!exists(path)) {
    throw new SvcError("file_not_found", `Cannot find the file ${file}`, {
      hint: `Begin one: svc operation scaffold ${basename(file).replace(/\W.*$/, "") || "my_operation"}`,
    });
  }
  const operation = await load(url);
  const { cases = [] } = await import(url) as { cases?: readonly ConformanceCase[] };
  if (!Array.isArray(cases)) {
    throw new SvcError("operation_file_invalid", `Cannot read the cases of ${file}: they are not a list`, {
      hint: "Write export const cases: ConformanceCase[] = [{ inputs: () => ({ … }), params: { … } }]",
    });
  }
  const checks = await checkedItems(operation, cases, dirname(path));
  if (cases.length === 0) {
    const message = `${basename(file)} exports no cases, so it was not run: export const cases = [{ inputs: () => … }]`;
    checks.push({ name: "cases", status: "failed", message });
  }
  return {
    schema_version: 1,
    id: operation.id,
    file: path,
    sha256: sha256Hex(Deno.readFileSync(path)),
    status: statusOf(checks),
    checks,
  };
}
