/**
 * Trained artifacts that fit the trainable component of the selected block, where one click fills place, digest and entry point;
 * and the places of a trained artifact in the open recipe.
 */
import { sameValue } from "../../lib/contract/json.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import type { Edit } from "../../lib/contract/graph_draft.ts";
import type { Reply } from "../api.ts";
import { Places, Use } from "../panels/replace.tsx";
import { Diagnostics, Digest, Shown, StateMark, Table, Trouble } from "../parts.tsx";
import { useState } from "../preact.ts";
import { address } from "../router.ts";
import { contracts } from "../state/contracts.ts";
import { type Copy, edit, nameOf, type Step, stepsOf } from "../state/copies.ts";
import { useFetched } from "../state/fetched.ts";

type Artifact = Reply<"/api/trained-artifacts">["artifacts"][number];

export default function ArtifactChooser({ copy, step }: { copy: Copy; step: Step }) {
  const [open, setOpen] = useState(false);
  const found = useFetched(open ? "/api/trained-artifacts" : null, { query: { operation: step.op } });
  return (
    <section class="chooser" aria-label="Trained artifacts">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        Choose a trained artifact
      </button>
      {open && (
        <Shown of={found} what="the artifacts">
          {({ artifacts }) => {
            const usable = artifacts.filter(({ recipe_path, package_sha256 }) =>
              recipe_path !== null && package_sha256
            );
            return usable.length === 0
              ? (
                <p class="muted">
                  No artifact fits this block. <a href={address("training")}>Train one</a>, or use svc artifact import.
                </p>
              )
              : (
                <ul class="chooser-sets">
                  {usable.map((artifact) => (
                    <li key={artifact.package_sha256} class="row">
                      <button
                        type="button"
                        aria-pressed={step.params.artifact_package_sha256 === artifact.package_sha256}
                        disabled={artifact.status === "invalid"}
                        onClick={() => {
                          edit(copy.id, withArtifact(copy.recipe, step.id, artifact));
                          setOpen(false);
                        }}
                      >
                        {artifact.label ?? artifact.name}
                      </button>
                      <span class="small muted">{artifact.id}, {artifact.place}</span>
                      {artifact.trained_for !== null && <p class="small">Trained for {artifact.trained_for}</p>}
                      <Trouble tone="warn" text={mismatch(step, artifact)} />
                      {artifact.status === "invalid" && <StateMark state="failed" word="invalid" />}
                    </li>
                  ))}
                </ul>
              );
          }}
        </Shown>
      )}
    </section>
  );
}

/** Trained artifacts with their state, and their use in the open recipe. */
export const ArtifactTable = ({ artifacts }: { artifacts: readonly Artifact[] }) => (
  <Table
    label="Trained artifacts"
    rows={artifacts}
    columns={[
      ["Artifact", (artifact) => (
        <>
          {artifact.name} <div class="mono small muted">{artifact.id}</div>
          {isUsable(artifact) && (
            <div class="row small">
              <UseArtifact artifact={artifact} />
            </div>
          )}
        </>
      )],
      ["State", ({ status, diagnostics }) => (
        <>
          <StateMark state={status} />
          {diagnostics.length > 0 && <Diagnostics items={diagnostics} />}
        </>
      )],
      ["Used by", (artifact) => <Users of={artifact} />, "small"],
      ["From", (artifact) => `${artifact.place}, ${artifact.source_class.replaceAll("_", " ")}`],
      ["SHA-256", ({ package_sha256 }) => <Digest text={package_sha256} />],
    ]}
  />
);

