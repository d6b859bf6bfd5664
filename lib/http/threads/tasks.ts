/** Work of library threads that is not a whole request. Inputs and outputs are JSON values. */
import type { ProjectView } from "../../capture/project.ts";
import type { JsonObject } from "../../contract/value.ts";
import type { Session } from "../../api/session.ts";
import { type ArtifactPreview, previewArtifact } from "../../run/artifact_file.ts";
import { type Admission, jobOf } from "../jobs/kinds.ts";
import type { JobKind } from "../jobs/types.ts";

export const TASKS = {
  /** Checks the request of a job, before a job is made of it. @throws what its kind throws, with every problem */
  admit: async (
    session: Session,
    { kind, request, use_plan_cache: usePlanCache = true }: {
      kind: JobKind;
      request: JsonObject;
      use_plan_cache?: boolean;
    },
  ): Promise<Admission> => await jobOf(kind).admit(session, request, usePlanCache),

  /** A training project. @throws SvcError `path_forbidden`, `training_project_not_found` */
  viewProject: async ({ training }: Session, { path }: { path: string }): Promise<ProjectView> =>
    await training.project(path, { confined: true }),

  /** The beginning of an artifact file. @throws SvcError `path_forbidden`, `artifact_not_found`, `artifact_invalid` */
  preview: ({ workspace }: Session, { path }: { path: string }): ArtifactPreview => previewArtifact(workspace, path),
};

export type TaskName = keyof typeof TASKS;
export type TaskInput<Name extends TaskName> = Parameters<typeof TASKS[Name]>[1];
export type TaskOutput<Name extends TaskName> = Awaited<ReturnType<typeof TASKS[Name]>>;
