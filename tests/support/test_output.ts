/** Follows the output of `deno test` for one file: the tests that have ended, the one that runs, and text of failures. */

/** Output of a test that is kept, in lines: the last of a test that writes without end. */
const KEPT_LINES = 2000;

export interface Counts {
  passed: number;
  failed: number;
  ignored: number;
}

export class TestOutput {
  /** Tests that have ended. */
  readonly seen: Counts = { passed: 0, failed: 0, ignored: 0 };
  /** Counts of the closing line, where it has come. */
  closing: Counts | null = null;
  /** Tests that the file announced, after it loaded. */
  announced: number | null = null;
  /** Names of failed tests, as they fail. */
  readonly failedTests: string[] = [];
  /** Reasons for which tests are skipped, one for each test that declared it. */
  readonly needs: string[] = [];
  #failures: string[] = [];
  #block: string[] = [];
  #partial = "";
  #exited = false;
  #cutStep = false;

  /** Takes more output; returns its complete lines. */
  push(text: string): string[] {
    const raw = (this.#partial + text).split("\n");
    // The end of a chunk may cut a colour in two.
    this.#partial = raw.pop()!;
    const lines = raw.map(stripColors);
    for (const line of lines) this.#line(line);
    return lines;
  }

  /** Name of the test that has begun and not ended. */
  get running(): string | null {
    for (const line of [...this.#block, stripColors(this.#partial)]) {
      // After a minute the line continues with "'name' has been running for over (1m0s)".
      const begun = /^(\S.*?) \.\.\.(?: *$|'\1' has been running)/.exec(line);
      if (begun !== null) return begun[1];
    }
    return null;
  }

  /** Whether every announced test has ended. */
  get complete(): boolean {
    const { passed, failed, ignored } = this.seen;
    return this.closing !== null ||
      this.announced !== null && this.announced > 0 && passed + failed + ignored >= this.announced;
  }

  /** Output of the failed tests, then everything since the last test that ended: the errors, or the state of a stalled test. */
  get failureText(): string {
    const rest = [...this.#block, stripColors(this.#partial)].join("\n").replace(
      /\n FAILURES \n[^]*|\n(error: Test failed\n|Stack backtrace:\n)[^]*/,
      "",
    );
    return [...this.#failures, rest].join("\n").trim();
  }

  /** Whether an entry that has ended is one of the tests. */
  protected isTest(_name: string, _result: string): boolean {
    return true;
  }

  #line(line: string): void {
    const announced = /^running (\d+) tests? from /.exec(line);
    if (announced !== null) {
      this.announced = Number(announced[1]);
      return;
    }
    const need = /^SKIPPED: (.+)$/.exec(line);
    if (need !== null) this.needs.push(need[1]);
    // Deno counts a file that ends its process while it loads as one without tests.
    if (/^note .* called `Deno\.exit\(\d+\)` from outside any test/.test(line)) this.#exited = true;
    if (!this.#exited) this.closing = closingOf(line) ?? this.closing;
    this.#block.push(line);
    if (this.#block.length > 2 * KEPT_LINES) this.#block.splice(1, KEPT_LINES, "(lines left out)");
    // The line that has begun is cut after a minute, also that of a step, whose end then stands as that of a test does.
    const cut = /^( *)\S.* \.\.\.'.*' has been running for over /.exec(line);
    if (cut !== null) this.#cutStep = cut[1] !== "";
    const ended = /^(?:(\S.*) \.\.\.)? (ok|FAILED|ignored|cancelled)\b/.exec(line);
    if (ended === null) return;
    const ofStep = this.#cutStep && ended[1] === undefined;
    this.#cutStep = false;
    if (ofStep) return;
    const [, name = this.running ?? "", result] = ended;
    if (this.isTest(name, result)) {
      this.seen[result === "ok" ? "passed" : result === "ignored" ? "ignored" : "failed"]++;
    }
    if (result !== "ok" && result !== "ignored") {
      this.failedTests.push(name);
      this.#failures.push(this.#block.join("\n"));
    }
    this.#block = [];
  }
}

/** Counts of the line that closes the tests of a process, or null for another line. */
export function closingOf(line: string): Counts | null {
  const closing = /^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed(?:.*? \| (\d+) ignored)?/.exec(line);
  if (closing === null) return null;
  const [passed, failed, ignored] = closing.slice(1).map((count) => Number(count ?? 0));
  return { passed, failed, ignored };
}

export function stripColors(text: string): string {
  // deno-lint-ignore no-control-regex -- the escape that begins a colour
  return text.replace(/\x1b\[[0-9;]*m/g, "");
}
