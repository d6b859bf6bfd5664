/** Trained artifacts that fit the trainable component of the selected block: one click fills place, digest and entry point. */
import type { JsonObject } from "../../lib/contract/value.ts";
import type { Reply } from "../api.ts";
import { Shown, StateMark } from "../parts.tsx";
import { useState } from "../preact.ts";
import { address } from "../router.ts";
import { contracts } from "../state/contracts.ts";
import { type Copy, edit, type Step } from "../state/copies.ts";
import { useFetched } from "../state/fetched.ts";

type Artifact = Reply<"/api/trained-artifacts">["artifacts"][number];

export default function ArtifactChooser({ copy, step }: { copy: Copy; step: Step }) {
  const [open, setOpen] = useState(false);
  const found = useFetched(open ? "/api/trained-artifacts" : null, { query: { operation: step.op } });
  return (
    <section class="chooser" aria-label="Trained artifacts">
      <button type="button" class="small" aria-expanded={open} onClick={() => setOpen(!open)}>
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
