/** Maps errors of the operating system, of Deno's permissions and of SQLite to a code and a hint. */
import { type Code, messageOf, SvcError } from "./error.ts";

/** Codes of file operations, without those of sockets. */
const FILE_CODES =
  /^E(ACCES|AGAIN|BADF|BUSY|DQUOT|EXIST|FBIG|IO|ISDIR|LOOP|MFILE|NAMETOOLONG|NFILE|NODEV|NOENT|NOLCK|NOSPC|NOTDIR|NOTEMPTY|NXIO|PERM|ROFS|STALE|TXTBSY|XDEV)$/;

/** Result codes of SQLite by number, with the messages of errors without a number. */
const SQLITE_CODES: readonly [number, string, RegExp][] = [
  [5, "SQLITE_BUSY", /^database (table )?is locked/],
  [8, "SQLITE_READONLY", /readonly database/],
  [10, "SQLITE_IOERR", /^disk I\/O error/],
  [11, "SQLITE_CORRUPT", /malformed/],
  [13, "SQLITE_FULL", /^database or disk is full/],
  [14, "SQLITE_CANTOPEN", /^unable to open database/],
  [26, "SQLITE_NOTADB", /^file is not a database/],
];

const NO_SPACE = ["ENOSPC", "EDQUOT", "SQLITE_FULL"];
const DAMAGE = ["SQLITE_CORRUPT", "SQLITE_NOTADB"];

/** Whether a system code means that space ran out. */
export const isNoSpace = (code: string): boolean => NO_SPACE.includes(code);

/** Whether a system code means a fault of the storage, independent of the file. */
export const isStorageFault = (code: string): boolean =>
  isNoSpace(code) || code.startsWith("SQLITE_") || /^E(IO|MFILE|NFILE|NODEV|NXIO|ROFS|STALE)$/.test(code);

/**
 * The system code of an error or of its cause.
 * @returns such as `ENOSPC` or `SQLITE_FULL`, or null for another error
 */
export function systemCodeOf(error: unknown): string | null {
  if (error instanceof SvcError && typeof error.extra.system_code === "string") return error.extra.system_code;
  if (!(error instanceof Error)) return null;
  const { code, errcode, message } = error as Error & { code?: unknown; errcode?: unknown };
  if (code === "ERR_SQLITE_ERROR") {
    const known = typeof errcode === "number"
      ? SQLITE_CODES.find(([number]) => number === (errcode & 0xff))
      : SQLITE_CODES.find(([, , text]) => text.test(message));
    return known?.[1] ?? "SQLITE_ERROR";
  }
  if (error instanceof Deno.errors.NotCapable) return "ENOTCAPABLE";
  // Names that no file can have. Deno gives the first error no code, where it has not every permission.
  if (message === "Empty path is not allowed") return "ENOENT";
  if (code === "EINVAL" && message.includes("NUL byte")) return "EINVAL";
  if (typeof code === "string" && FILE_CODES.test(code)) return code;
  return error.cause === undefined ? null : systemCodeOf(error.cause);
}

/**
 * Converts an error of the system to a coded one.
 * @returns a SvcError `file_system_error` with the system's code as `system_code`, or the thrown value
 */
export function withSystemCode(error: unknown): unknown {
  const system_code = error instanceof SvcError ? null : systemCodeOf(error);
  if (system_code === null) return error;
  const attempt = system_code === "ENOTCAPABLE"
    ? "Cannot continue without a permission"
    : system_code.startsWith("SQLITE_")
    ? "Cannot use the index"
    : "Cannot use a file or folder";
  return new SvcError("file_system_error", `${attempt}: ${messageOf(error)}`, {
    hint: hintOf(system_code),
    extra: { system_code },
    cause: error,
  });
}

/** The code of any thrown value, `otherwise` for a defect, and the system code if there is one. */
export function codeOf(error: unknown, otherwise: Code): { code: Code; system_code?: string } {
  const system_code = systemCodeOf(error);
  const code = error instanceof SvcError ? error.code : system_code === null ? otherwise : "file_system_error";
  return system_code === null ? { code } : { code, system_code };
}

function hintOf(code: string): string {
  if (code === "ENOTCAPABLE") return "Run the program with deno run -A";
  if (DAMAGE.includes(code)) return "Rebuild the index with: svc index rebuild";
  if (isNoSpace(code)) return "Free some space; --workspace names another state directory";
  if (code === "EEXIST") return "Remove the file or dangling link in place of the folder";
  return "Check the path, its permissions and the free space; --workspace names another state directory";
}
