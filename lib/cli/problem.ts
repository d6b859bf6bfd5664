/** Errors as a person and as a program read them, and the exit code that goes with each. */
import { type Code, codeRow } from "../contract/codes.ts";
import { type Diagnostic, messageOf, type SourceLocation, SvcError } from "../contract/error.ts";
import { visibleLine, visibleLines } from "../contract/escape.ts";
import type { JsonObject } from "../contract/value.ts";
import { CommanderError } from "./commander.ts";
import type { Paint } from "./terminal.ts";

export const EXIT = {
  ok: 0,
  runFailed: 1,
  usage: 2,
  refused: 3,
  notFound: 4,
  missing: 5,
  differs: 6,
  canceled: 130,
} as const;

export const EXIT_CODE_HELP = `Exit codes
  0    done
  1    a run or an operation failed
  2    usage: unknown command or option, malformed value
  3    validation or planning refused
  4    not found
  5    a capability or a part of the environment is missing
  6    verification or reproduction differs
  130  canceled (Ctrl+C; a second one exits at once)
`;

/** The exit code of an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (!(error instanceof SvcError)) return EXIT.runFailed;
  const missing = (code: Code) => codeRow(code)[0] === EXIT.missing;
  const errors = error.diagnostics.filter(({ severity }) => severity === "error");
  if (missing(error.code) || (errors.length > 0 && errors.every(({ code }) => missing(code)))) return EXIT.missing;
  return errors.length > 0 ? EXIT.refused : codeRow(error.code)[0];
}

const TITLES: Record<number, string> = {
  1: "Run failed",
  2: "Usage",
  3: "Refused",
  4: "Not found",
  5: "Capability missing",
  6: "Differs",
  130: "Canceled",
};

/** What the command-line library found wrong, in one line. */
export function usageMessage(error: CommanderError): string {
  const [message] = error.message.replace(/^error: /, "").split("\n");
  return message === "(outputHelp)" ? "A command is missing" : message;
}

/**
 * The problem object of the HTTP interface, for `--json`.
 * @param usageHint where to read on after an error of the command-line library
 */
export function problemDocument(error: unknown, usageHint: string | null = null): JsonObject {
  const exitCode = exitCodeOf(error);
  const known = error instanceof SvcError;
  const code = known ? error.code : error instanceof CommanderError ? "usage_invalid" : "internal_error";
  const status: Record<number, number> = { 1: 422, 2: 400, 3: 400, 4: 404, 5: 400, 6: 409, 130: 422 };
  return {
    schema_version: 1,
    type: `urn:svc:problem:${code}`,
    title: TITLES[exitCode] ?? "Problem",
    status: known || error instanceof CommanderError ? status[exitCode] ?? 500 : 500,
    detail: error instanceof CommanderError ? usageMessage(error) : messageOf(error),
    code,
    hint: known ? error.hint : usageHint,
    exit_code: exitCode,
    diagnostics: known ? error.diagnostics : [],
    ...(known ? error.extra : {}),
  };
}

/** The line of a place with a caret under it, for files that were read by this command; empty for others. */
export type Excerpt = (location: SourceLocation) => string;

/** One diagnostic as a block of lines: message, place with a caret, hint. */
export function formatDiagnostic(item: Diagnostic, paint: Paint, excerpt?: Excerpt): string {
  const { severity, code, message, location, path, hint } = visibleLines({ ...item });
  const color = severity === "error" ? "red" : severity === "warning" ? "yellow" : "cyan";
  let text = `${paint(color, `${severity}[${code}]`)}: ${message}\n`;
  const place = location ? `${location.file}:${location.line}:${location.column}` : null;
  text += `  ${paint("blue", "-->")} ${[place, path].filter(Boolean).join("  ")}\n`;
  const shown = item.location ? excerpt?.(item.location) ?? "" : "";
  if (shown !== "") text += shown.split("\n").map((line) => `   ${line}\n`).join("");
  if (hint) text += `  ${paint("green", "help")}: ${hint}\n`;
  return text;
}

/** The document about the first of these codes. */
function seeLine(codes: readonly string[], paint: Paint): string {
  return codes.length === 0 ? "" : `  ${paint("green", "see")}: svc docs codes/${codes[0]}\n`;
}

/** An error with all its diagnostics, for people. */
export function formatError(error: unknown, paint: Paint, excerpt?: Excerpt): string {
  if (error instanceof SvcError) {
    const blocks = error.diagnostics.map((item) => formatDiagnostic(item, paint, excerpt));
    // The diagnostics say it all; the umbrella adds only their number.
    if (blocks.length > 0) {
      const codes = error.diagnostics.filter(({ severity }) => severity === "error").map((item) => item.code);
      return blocks.join("\n") + seeLine(codes, paint) + summaryLine(error.diagnostics);
    }
    return `${paint("red", `error[${error.code}]`)}: ${visibleLine(error.message)}\n` +
      (error.hint ? `  ${paint("green", "help")}: ${visibleLine(error.hint)}\n` : "") + seeLine([error.code], paint);
  }
  return `${paint("red", "error[internal_error]")}: ${visibleLine(messageOf(error))}\n`;
}

function summaryLine(diagnostics: readonly Diagnostic[]): string {
  const count = (severity: string) => diagnostics.filter((item) => item.severity === severity).length;
  const parts = [["error", "errors"], ["warning", "warnings"]]
    .map(([one, many]) => [count(one), one, many] as const)
    .filter(([number]) => number > 0)
    .map(([number, one, many]) => `${number} ${number === 1 ? one : many}`);
  return parts.length === 0 ? "" : `\n${parts.join(", ")}\n`;
}

/** The verdict of a verification in its colour. */
export const verdict = (status: string, paint: Paint): string =>
  paint(status === "valid" ? "green" : status === "warning" ? "yellow" : "red", status);

/** The findings of a verification, a line each. */
export function findingLines({ errors, warnings }: { errors: unknown; warnings: unknown }, paint: Paint): string[] {
  return ([["error", "red", errors], ["warning", "yellow", warnings]] as const).flatMap(([severity, style, items]) =>
    (items as JsonObject[]).map(({ code, message, file, path }) => {
      const place = String(message).includes(String(file)) ? "" : ` (${[file, path].filter(Boolean).join(" ")})`;
      return `  ${paint(style, `${severity}[${code}]`)} ${message}${place}`;
    })
  );
}

/** A verification report for people: the verdict and its findings. */
export function reportText(
  report: {
    status: unknown;
    target_id: unknown;
    checks: unknown;
    errors: unknown;
    warnings: unknown;
    artifacts?: unknown;
    sha256sums?: unknown;
    signed?: unknown;
    signed_by?: unknown;
  },
  paint: Paint,
): string {
  const { checks } = report;
  const count = Array.isArray(checks) ? checks.length : Object.keys(checks as object).length;
  const head = `${verdict(String(report.status), paint)}  ${report.target_id}: ${count} checks` +
    (report.artifacts === "pruned" ? "; artifacts are pruned, svc runs restore makes them again" : "");
  const signed = report.signed_by ? `, signed by ${report.signed_by}` : report.signed ? ", signed (not checked)" : "";
  const digest = report.sha256sums ? [`  SHA256SUMS ${report.sha256sums}${signed}`] : [];
  return [head, ...digest, ...findingLines(report, paint)].join("\n");
}
