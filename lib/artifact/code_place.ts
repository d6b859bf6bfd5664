/** Places of errors in code that is not the program's: operations of one's own and adapters. */
import { basename, relative, sep } from "../contract/paths.ts";
import { filePath } from "../contract/node_builtins.ts";
import { type SourceLocation, SvcError } from "../contract/error.ts";
import { PROGRAM_ROOT } from "./program.ts";

/** Places in files by URL that a stack names, innermost first: `at run (file:///a.ts:3:5)`. A syntax error has one too. */
export function placesIn(stack: string): SourceLocation[] {
  return [...stack.matchAll(/(file:\/\/\/\S*?):(\d+):(\d+)\)?$/gm)].map(([, file, line, column]) => ({
    file,
    line: Number(line),
    column: Number(column),
  }));
}

const PROGRAM_CODE = ["lib/", "ops/", "mod.ts", "cli.ts", "server.ts"].map((path) => new URL(path, PROGRAM_ROOT).href);

/**
 * The innermost place of an error in a file outside the program and its packages.
 * @param root absolute path of a folder; a file below it is named relative to it, another one by its name
 */
export function ownPlace(error: unknown, root: string): SourceLocation | null {
  if (error instanceof SvcError && error.diagnostics[0]?.location !== undefined) return error.diagnostics[0].location;
  if (!(error instanceof Error)) return null;
  const own = placesIn(error.stack ?? "").find(({ file }) =>
    !PROGRAM_CODE.some((prefix) => file.startsWith(prefix)) && !/\/(?:node_modules|npm\/registry\.[^/]*)\//.test(file)
  );
  if (own === undefined) return null;
  const path = filePath(own.file), below = relative(root, path);
  const outside = below === ".." || below.startsWith(`..${sep}`);
  return { ...own, file: outside ? basename(path) : below.replaceAll(sep, "/") };
}
