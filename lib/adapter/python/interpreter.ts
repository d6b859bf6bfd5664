/**
 * The interpreter of a Python adapter: a name in the manifest is looked up on PATH, a path comes from the user alone. It
 * is asked once for the folders that it needs, which the sandbox makes readable, and for the required packages.
 */
import { basename, delimiter, isAbsolute, join, resolve, sep } from "node:path";
import { messageOf, SvcError } from "../../contract/error.ts";
import { environmentValue } from "../../run/workspace.ts";
import { bubblewrapFailure, searchPath } from "../process/child.ts";
import type { AdapterPackage, EffectiveGrants } from "../types.ts";
import { isTaskWrap } from "../wraps.ts";

/** An installed package, with the digest of its files. */
export type PythonPackage = { name: string; version: string; sha256: string };

/** An interpreter for the steps of an adapter. */
export type PythonRuntime = {
  /** Absolute path. */
  program: string;
  version: string;
  implementation: string;
  /** Folders outside of /usr that it needs. */
  folders: string[];
  /** Those that the manifest requires. */
  packages: PythonPackage[];
  /** Whether bubblewrap confines it; false only with the grant `unsandboxed`. */
  confined: boolean;
};

type Description = Omit<PythonRuntime, "packages" | "confined"> & { packages: (PythonPackage | null)[] };

/** Descriptions by program and packages: an interpreter is asked once. */
const described = new Map<string, Description>();

/**
 * The interpreter of an adapter, whose packages are installed and which can be confined here.
 * @param chosen path or name of the user's choice; the name in the manifest when left out
 * @throws SvcError `adapter_python_missing`, `adapter_requirement_missing`, `adapter_isolation_unavailable`
 */
export async function pythonFor(
  { manifest: { name, python, operations }, folder }: AdapterPackage,
  { unsandboxed }: EffectiveGrants,
  chosen: string | undefined,
): Promise<PythonRuntime> {
  const { interpreter, requires } = python!;
  const wanted = chosen ?? interpreter;
  const program = basename(wanted) === wanted ? onPath(wanted, folder.root) : resolve(wanted);
  if (program === null) {
    throw new SvcError("adapter_python_missing", `Cannot run the adapter ${name}: ${wanted} is not on PATH`, {
      hint: "Install it, or name one with --python <path> or SVC_PYTHON",
    });
  }
  const arrays = operations.some(({ wraps }) => !isTaskWrap(wraps)) && !requires.some((one) => nameOf(one) === "numpy");
  const required = [...requires, ...(arrays ? ["numpy"] : [])];
  const found = await ask(program, required.map(nameOf), name), { packages, ...about } = found;
  const lacking = required.filter((one, index) => !meets(packages[index]?.version, one));
  if (lacking.length > 0) {
    const versions = lacking.map((one) => packages[required.indexOf(one)]?.version ?? "none");
    throw new SvcError(
      "adapter_requirement_missing",
      `Cannot run the adapter ${name}: ${program} does not have ${
        lacking.map((one, index) => `${one} (it has ${versions[index]})`).join(", ")
      }`,
      { hint: `Install it: ${program} -m pip install ${lacking.map((one) => `'${one}'`).join(" ")}` },
    );
  }
  const why = bubblewrapFailure();
  if (why !== null && !unsandboxed) {
    throw new SvcError("adapter_isolation_unavailable", `Cannot confine the Python adapter ${name}: ${why}`, {
      hint: `Install bubblewrap (Linux), or trust its code with all of your rights: --grant ${name}:unsandboxed`,
    });
  }
  const folders = outermost(about.folders.filter((path) => !within(path, "/usr")));
  const home = environmentValue("HOME");
  const wide = folders.find((path) => path === "/" || path === home || within(folder.root, path));
  if (wide !== undefined && why === null) {
    throw new SvcError("adapter_isolation_unavailable", `Cannot confine ${program}: it needs the folder ${wide}`, {
      hint: "Name an interpreter in a folder of its own, such as that of a virtual environment, with --python <path>",
    });
  }
  return { ...about, folders, packages: packages.filter((one) => one !== null), confined: why === null };
}

const within = (path: string, folder: string) => path === folder || path.startsWith(folder + sep);
const outermost = (paths: string[]) =>
  paths.filter((path) => !paths.some((other) => other !== path && within(path, other)));
const nameOf = (requirement: string) => /^[A-Za-z0-9._-]+/.exec(requirement)![0].toLowerCase();

/** The program of a name on PATH, never one of the adapter's folder. */
function onPath(name: string, root: string): string | null {
  const paths = searchPath().split(delimiter).filter((path) => isAbsolute(path) && !within(resolve(path), root));
  return paths.map((path) => join(path, name)).find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  }) ?? null;
}

async function ask(program: string, packages: readonly string[], adapter: string): Promise<Description> {
  const key = JSON.stringify([program, packages]), known = described.get(key);
  if (known !== undefined) return known;
  const failed = (why: string) =>
    new SvcError("adapter_python_missing", `Cannot run the adapter ${adapter}: ${program} does not answer: ${why}`, {
      hint: "It must be Python 3.8 or later; name another with --python <path> or SVC_PYTHON",
    });
  const { default: describe } = await import("./describe.py", { with: { type: "text" } });
  let output: Deno.CommandOutput;
  try {
    output = await new Deno.Command(program, {
      args: ["-I", "-B", "-c", String(describe), ...packages],
      cwd: "/",
      clearEnv: true,
      env: { PATH: searchPath(), LANG: "C.UTF-8", ...homeOf() },
      stdin: "null",
    }).output();
  } catch (error) {
    throw failed(messageOf(error));
  }
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  if (!output.success) throw failed(text(output.stderr).split("\n").at(-1) || `it ended with code ${output.code}`);
  const found = JSON.parse(text(output.stdout)) as Description;
  described.set(key, found);
  return found;
}

/** Managers of versions find their interpreters below it. */
const homeOf = (): Record<string, string> => {
  const home = environmentValue("HOME");
  return home === undefined ? {} : { HOME: home };
};

/** Whether a version meets all conditions of a requirement. Exported for tests. */
export function meets(version: string | undefined, requirement: string): boolean {
  if (version === undefined) return false;
  const conditions = requirement.slice(nameOf(requirement).length).split(",").map((one) => one.trim());
  return conditions.filter((one) => one !== "").every((condition) => {
    const [, operator, wanted] = /^(==|!=|>=|<=|>|<|~=)\s*(.+)$/.exec(condition)!;
    const prefix = wanted.endsWith(".*"), other = releaseOf(wanted), own = releaseOf(version);
    const order = compare(prefix ? own.slice(0, other.length) : own, other);
    switch (operator) {
      case "==":
        return order === 0;
      case "!=":
        return order !== 0;
      case ">=":
        return order >= 0;
      case "<=":
        return order <= 0;
      case ">":
        return order > 0;
      case "<":
        return order < 0;
      default:
        return order >= 0 && compare(own.slice(0, other.length - 1), other.slice(0, -1)) === 0;
    }
  });
}

/** The numbers of a release: `2.1.0rc1+cpu` is 2.1.0. */
const releaseOf = (version: string): number[] =>
  (/^[0-9]+(?:\.[0-9]+)*/.exec(version)?.[0] ?? "0").split(".").map(Number);

function compare(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
