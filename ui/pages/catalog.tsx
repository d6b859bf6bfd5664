/** The catalog: operations with their contracts, tasks, datasets, metrics, kinds of artifacts. */
import { Page, Shown, Trouble } from "../parts.tsx";
import { useEffect, useState } from "../preact.ts";
import { address, place } from "../router.ts";
import { contracts, loadContracts } from "../state/contracts.ts";
import { useFetched } from "../state/fetched.ts";
import { Kinds } from "./catalog/kinds.tsx";
import { OperationPage } from "./catalog/operation.tsx";
import { OperationList } from "./catalog/operations.tsx";
import { ResearchTables } from "./catalog/research.tsx";

const PARTS = [
  ["operations", "Operations"],
  ["tasks", "Tasks"],
  ["datasets", "Datasets"],
  ["metrics", "Metrics"],
  ["kinds", "Kinds"],
] as const;

export default function Catalog() {
  const { path: [part = "operations", id] } = place.value;
  const [problem, setProblem] = useState<string | null>(null);
  const research = useFetched("/api/research/catalog");
  useEffect(() => void loadContracts().catch((error) => setProblem(error.message)), []);
  if (part === "operations" && id !== undefined) return <OperationPage key={id} id={id} />;
  return (
    <Page title="Catalog">
      <nav aria-label="Parts of the catalog" class="row parts">
        {PARTS.map(([name, label]) => (
          <a key={name} href={address("catalog", [name])} aria-current={name === part ? "page" : undefined}>{label}</a>
        ))}
      </nav>
      <Trouble text={problem} />
      {part === "operations"
        ? contracts.value.size === 0 ? <p class="empty">Reading the operations</p> : <OperationList />
        : part === "kinds"
        ? <Kinds />
        : (
          <Shown of={research} what="the research catalogue">
            {(found) => <ResearchTables part={part} research={found} />}
          </Shown>
        )}
    </Page>
  );
}
