/** What was run: the list, or one run of it. */
import { lazy, Suspense } from "../preact.ts";
import { place } from "../router.ts";
import { RunList } from "../runs/list.tsx";

const RunDetail = lazy(() => import("../runs/detail.tsx"));

export default function Runs() {
  const [runId, tab] = place.value.path;
  if (runId === undefined) return <RunList />;
  return (
    <Suspense fallback={<p class="empty">Loading the view</p>}>
      <RunDetail key={runId} runId={runId} tab={tab ?? "summary"} />
    </Suspense>
  );
}
