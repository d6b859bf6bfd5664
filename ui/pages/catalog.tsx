/** What recipes can be made of: operations with their contracts, tasks, data sets, metrics, kinds of artifacts. */
import { Page } from "../frame.tsx";
import { Pending } from "../panels/notices.tsx";
import { useEffect, useState } from "../preact.ts";
import { address, place } from "../router.ts";
import { contracts, loadContracts } from "../state/contracts.ts";
import { type Research, ResearchTables } from "./catalog/research.tsx";
import { OperationList } from "./catalog/operations.tsx";
import { OperationPage } from "./catalog/operation.tsx";
import { Kinds } from "./catalog/kinds.tsx";
import { useFetched } from "../state/fetched.ts";

const PARTS = [
  ["operations", "Operations"],
  ["tasks", "Tasks"],
  ["datasets", "Data sets"],
  ["metrics", "Metrics"],
  ["kinds", "Kinds"],
] as const;

export default function Catalog() {
  const { path: [part = "operations", id] } = place.value;
  const [problem, setProblem] = useState<string | null>(null);
  const research = useFetched<Research>("/api/research/catalog");
  useEffect(() => void loadContracts().catch((error) => setProblem(error.message)), []);
  if (part === "operations" && id !== undefined) return <OperationPage key={id} id={id} />;
  return (
    <Page title="Catalog">
      <nav aria-label="Parts of the catalog" class="row parts">
        {PARTS.map(([name, label]) => (
          <a key={name} href={address("catalog", [name])} aria-current={name === part ? "page" : undefined}>{label}</a>
        ))}
      </nav>
      {problem !== null && <p class="notice" data-tone="error" role="alert">{problem}</p>}
      {part === "operations"
        ? contracts.value.size === 0 ? <p class="empty">Reading the operations</p> : <OperationList />
        : part === "kinds"
        ? <Kinds />
        : research.data === null
        ? <Pending of={research} what="the research catalogue" />
        : <ResearchTables part={part} research={research.data} />}
    </Page>
  );
}
