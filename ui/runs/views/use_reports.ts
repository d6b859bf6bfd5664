/** The reports that the steps of a run left. */
import type { JsonObject } from "../../../lib/contract/value.ts";
import { useEffect, useState } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { json } from "../fetch_artifact.ts";

/** A report with the artifact that it is. */
export interface Report {
  artifact: Artifact;
  document: JsonObject;
}

/** Reports with images, which the views of images show. */
const PICTURED = "metrics.image_reconstruction";

/** The reports of a run; null until all of them are read. */
export function useReports(summary: RunSummary, artifacts: readonly Artifact[]): Report[] | null {
  const [reports, setReports] = useState<Report[] | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const wanted = artifacts.filter(({ kind, step }) =>
      kind === "metrics.report" && summary.steps.find(({ id }) => id === step)?.op !== PICTURED
    );
    Promise.all(wanted.map(async (artifact): Promise<Report[]> => {
      try {
        return [{ artifact, document: await json<JsonObject>(artifact.path, stop.signal) }];
      } catch {
        // The problem of a report that cannot be read is shown under Artifacts.
        return [];
      }
    })).then((found) => !stop.signal.aborted && setReports(found.flat()));
    return () => stop.abort();
  }, [summary.run_id, artifacts.length]);
  return reports;
}
