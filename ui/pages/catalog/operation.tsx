/** The contract of one operation: the document of `svc ops show --json` as tables and as JSON. */
import { prettyJson } from "../../../lib/contract/json.ts";
import { unavailableRows } from "../../../lib/contract/unavailable_values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { commandOf, CopyCommand } from "../../copy_command.tsx";
import { Page, Section, Shown, StateMark, Table, Wait } from "../../parts.tsx";
import { lazy } from "../../preact.ts";
import { address } from "../../router.ts";
import { runtimesText } from "../../runtimes.ts";
import { Fold } from "../../folded_rows.tsx";
import type { Contract } from "../../state/contracts.ts";
import { useFetched } from "../../state/fetched.ts";
import { CARD_COLUMNS } from "../validation/list.tsx";

// In the chunk of the edits: what the editor loads at first stays small.
const UseOperation = lazy(() => import("../../panels/replace.tsx").then(({ UseOperation }) => UseOperation), "");
const ArtifactTable = lazy(() => import("../../data/artifacts.tsx").then(({ ArtifactTable }) => ArtifactTable));

export function OperationPage({ id }: { id: string }) {
  const found = useFetched("/api/ops/:operation_id", { params: { operation_id: id } });
  if (found.value === null) {
    return (
      <Page title={id}>
        <Wait of={found} what="the contract" />
      </Page>
    );
  }
  const contract = found.value, { name, description, status } = contract;
  return (
    <Page
      title={name}
      actions={
        <>
          {status === "implemented" && <UseOperation id={id} />}
          <a href={address("catalog")}>All operations</a>
        </>
      }
    >
      <div class="contract">
        <p class="row">
          <code>{id}</code> {contract.own && <OwnMark />} <StateMark state={status} />
          {status !== "implemented" && <span class="muted">This operation cannot run yet</span>}
        </p>
        <p>{description}</p>
        <CopyCommand command={commandOf("ops", "show", id)} />
        <Ports contract={contract} />
        <Parameters contract={contract} />
        <Unavailable contract={contract} />
        <Implementations contract={contract} />
        {contract.trained_artifact_abi !== undefined && <Artifacts id={id} />}
        <Validation id={id} />
        <Section title="Document">
          <p class="small muted">
            The same as <code>svc ops show {id} --json</code>
          </p>
          <pre tabIndex={0} aria-label="Contract as JSON" data-contract={id}>{prettyJson(contract)}</pre>
        </Section>
      </div>
    </Page>
  );
}

/** Marks an operation of an own file or of an adapter. */
export const OwnMark = () => <span class="tag" data-tone="own">own</span>;

function Ports({ contract }: { contract: Contract }) {
  const { input_kinds, optional_input_kinds, output_kinds, output_same_kind_as: same = {} } = contract;
  const rows = ([[input_kinds, "in"], [optional_input_kinds, "in, optional"], [output_kinds, "out"]] as const)
    .flatMap(([ports, direction]) =>
      Object.entries(ports).map(([port, kinds]) => ({
        port,
        direction,
        kinds: [kinds].flat(),
        same: ports === output_kinds ? same[port] : undefined,
      }))
    );
  return (
    <Section title="Ports">
      <Table
        label="Ports"
        rows={rows}
        columns={[
          ["Port", ({ port }) => port, "mono"],
          ["Direction", ({ direction }) => direction],
          ["Kinds", ({ kinds, same }) =>
            same !== undefined
              ? (
                <>
                  the kind of <span class="mono">{same}</span>
                </>
              )
              : kinds.map((kind) => (
                <div key={kind}>
                  <a class="mono" href={address("catalog", ["kinds"], { q: kind })}>{kind}</a>
                </div>
              )), "small"],
        ]}
      />
    </Section>
  );
}

function Parameters({ contract: { params_schema } }: { contract: Contract }) {
  const needed = Array.isArray(params_schema.required) ? params_schema.required : [];
  const rows = Object.entries((params_schema.properties ?? {}) as Record<string, JsonObject>);
  return (
    <Section title="Parameters">
      {rows.length === 0 ? <p class="muted">None</p> : (
        <Table
          label="Parameters"
          rows={rows}
          columns={[
            ["Name", ([name]) => name, "mono"],
            ["Type", ([, schema]) => typeText(schema), "mono small"],
            [
              "Default",
              ([name, { default: value }]) =>
                value !== undefined ? prettyJson(value).trim() : needed.includes(name) ? "required" : "–",
              "mono small",
            ],
            ["Description", ([, { description }]) => String(description ?? "")],
          ]}
        />
      )}
    </Section>
  );
}

function Unavailable({ contract }: { contract: Contract }) {
  const rows = unavailableRows(contract);
  return rows.length === 0 ? null : (
    <Section title="Values that cannot be chosen">
      <Table
        label="Values that cannot be chosen"
        rows={rows}
        columns={[
          ["Parameter", ({ parameter }) => parameter, "mono"],
          ["Values", ({ values }) => values.join(", "), "mono small"],
          ["Reason", ({ reason }) => reason],
        ]}
      />
    </Section>
  );
}

const Implementations = ({ contract: { materializations } }: { contract: Contract }) => (
  <Section title="Implementations">
    <Fold count={materializations.length} what="implementations">
      <Table
        label="Implementations"
        rows={materializations}
        columns={[
          ["Runner", ({ runner }) => runner, "mono"],
          ["Runs in", ({ backend }) => runtimesText([backend]), "", ({ backend }) => backend],
          ["Implementation", ({ implementation }) => implementation, "mono"],
          ["Status", ({ status }) => <StateMark state={status} />],
          ["Notes", ({ notes }) => notes],
        ]}
      />
    </Fold>
  </Section>
);

function Artifacts({ id }: { id: string }) {
  const found = useFetched("/api/trained-artifacts", { query: { operation: id } });
  return (
    <Section title="Trained artifacts">
      <Shown of={found} what="the artifacts">
        {({ artifacts }) =>
          artifacts.length === 0
            ? <p class="muted">None fits. A training project makes one, svc artifact import installs one.</p>
            : <ArtifactTable artifacts={artifacts} />}
      </Shown>
    </Section>
  );
}

/** The cards that prove the operation; their number and largest deviation as `svc ops show` prints them. */
function Validation({ id }: { id: string }) {
  const found = useFetched("/api/validation/cards", { query: { operation: id } });
  return (
    <Section title="Validation">
      <Shown of={found} what="the validation cards">
        {({ cards, proof }) => (
          <>
            <p>{proof}</p>
            {cards.length > 0 && (
              <Fold count={cards.length} what="validation cards">
                <Table label="Validation cards" rows={cards} keyOf={({ id }) => id} columns={CARD_COLUMNS} />
              </Fold>
            )}
          </>
        )}
      </Shown>
    </Section>
  );
}

function typeText({ type, minimum, maximum, anyOf, ...rest }: JsonObject): string {
  if (Array.isArray(rest.enum)) return rest.enum.map(String).join(" | ");
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeText(one as JsonObject)).join(" or ");
  const range = minimum === undefined && maximum === undefined ? "" : ` ${minimum ?? "−∞"} … ${maximum ?? "∞"}`;
  return [type].flat().join(" or ") + range;
}
