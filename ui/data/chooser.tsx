/** Data for the selected source: a list in place of a typed path and digest, and the images of its manifest with ticks. */
import { problemText, type Reply } from "../api.ts";
import { Check, Hidden, Shown, Trouble } from "../parts.tsx";
import { useState } from "../preact.ts";
import { address } from "../router.ts";
import type { Copy, Step } from "../state/copies.ts";
import { setParam } from "../state/copies.ts";
import { useFetched } from "../state/fetched.ts";
import { State } from "./sets.tsx";
import { type DataSet, kindRead, putParams, readUse } from "./use.ts";

interface Props {
  copy: Copy;
  step: Step;
}

export default function Chooser({ copy, step }: Props) {
  const [open, setOpen] = useState(false), { image_ids, manifest_path } = step.params;
  const kind = kindRead(step.op);
  if (kind === undefined) return null;
  return (
    <section class="chooser" aria-label="Data of the project">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        Choose data of the project
      </button>
      {open && <Sets copy={copy} step={step} kind={kind} onDone={() => setOpen(false)} />}
      {kind === "images" && typeof manifest_path === "string" && manifest_path !== "" && (
        <Images
          key={manifest_path}
          path={manifest_path}
          chosen={String(image_ids ?? "")}
          onChoose={(ids) => setParam(copy, step.id, "image_ids", ids)}
        />
      )}
    </section>
  );
}

function Sets({ copy, step, kind, onDone }: Props & { kind: DataSet["kind"]; onDone(): void }) {
  const found = useFetched("/api/data/sets"), [problem, setProblem] = useState<string | null>(null);
  const choose = (set: DataSet) =>
    readUse(set, step.op).then(({ params }) => {
      putParams(copy, copy.recipe, step.id, params);
      onDone();
    }).catch((error) => setProblem(problemText(error)));
  return (
    <Shown of={found} what="the data of the project">
      {({ sets }) => {
        const fitting = sets.filter((set) => set.kind === kind && set.state !== "unreadable");
        return (
          <>
            {fitting.length === 0 && (
              <p class="muted">
                The project has none of this kind. <a href={address("data")}>Add files</a>
              </p>
            )}
            <ul class="chooser-sets">
              {fitting.map((set) => (
                <li key={set.path} class="row">
                  <button type="button" onClick={() => choose(set)}>
                    {set.id ?? set.path}
                    {set.sample_count !== null && <Hidden>, {String(set.sample_count)} samples</Hidden>}
                  </button>
                  <span class="small muted">
                    {set.id !== null && set.path} {set.sample_count !== null && `${set.sample_count} samples`}
                  </span>
                  {set.state !== "unchanged" && <State set={set} />}
                </li>
              ))}
            </ul>
            <Trouble text={problem} />
          </>
        );
      }}
    </Shown>
  );
}

type Shot = { id: string; png?: string };

/** The images of a manifest with ticks; all of them are the empty list. */
function Images({ path, chosen, onChoose }: { path: string; chosen: string; onChoose(ids: string): void }) {
  const [open, setOpen] = useState(false);
  const found = useFetched(open ? "/api/data/preview" : null, { query: { path } });
  return (
    <>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>Choose images</button>
      {open && (
        <Shown of={found} what="the images">
          {(contents) => <Ticks contents={contents} chosen={chosen} onChoose={onChoose} />}
        </Shown>
      )}
    </>
  );
}

function Ticks({ contents: { description, preview }, chosen, onChoose }: {
  contents: Reply<"/api/data/preview">;
  chosen: string;
  onChoose(ids: string): void;
}) {
  const ids = (description?.sample_ids ?? []) as string[];
  const shots = new Map(((preview?.images ?? []) as unknown as Shot[]).map((shot) => [shot.id, shot.png]));
  const ticked = new Set(chosen.split(",").map((id) => id.trim()).filter(Boolean));
  const isOn = (id: string) => ticked.size === 0 || ticked.has(id);
  const toggle = (id: string) => {
    const next = ids.filter((one) => one === id ? !isOn(id) : isOn(one));
    if (next.length > 0) onChoose(next.length === ids.length ? "" : next.join(","));
  };
  return (
    <ul class="data-images" aria-label="Images of the manifest">
      {ids.map((id) => (
        <li key={id}>
          {shots.get(id) !== undefined && (
            <img alt="" src={`data:image/png;base64,${shots.get(id)}`} width={72} height={72} />
          )}
          <Check look="small" label={id} checked={isOn(id)} onChange={() => toggle(id)} />
        </li>
      ))}
    </ul>
  );
}
