/** Follows the output of a process that runs one test file, or several through `tests/support/test_group.ts`. */
import { closingOf, type Counts, stripColors, TestOutput } from "./test_output.ts";

/** Variable by which a group gets its request. */
export const GROUP_VARIABLE = "SVC_TEST_GROUP";
/** First and last entry of each file of a group, and the one in place of the tests of a file that does not load. */
export const BEFORE_ALL = "[before all tests]";
export const AFTER_ALL = "[after all tests]";
export const LOAD = "[load]";

export interface GroupRequest {
  /** In their order; the path is the name of the file in the output. */
  files: { path: string; url: string }[];
  filter?: string;
  /** Of the order of the tests of each file. */
  seed?: number;
}

/** Time that a part of a file took; null where the system does not tell. */
interface Taken {
  cpuS: number | null;
  seconds: number;
}

/** What a group says between its tests. */
type Mark = { loads: string } | ({ tests: number } & Taken) | ({ ends: string } & Taken);

const MARK = "TEST GROUP ";
export const mark = (mark: Mark): string => MARK + JSON.stringify(mark);

/** A file of the process: its output, as if it ran alone. */
export class FileOutput extends TestOutput {
  cpuS: number | null = 0;
  seconds = 0;
  /** Of a file in a group: whether its last entry has run. */
  ended = false;

  constructor(readonly path: string) {
    super();
  }

  take({ cpuS, seconds }: Taken): void {
    this.cpuS = this.cpuS === null || cpuS === null ? null : this.cpuS + cpuS;
    this.seconds += seconds;
  }

  /** A hook that fails is reported by its name. */
  protected override isTest(name: string, result: string): boolean {
    if (name === AFTER_ALL && result !== "cancelled") this.ended = true;
    return name !== BEFORE_ALL && name !== AFTER_ALL;
  }
}

export class GroupOutput {
  readonly files: FileOutput[];
  /** The file that loads or runs, or did last. */
  current: FileOutput;
  /** Counts of the closing line of the process, entries of hooks included. */
  closing: Counts | null = null;
  /** Whether an error outside of the tests has cancelled those that were left. */
  crashed = false;
  #partial = "";
  #part: "tests" | "errors" | "failures" = "tests";
  #last: FileOutput;

  constructor(paths: string[]) {
    this.files = paths.map((path) => new FileOutput(path));
    this.#last = this.current = this.files[0];
  }

  /** Takes more output; returns its complete lines, each with the file that it belongs to. */
  push(text: string): { file: FileOutput; line: string }[] {
    if (this.files.length === 1) {
      const lines = this.current.push(text).map((line) => ({ file: this.current, line }));
      this.closing = this.current.closing;
      return lines;
    }
    const raw = (this.#partial + text).split("\n");
    // The end of a chunk may cut a colour in two.
    this.#partial = raw.pop()!;
    return raw.flatMap((line) => {
      const own = this.#route(stripColors(line));
      if (own === null) return [];
      this.current.push(own + "\n");
      return [{ file: this.current, line: own }];
    });
  }

  /** Takes the line that has begun as the last one: its test holds the process, or ended it. */
  end(): void {
    if (this.files.length === 1) return;
    const own = this.#route(stripColors(this.#partial));
    this.#partial = "";
    if (own !== null) this.current.push(own);
  }

  /** Finds the file of a line. Returns the line as in the output of the file alone, or null for a line of the group. */
  #route(line: string): string | null {
    const at = line.indexOf(MARK);
    if (at >= 0) {
      this.#mark(JSON.parse(line.slice(at + MARK.length)));
      return null;
    }
    if (line.startsWith("Uncaught error from ")) this.crashed = true;
    else if (line === " ERRORS ") [this.#part, this.#last] = ["errors", this.current];
    else if (line === " FAILURES ") [this.#part, this.current] = ["failures", this.#last];
    else if (line.endsWith(" (uncaught error)")) this.current = this.#last;
    const closing = closingOf(line);
    this.closing = closing ?? this.closing;
    if (closing !== null || this.#part === "failures" || /^running \d+ tests? from /.test(line)) return null;
    const entry = this.#part === "errors" ? / => \S+:\d+:\d+$/ : / \.\.\.(?: |$|')/;
    const file = entry.test(line) ? this.files.find(({ path }) => line.startsWith(`${path}: `)) : undefined;
    if (file === undefined) return line;
    // The first test that an error cancels ran, or was the next one. The files after its file have not run.
    if (this.crashed && this.#part === "tests" && file !== this.current && !this.current.ended) return null;
    this.current = file;
    // After a minute the line has the name twice.
    return line.slice(file.path.length + 2).replace(` ...'${file.path}: `, " ...'");
  }

  #mark(mark: Mark): void {
    const path = "loads" in mark ? mark.loads : "ends" in mark ? mark.ends : this.current.path;
    this.current = this.files.find((file) => file.path === path)!;
    if ("tests" in mark) this.current.announced = mark.tests;
    if ("seconds" in mark) this.current.take(mark);
  }
}
