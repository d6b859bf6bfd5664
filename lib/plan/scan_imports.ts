/**
 * Finds the files that a module names: import and export-from specifiers, literal dynamic imports, and assets and
 * workers in `new URL("./x", import.meta.url)`. Only specifiers that start with a dot are local and returned.
 *
 * A scanner, not a parser: comments are removed first, so that examples in docstrings do not count. A string literal
 * that looks like an import can only add an existing file, and adds the same one everywhere.
 */

const BLOCK_COMMENTS = /^[ \t]*\/\*[\s\S]*?\*\//gm;
const LINE_COMMENTS = /^[ \t]*\/\/.*$/gm;
const SPECIFIERS = [
  /\bfrom\s*["'](\.[^"'\n]*)["']/g,
  /\bimport\s*\(?\s*["'](\.[^"'\n]*)["']/g,
  /\bnew\s+URL\s*\(\s*["'](\.[^"'\n]*)["']\s*,\s*import\.meta\.url\s*,?\s*\)/g,
];

/** The relative specifiers of a module, each once, in order of first appearance per form. */
export function localSpecifiers(source: string): string[] {
  const code = source.replace(BLOCK_COMMENTS, "").replace(LINE_COMMENTS, "");
  const found = new Set<string>();
  for (const pattern of SPECIFIERS) {
    for (const match of code.matchAll(pattern)) found.add(match[1]);
  }
  return [...found];
}

/** Whether a file can name other files. */
export function isModule(path: string): boolean {
  return /\.(?:[cm]?[jt]s|[jt]sx)$/.test(path);
}
