/** Which blocks of the open recipe a trained artifact can take the place of, and why the others cannot. */
import { Page } from "../frame.tsx";
import { StateMark } from "../panels/state_mark.tsx";
import { useEffect, useState } from "../preact.ts";
import { address } from "../router.ts";
import { type Contract, contracts, loadContracts } from "../state/contracts.ts";
import { active, nameOf, restore, type Step, stepsOf } from "../state/copies.ts";
import { useFetched } from "../state/fetched.ts";

interface Artifact {
  id: string;
  name: string;
  status: string;
  operations: string[];
}

export default function Training() {
  const [problem, setProblem] = useState<string | null>(null);
  const artifacts = useFetched<{ artifacts: Artifact[] }>("/api/trained-artifacts");
  useEffect(() => void Promise.all([loadContracts(), restore()]).catch((error) => setProblem(error.message)), []);
  const copy = active();
  return (
    <Page title="Training">
      {problem !== null && <p class="notice" data-tone="error" role="alert">{problem}</p>}
      <p class="notice">
        Training itself happens elsewhere. A package that was trained for one of the slots below is brought in by{" "}
        <code>svc artifact import &lt;package&gt;</code>{" "}
        and chosen in the editor by the block's own parameter. Exporting a training project is not part of this version.
      </p>
      {copy === null || contracts.value.size === 0
        ? <p class="empty">{problem === null ? "Reading the open recipe" : "No recipe is open"}</p>
        : (
          <section aria-labelledby="blocks">
            <h2 id="blocks">
              Blocks of <a href={address("editor")}>{nameOf(copy)}</a>
            </h2>
            <div class="scroll" role="group" aria-label="Blocks" tabindex={0}>
              <table>
                <thead>
                  <tr>
                    <th>Block</th>
                    <th>Portable replacement</th>
                    <th>Built-in fine-tuning</th>
                    <th>Gradient</th>
                    <th>Artifacts here</th>
                  </tr>
                </thead>
                <tbody>
                  {stepsOf(copy.recipe).map((step) => (
                    <Block
                      key={step.id}
                      step={step}
                      contract={contracts.value.get(step.op)}
                      artifacts={artifacts.data?.artifacts ?? []}
                    />
                  ))}
                </tbody>
              </table>
            </div>
          </section>
        )}
    </Page>
  );
}

function Block({ step, contract, artifacts }: { step: Step; contract: Contract | undefined; artifacts: Artifact[] }) {
  const replaceable = capability(contract, "portable_replacement");
  const here = artifacts.filter(({ operations }) => operations.includes(step.op));
  const gradient = (contract?.differentiability as { gradient?: string } | undefined)?.gradient;
  return (
    <tr data-replaceable={replaceable}>
      <td>
        {step.id}
        <div class="small">
          <a class="mono" href={address("catalog", ["operations", step.op])}>{step.op}</a>
        </div>
      </td>
      <td>
        <StateMark state={replaceable ? "ready" : "unavailable"} word={replaceable ? "can be replaced" : "cannot"} />
        <div class="small muted">{replaceable ? slot(contract!) : whyNot(contract)}</div>
      </td>
      <td>{capability(contract, "built_in_fine_tuning") ? "yes" : "no"}</td>
      <td>{gradient ?? "–"}</td>
      <td class="small">
        {here.length === 0
          ? <span class="muted">{replaceable ? "none yet" : "–"}</span>
          : here.map(({ id, name, status }) => (
            <div key={id}>
              {name} <StateMark state={status} />
            </div>
          ))}
      </td>
    </tr>
  );
}

const capability = (contract: Contract | undefined, name: string) =>
  (contract?.training_capabilities as Record<string, boolean> | undefined)?.[name] === true;

/** What a package must offer to fill the slot. */
function slot(contract: Contract): string {
  const abi = contract.trained_artifact_abi as Record<string, unknown> | undefined;
  if (abi === undefined) return "By a trained artifact with the operation's own interface";
  const names = (of: unknown) => Object.keys((of ?? {}) as object).join(", ");
  return `Entry point ${String(abi.entrypoint_id)}: ${names(abi.inputs)} → ${names(abi.outputs)}`;
}

function whyNot(contract: Contract | undefined): string {
  if (contract === undefined) return "The operation is not known here";
  const gradient = (contract.differentiability as { gradient?: string } | undefined)?.gradient;
  const group = contract.id.split(".")[0];
  if (group === "source") return "It brings the data of the experiment";
  if (group === "metrics") return "It measures the experiment and must stay the same";
  if (gradient === "stop") return "It is a fixed computation that no gradient passes";
  return "Its contract declares no interface for trained artifacts";
}
