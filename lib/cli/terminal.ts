/**
 * The terminal: colour, width, and the two streams. All output of the command line leaves through `stdout` and `stderr`,
 * which write no control of a terminal but those of this program.
 */
import { visible, visibleLine } from "../contract/escape.ts";

/** The streams of a command. */
export interface Streams {
  readonly stdin: { readonly readable: ReadableStream<Uint8Array>; isTerminal(): boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

interface OutputStream {
  writeSync(data: Uint8Array): number;
  isTerminal(): boolean;
}

let current: Streams = Deno;

/** The streams of the command that runs; a thread runs one command at a time. */
export const streams = (): Streams => current;

/** Sets the streams of the commands that follow. */
export function useStreams(given: Streams): void {
  current = given;
}

/** An environment variable, or undefined when it is unset or must not be read. */
export function environment(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch {
    return undefined;
  }
}

export type ColorChoice = "auto" | "always" | "never";

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;
export type Style = keyof typeof CODES;
export type Paint = (style: Style, text: string) => string;

/** Whether a stream takes colour: the flag, then NO_COLOR, CLICOLOR_FORCE, CLICOLOR, then what the stream is. */
export function colorWanted(choice: ColorChoice, isTerminal: boolean): boolean {
  if (choice !== "auto") return choice === "always";
  if (environment("NO_COLOR")) return false;
  const force = environment("CLICOLOR_FORCE");
  if (force !== undefined && force !== "0") return true;
  return isTerminal && environment("CLICOLOR") !== "0" && environment("TERM") !== "dumb";
}

/** Begins a control sequence of this program; no text of others can contain it. */
const OWN = `\x1b${crypto.randomUUID()}`;

/** Clears the line of the cursor, and goes to its beginning. */
export const CLEAR_LINE = `${OWN}[G${OWN}[K`;

/** Colours a text, which is put on one line. */
export function painter(enabled: boolean): Paint {
  return (style, text) => enabled ? `${OWN}[${CODES[style]}m${visibleLine(text)}${OWN}[0m` : visibleLine(text);
}

/** A text with the control sequences of this program; all other controls are made visible. Exported for tests. */
export function shown(text: string): string {
  const [first, ...parts] = text.split(OWN);
  return visible(first) + parts.map((part) => {
    const end = part.search(/[mGK]/) + 1;
    return `\x1b${part.slice(0, end)}${visible(part.slice(end))}`;
  }).join("");
}

/** Whether the locale can show more than ASCII. */
export function unicodeWanted(): boolean {
  const locale = environment("LC_ALL") || environment("LC_CTYPE") || environment("LANG") || "";
  return locale === "" || /utf-?8/i.test(locale);
}

const encoder = new TextEncoder();

function writeAll(stream: OutputStream, text: string): void {
  const bytes = encoder.encode(shown(text));
  let offset = 0;
  while (offset < bytes.length) offset += stream.writeSync(bytes.subarray(offset));
}

/** Writes data to standard output; a reader that went away (`svc … | head`) ends the program quietly. */
export function stdout(text: string): void {
  try {
    writeAll(current.stdout, text);
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) Deno.exit(0);
    throw error;
  }
}

/** Writes everything else to standard error; when the reader has closed it, the work continues. */
export function stderr(text: string): void {
  try {
    writeAll(current.stderr, text);
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** Columns of the terminal, 80 when it has none. */
export function terminalWidth(): number {
  try {
    return Deno.consoleSize().columns;
  } catch {
    return 80;
  }
}
