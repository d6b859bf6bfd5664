/** The kind of a path, and the entries of a folder. */

/** The kind of a path; a missing path has none. Other errors are thrown. */
function infoOf(look: (path: string) => Deno.FileInfo, path: string): Deno.FileInfo | null {
  try {
    return look(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw error;
  }
}

/** Whether the path exists; a dangling link counts. @throws when a parent is not a folder */
export function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Whether the path is a folder, or a link to one. */
export const isFolder = (path: string): boolean => infoOf(Deno.statSync, path)?.isDirectory ?? false;

/** The entry at a path, of a link the link itself; null where there is none. */
export const entryInfo = (path: string): Deno.FileInfo | null => infoOf(Deno.lstatSync, path);

/** Whether the path is a regular file and not a link. */
export const isPlainFile = (path: string): boolean => entryInfo(path)?.isFile ?? false;

/** The entries of a folder; none where the folder is missing. @throws other errors of the operating system */
export function entriesOf(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
