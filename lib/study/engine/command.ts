/** Programs of engines. */
import { type Code, SvcError } from "../../contract/error.ts";

/** A word for a POSIX shell. */
export const quoted = (word: string): string =>
  /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * Runs a program to its end.
 * @returns its standard output
 * @throws SvcError `engine_unavailable` without the program, or the given code with its message
 */
export async function output(
  command: string,
  args: readonly string[],
  { cwd, code = "engine_unavailable", hint }: { cwd?: string; code?: Code; hint: string },
): Promise<string> {
  let done: Deno.CommandOutput;
  try {
    done = await new Deno.Command(command, { args: [...args], cwd, stdin: "null" }).output();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new SvcError("engine_unavailable", `Cannot start ${command}: there is no such program on this machine`, {
      hint,
    });
  }
  if (done.success) return new TextDecoder().decode(done.stdout);
  const message = new TextDecoder().decode(done.stderr).trim().replaceAll(/\s*\n\s*/g, "; ");
  throw new SvcError(code, `Cannot use ${command}: ${message || `exit code ${done.code}`}`, { hint });
}