/** The operations that run an artifact: in their trainable component, or by the name of the network. */
function Users({ of: { id, operations } }: { of: Artifact }) {
  if (operations.length > 0) return <span class="mono">{operations.join(", ")}</span>;
  // The table beside it reads them, and says where it cannot.
  if (contracts.value.size === 0) return <>–</>;
  const name = id.replace(/-v\d+$/, "").replaceAll("-", "_");
  const users = [...contracts.value.values()].filter(({ params_schema }) => {
    const text = JSON.stringify(params_schema);
    return text.includes(id) || text.includes(`"${name}"`);
  });
  return users.length > 0
    ? (
      <>
        <span class="mono">{users.map(({ id }) => id).join(", ")}</span>, by name
      </>
    )
    : (
      <>
        No trainable component: recipes name it. <a href={address("templates", [], { q: id })}>Recipes with it</a>
      </>
    );
}

/** Whether a recipe can name the artifact. */
const isUsable = ({ recipe_path, package_sha256, status, operations }: Artifact): boolean =>
  recipe_path !== null && Boolean(package_sha256) && status !== "invalid" && operations.length > 0;

/** A trained artifact in the open recipe: the blocks that can run it, and the places of its operation. */
function UseArtifact({ artifact }: { artifact: Artifact }) {
  const [id] = artifact.operations, title = artifact.label ?? artifact.name;
  const complete = (edit: Edit): Edit =>
    "refused" in edit ? edit : {
      ...edit,
      recipe: withArtifact(edit.recipe, edit.selected, artifact),
      changes: [...edit.changes, `${edit.selected} runs ${title}`],
    };
  return (
    <Use id={id}>
      {(copy, onClose) => (
        <Places
          id={id}
          title={`Use ${title} in ${nameOf(copy)}`}
          copy={copy}
          first={stepsOf(copy.recipe).filter(({ op }) => artifact.operations.includes(op)).map((step) => ({
            name: step.id,
            edit: complete({ recipe: copy.recipe, selected: step.id, changes: [] }),
          }))}
          complete={complete}
          onClose={onClose}
        />
      )}
    </Use>
  );
}

/** Parameters of the step that the artifact was not made for: it is then refused; null where all match. */
function mismatch(step: Step, { conditions }: Artifact): string | null {
  const contract = contracts.value.get(step.op), fixed = contract?.trained_artifact_abi?.binding_params ?? {};
  const properties = (contract?.params_schema.properties ?? {}) as { [name: string]: JsonObject };
  const differences = (conditions[step.op] ?? []).map((wanted) =>
    Object.entries(wanted as JsonObject).filter(([name, value]) => {
      // The choice sets bound parameters: a default is no wish of the author, nor is another mode.
      const bound = Object.hasOwn(fixed, name) && (value === "learned_artifact" || step.params[name] === undefined);
      return !bound && !sameValue(step.params[name] ?? properties[name]?.default, value);
    })
  );
  if (differences.length === 0 || differences.some((found) => found.length === 0)) return null;
  const [first] = differences.sort((a, b) => a.length - b.length);
  const text = (value: unknown) => typeof value === "string" ? value : JSON.stringify(value) ?? "unset";
  return first.map(([name, value]) =>
    `Made for ${name} ${text(value)}, and this block has ${text(step.params[name] ?? properties[name]?.default)}`
  ).join("; ");
}

/** The recipe whose step runs the artifact, and with it the other half of a pair: an encoder has the decoder of its package. */
function withArtifact(recipe: JsonObject, stepId: string, artifact: Artifact): JsonObject {
  const steps = recipe.steps as JsonObject[], own = steps.find(({ id }) => id === stepId)!.op;
  return {
    ...recipe,
    steps: steps.map((step) => {
      const op = String(step.op), partner = op !== own && artifact.operations.includes(op);
      const binding = contracts.value.get(op)?.trained_artifact_abi?.binding_params;
      if (step.id !== stepId && !partner || binding === undefined) return step;
      const { artifact_manifest_path: _, ...fixed } = binding;
      const { artifact_manifest_path: _path, ...params } = (step.params ?? {}) as JsonObject;
      const place: JsonObject = artifact.recipe_path === "" ? {} : { artifact_manifest_path: artifact.recipe_path };
      const bound: JsonObject = { ...params, ...fixed, ...place, artifact_package_sha256: artifact.package_sha256 };
      return { ...step, params: bound };
    }),
  };
}
