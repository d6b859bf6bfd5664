/** Benchmarks: packs, their validation and their runs; stored results, their tables, figures and comparisons. */
import { place } from "../router.ts";
import { PackList } from "./benchmarks/list.tsx";
import { PackPage } from "./benchmarks/pack.tsx";
import { ResultPage } from "./benchmarks/result.tsx";
import { ComparePage } from "./benchmarks/compare.tsx";

export default function Benchmarks() {
  const { path: [kind, id], query } = place.value;
  if (kind === "pack" && id) return <PackPage key={id} name={id} />;
  if (kind === "result" && id) return <ResultPage key={id} id={id} />;
  if (kind === "compare") return <ComparePage a={query.get("a") ?? ""} b={query.get("b") ?? ""} />;
  return <PackList />;
}
