/** Programs of npm that only a release needs, and their input files. */
import { dirname } from "node:path";

/**
 * Runs a program to its end.
 * @throws {Error} with the end of its output, when it fails
 */
export async function callTool([program, ...args]: string[], cwd: string): Promise<void> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd, stdin: "null" }).output();
  if (success) return;
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  throw new Error(`${program} ${args.join(" ")} failed:\n${output.slice(-4000)}`);
}

/** Writes a file, and the folders on its path. */
export async function writeText(file: string, text: string): Promise<void> {
  await Deno.mkdir(dirname(file), { recursive: true });
  await Deno.writeTextFile(file, text);
}
