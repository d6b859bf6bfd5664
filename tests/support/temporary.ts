const made: string[] = [];
// Programs of tests have no hooks of tests; sessions are closed before.
addEventListener("unload", () => made.forEach((folder) => Deno.removeSync(folder, { recursive: true })));

/** Makes an empty folder, which is removed when this process ends. */
export function temporaryFolder(prefix = "svc-"): string {
  const folder = Deno.makeTempDirSync({ prefix });
  made.push(folder);
  return folder;
}
