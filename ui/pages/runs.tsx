/** The runs: the list, or one of them. */
import { lazy } from "../preact.ts";
import { place } from "../router.ts";
import { RunList } from "../runs/list.tsx";

const RunDetail = lazy(() => import("../runs/detail.tsx"), "Loading the view");

export default function Runs() {
  const [runId, tab] = place.value.path;
  if (runId === undefined) return <RunList />;
  return <RunDetail key={runId} runId={runId} tab={tab ?? "summary"} />;
}
