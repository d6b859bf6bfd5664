/** Opens the index for one command or script. */
import type { Workspace } from "../workspace.ts";
import { type DatabaseSync, openDatabase } from "./database.ts";
import { type IndexOptions, RunIndex } from "./runs.ts";

/** Opens the index of a workspace. @throws SvcError as `openDatabase` */
export function openRunIndex(
  workspace: Workspace,
  options: { check?: boolean } & IndexOptions = {},
): { index: RunIndex; database: DatabaseSync; damaged: string | null; close(): void } {
  const { database, damaged } = openDatabase(workspace.stateDir, { ...options, host: workspace.host });
  database.exec("PRAGMA synchronous = NORMAL");
  return { index: new RunIndex(workspace, { database }, options), database, damaged, close: () => database.close() };
}
