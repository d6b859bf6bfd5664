/**
 * Digests of the program's sources for new state directories: a program or a thread that starts in an empty one reads and
 * scans all of its sources first, which takes longer than most tests. Stored digests count while their files are unchanged.
 */
import { join } from "node:path";
import { temporaryFolder } from "./temporary.ts";
import { computeBuildSha256, SourceFiles } from "../../lib/plan/implementation_source.ts";

let file: string | undefined;
let bytes: Uint8Array | undefined;

/** Puts the digests into a state directory, as an earlier run would have left them. */
export function giveSourceDigests(stateDir: string): void {
  if (bytes === undefined) {
    const folder = temporaryFolder(), sources = new SourceFiles();
    sources.keepIn(folder);
    computeBuildSha256(sources);
    sources.store();
    [file] = [...Deno.readDirSync(folder)].map(({ name }) => name);
    bytes = Deno.readFileSync(join(folder, file));
  }
  Deno.mkdirSync(stateDir, { recursive: true });
  Deno.writeFileSync(join(stateDir, file!), bytes);
}
