/** The contract of one operation: what `svc ops show --json` says, laid out, and the document itself. */
import { prettyJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { commandOf, CopyCommand } from "../../copy_command.tsx";
import { Page } from "../../frame.tsx";
import { Pending } from "../../panels/notices.tsx";
import { StateMark } from "../../panels/state_mark.tsx";
import { address } from "../../router.ts";
import type { Contract } from "../../state/contracts.ts";
import { useFetched } from "../../state/fetched.ts";

export function OperationPage({ id }: { id: string }) {
  const found = useFetched<Contract>(`/api/ops/${encodeURIComponent(id)}`);
  if (found.data === null) {
    return (
      <Page title={id}>
        <Pending of={found} what="the contract" />
      </Page>
    );
  }
  const contract = found.data;
  const { name, description, status, params_schema, materializations } = contract;
  const parameters = Object.entries((params_schema.properties ?? {}) as Record<string, JsonObject>);
  return (
    <Page title={name} actions={<a href={address("catalog")}>All operations</a>}>
      <div class="contract">
        <p class="row">
          <code>{id}</code> <StateMark state={status} />
          {status !== "implemented" && <span class="muted">It can be read about, not run</span>}
        </p>
        <p>{description}</p>
        <CopyCommand command={commandOf("ops", "show", id)} />
        <section aria-labelledby="ports">
          <h2 id="ports">Ports</h2>
          <div class="scroll" role="group" aria-label="Ports" tabindex={0}>
            <table>
              <thead>
                <tr>
                  <th>Port</th>
                  <th>Direction</th>
                  <th>Kinds</th>
                </tr>
              </thead>
              <tbody>
                <PortRows of={contract.input_kinds} direction="in" />
                <PortRows of={contract.optional_input_kinds} direction="in, optional" />
                <PortRows of={contract.output_kinds} direction="out" />
              </tbody>
            </table>
          </div>
        </section>
        <section aria-labelledby="parameters">
          <h2 id="parameters">Parameters</h2>
          {parameters.length === 0
            ? <p class="muted">None</p>
            : (
              <div class="scroll" role="group" aria-label="Parameters" tabindex={0}>
                <table>
                  <thead>
                    <tr>
                      <th>Name</th>
                      <th>Type</th>
                      <th>Default</th>
                      <th>Meaning</th>
                    </tr>
                  </thead>
                  <tbody>
                    {parameters.map(([parameter, schema]) => (
                      <tr key={parameter}>
                        <td class="mono">{parameter}</td>
                        <td class="mono small">{typeText(schema)}</td>
                        <td class="mono small">
                          {schema.default === undefined ? "required" : prettyJson(schema.default).trim()}
                        </td>
                        <td>{String(schema.description ?? "")}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
        </section>
        <section aria-labelledby="implementations">
          <h2 id="implementations">Implementations</h2>
          <div class="scroll" role="group" aria-label="Implementations" tabindex={0}>
            <table>
              <thead>
                <tr>
                  <th>Runner</th>
                  <th>Backend</th>
                  <th>Implementation</th>
                  <th>Status</th>
                  <th>Notes</th>
                </tr>
              </thead>
              <tbody>
                {materializations.map((row, index) => (
                  <tr key={index}>
                    <td class="mono">{String(row.runner)}</td>
                    <td class="mono">{String(row.backend)}</td>
                    <td class="mono">{String(row.implementation)}</td>
                    <td>
                      <StateMark state={String(row.status)} />
                    </td>
                    <td>{String(row.notes ?? "")}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
        <section aria-labelledby="document">
          <h2 id="document">Document</h2>
          <p class="small muted">
            The same as <code>svc ops show {id} --json</code>
          </p>
          <pre tabIndex={0} aria-label="Contract as JSON" data-contract={id}>{prettyJson(contract)}</pre>
        </section>
      </div>
    </Page>
  );
}

function PortRows({ of, direction }: { of: { [port: string]: string | string[] }; direction: string }) {
  return (
    <>
      {Object.entries(of).map(([port, kinds]) => (
        <tr key={port}>
          <td class="mono">{port}</td>
          <td>{direction}</td>
          <td class="small">
            {[kinds].flat().map((kind) => (
              <div key={kind}>
                <a class="mono" href={address("catalog", ["kinds"], { q: kind })}>{kind}</a>
              </div>
            ))}
          </td>
        </tr>
      ))}
    </>
  );
}

function typeText({ type, minimum, maximum, anyOf, ...rest }: JsonObject): string {
  if (Array.isArray(rest.enum)) return rest.enum.map(String).join(" | ");
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeText(one as JsonObject)).join(" or ");
  const range = minimum === undefined && maximum === undefined ? "" : ` ${minimum ?? "−∞"} … ${maximum ?? "∞"}`;
  return [type].flat().join(" or ") + range;
}
