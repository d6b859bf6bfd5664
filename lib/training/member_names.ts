/** Which names the members of a package may have: those that mean the same file on every system, inside the package. */

/** Names that Windows gives to devices, with any extension. */
const DEVICE = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$/i;

/** Names under which a manifest is found in a folder or a ZIP file. */
export const MANIFEST_NAMES = ["trained_artifact.yaml", "trained_artifact.yml", "trained_artifact.json"];

/** File that the store adds to a package. */
export const IMPORT_RECORD = ".svc_import.json";

/**
 * Why a member must not have this name, or null.
 * @param path relative path with `/` between its parts
 */
export function unsafeName(path: string): string | null {
  if (path === "") return "its name is empty";
  if (!path.isWellFormed()) return "its name is no valid text";
  // deno-lint-ignore no-control-regex -- control characters are refused
  if (/[\u0000-\u001f\u007f]/.test(path)) return "its name holds a control character";
  if (path.includes("\\")) return "its name holds a backslash";
  if (path.startsWith("/")) return "its path is absolute";
  if (path.includes(":")) return "its name holds a colon";
  if (path === IMPORT_RECORD) return "its name is reserved for the store";
  for (const part of path.split("/")) {
    if (part === "") return "its path has an empty part";
    if (part === "." || part === "..") return `its path has a part ${part}`;
    if (/[. ]$/.test(part)) return "a part of its path ends with a dot or a space";
    // Windows reserves a device name with every suffix.
    if (DEVICE.test(part.split(".")[0].trimEnd())) return `${part} is the name of a device`;
    if (new TextEncoder().encode(part).length > 255) return "a part of its path is longer than 255 bytes";
  }
  return null;
}

/** The form under which two names are one file on systems that ignore case or normalise. */
export function foldedName(path: string): string {
  return path.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

/**
 * Pairs of members that would be one file, or a file and a folder of the same name, on some system.
 * @param paths of files
 * @returns for each offending path the one before it that it collides with
 */
export function nameCollisions(paths: readonly string[]): { path: string; with: string }[] {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  const found: { path: string; with: string }[] = [];
  for (const path of paths) {
    const folded = foldedName(path);
    const parts = folded.split("/");
    const ancestors = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
    const other = files.get(folded) ?? folders.get(folded) ??
      ancestors.map((folder) => files.get(folder)).find((taken) => taken !== undefined);
    if (other !== undefined) found.push({ path, with: other });
    files.set(folded, path);
    for (const folder of ancestors) if (!folders.has(folder)) folders.set(folder, path);
  }
  return found;
}
