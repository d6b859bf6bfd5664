/**
 * Paths of files, as `node:path` writes them. Loading Node's module takes a tenth of the start of a short command, so that
 * it is loaded on Windows only.
 */
import { nodePath } from "./node_builtins.ts";

interface Paths {
  join(...parts: string[]): string;
  resolve(...parts: string[]): string;
  relative(from: string, to: string): string;
  dirname(path: string): string;
  basename(path: string): string;
  isAbsolute(path: string): boolean;
  readonly delimiter: string;
  readonly sep: string;
}

/** The names of a path without `.` and empty names, and without `..` where it has a name to remove. */
function namesOf(path: string, absolute: boolean): string[] {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.length > 0 && names.at(-1) !== "..") names.pop();
    else if (!absolute) names.push(name);
  }
  return names;
}

const trimmed = (path: string): string => path.replace(/\/+$/, "");

/** Paths with slashes. Exported for tests. */
export const POSIX: Paths = {
  join(...parts) {
    const path = parts.filter((part) => part !== "").join("/"), absolute = path.startsWith("/");
    const names = namesOf(path, absolute).join("/"), end = names !== "" && path.endsWith("/") ? "/" : "";
    return (absolute ? "/" : names === "" ? path.endsWith("/") ? "./" : "." : "") + names + end;
  },
  resolve(...parts) {
    const from = parts.findLastIndex((part) => part.startsWith("/"));
    const path = from < 0 ? [Deno.cwd(), ...parts] : parts.slice(from);
    return `/${namesOf(path.join("/"), true).join("/")}`;
  },
  relative(from, to) {
    const [own, other] = [from, to].map((path) => namesOf(POSIX.resolve(path), true));
    const differs = own.findIndex((name, i) => name !== other[i]), shared = differs < 0 ? own.length : differs;
    return [...own.slice(shared).map(() => ".."), ...other.slice(shared)].join("/");
  },
  dirname(path) {
    const end = trimmed(path).lastIndexOf("/");
    if (end > 0) return end === 1 && path.startsWith("//") ? "//" : path.slice(0, end);
    return path.startsWith("/") ? "/" : ".";
  },
  basename: (path) => trimmed(path).split("/").at(-1)!,
  isAbsolute: (path) => path.startsWith("/"),
  delimiter: ":",
  sep: "/",
};

const { Deno: runtime } = globalThis as { Deno?: typeof Deno };
export const { join, resolve, relative, dirname, basename, isAbsolute, delimiter, sep }: Paths =
  runtime?.build.os === "windows" ? nodePath() : POSIX;
