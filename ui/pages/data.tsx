// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** Data of the project: folders and files, what they hold, their manifests, and their use in the open recipe. */
import { replacements } from "../../lib/contract/graph_edits.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { post, Problem, problemText, type Reply, type ReplyOf } from "../api.ts";
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { ProjectSets, State } from "../data/sets.tsx";
import { Upload } from "../data/upload.tsx";
import { type DataSet, putParams, type Use, useOf } from "../data/use.ts";
import { bytesText } from "../runs/amounts.ts";
import { Digest, Facts, Page, Section, Shown, Table, Trouble } from "../parts.tsx";
import { useEffect, useState } from "../preact.ts";
import { address, go, place } from "../router.ts";
import { contracts } from "../state/contracts.ts";
import { active, type Copy, nameOf, restore, stepsOf, update } from "../state/copies.ts";
import { useFetched } from "../state/fetched.ts";

type Contents = Reply<"/api/data/preview">;
type File = Reply<"/api/data/files">["files"][number];
export default function Data() {
  const folder = place.value.path.join("/"), chosen = place.value.query.get("file");
  const found = useFetched("/api/data/files", { query: { folder } }), [turn, setTurn] = useState(0);
  useEffect(() => void restore().catch(() => {}), []);
  return (
    <Page title="Data">
      <p class="muted">
        Files of the project. Choose a file to see what it holds, or make the manifest of a folder of images or texts.
      </p>
      <Upload
        folder={folder}
        again={() => {
          found.again();
          setTurn(turn + 1);
        }}
      />
      <Trail folder={folder} />
      <div class="data-columns">
        <Section title="Files">
          <Shown of={found} what="the files">
            {({ files, truncated }) => <Files folder={folder} files={files} truncated={truncated} chosen={chosen} />}
          </Shown>
        </Section>
        {(chosen ?? folder) !== "" && (
          <Chosen key={`${turn} ${chosen ?? folder}`} path={chosen ?? folder} again={found.again} />
        )}
      </div>
      {folder === "" && chosen === null && <ProjectSets />}
    </Page>
  );
}

/** The folder as links to those above it. */
function Trail({ folder }: { folder: string }) {
  const parts = folder === "" ? [] : folder.split("/");
  return (
    <nav class="row" aria-label="Folder">
      <a href={address("data")}>Project</a>
      {parts.map((part, index) => (
        <span key={index}>
          / <a href={address("data", parts.slice(0, index + 1))}>{part}</a>
        </span>
      ))}
    </nav>
  );
}

function Files({ folder, files, truncated, chosen }: {
  folder: string;
  files: readonly File[];
  truncated: boolean;
  chosen: string | null;
}) {
  if (files.length === 0) {
    return <p class="empty">No files. Drop some above, or copy data into the folder of the project.</p>;
  }
  const name = (path: string) => path.slice(path.lastIndexOf("/") + 1), parts = folder.split("/").filter(Boolean);
  return (
    <>
      <Table
        label="Files"
        rows={files}
        keyOf={({ path }) => path}
        columns={[
          ["Name", ({ path, kind }) =>
            kind === "folder"
              ? <a href={address("data", path.split("/"))}>{name(path)}/</a>
              : (
                <a href={address("data", parts, { file: path })} aria-current={path === chosen ? "true" : undefined}>
                  {name(path)}
                </a>
              )],
          ["Kind", ({ kind }) =>
            kind],
          ["Size", ({ size_bytes }) =>
            size_bytes === null ? "–" : bytesText(Number(size_bytes)), "number"],
        ]}
      />
      {truncated && <p class="muted">Only the first {files.length} files are listed.</p>}
    </>
  );
}

function Chosen({ path, again }: { path: string; again(): void }) {
  const found = useFetched("/api/data/preview", { query: { path } });
  return (
    <Section title={path}>
      <Shown of={found} what="the content">
        {(contents) => (
          <>
            <Preview preview={contents.preview} />
            {contents.kind === "manifest" && contents.description !== null && (
              <State set={{ path, ...contents.description } as DataSet} />
            )}
            {contents.description != null && <Described description={contents.description} />}
            <Actions contents={contents} again={again} />
          </>
        )}
      </Shown>
    </Section>
  );
}

function Described({ description }: { description: JsonObject }) {
  const { sha256, arrays, path: _, sample_ids: _ids, splits, problems: _problems, ...known } = description;
  const facts = { ...known, ...(splits !== undefined && { splits: Object.keys(splits as JsonObject) }) };
  const shapes = Array.isArray(arrays) ? arrays as { name: string; dtype: string; shape: unknown[] }[] : [];
  return (
    <>
      <Facts
        of={[
          ...Object.entries(facts).map(([name, value]) =>
            [
              name.replaceAll("_", " "),
              Array.isArray(value) ? value.join(", ") || "none" : String(value ?? "–"),
            ] as const
          ),
          ["SHA-256", <Digest text={String(sha256)} />],
        ]}
      />
      {shapes.length > 0 && (
        <Table
          label="Arrays"
          rows={shapes}
          columns={[
            ["Array", ({ name }) => name || "–", "mono"],
            ["Type", ({ dtype }) => dtype, "mono"],
            ["Shape", ({ shape }) => `[${shape.join(", ")}]`, "mono"],
          ]}
        />
      )}
    </>
  );
}

type Shot = { path: string; width?: number; height?: number; png?: string; problem?: string };

function Preview({ preview }: { preview: Contents["preview"] }) {
  if (preview === null) return null;
  if (preview.kind === "lines") {
    return <pre class="data-lines" tabIndex={0} aria-label="First lines">{(preview.lines as string[]).join("\n")}</pre>;
  }
  if (preview.kind !== "images") return <Curve preview={preview} />;
  const images = preview.images as unknown as Shot[];
  return (
    <>
      <ul class="data-images" aria-label="Images">
        {images.map(({ path, width, height, png, problem }) => {
          const name = path.slice(path.lastIndexOf("/") + 1);
          return (
            <li key={path}>
              {png === undefined
                ? <span class="problem">{problem}</span>
                : <img alt="" src={`data:image/png;base64,${png}`} width={72} height={72} />}
              <span class="small clip" title={name}>{name}</span>
              {width !== undefined && <span class="small muted">{width} x {height}</span>}
            </li>
          );
        })}
      </ul>
      <p class="muted">{images.length} of {String(preview.count)} images</p>
    </>
  );
}

const WIDTH = 480, HEIGHT = 180, LEFT = 44, BOTTOM = 28;

/** A spectrum or a power-delay profile: levels in dB beside the largest. */
function Curve({ preview }: { preview: JsonObject }) {
  const x = (preview.x as number[]).map(Number), y = (preview.level_db as number[]).map(Number);
  const isSpectrum = preview.kind === "spectrum", title = isSpectrum ? "Spectrum" : "Power-delay profile";
  const low = Math.floor(Math.min(...y, -10) / 10) * 10, first = x[0], last = x.at(-1)!;
  const px = (value: number) => LEFT + (WIDTH - LEFT - 8) * (value - first) / (last - first || 1);
  const py = (level: number) => 8 + (HEIGHT - BOTTOM - 8) * level / low;
  const line = x.map((value, i) => `${i === 0 ? "M" : "L"}${px(value).toFixed(1)} ${py(y[i]).toFixed(1)}`).join("");
  const stems = x.map((value, i) => `M${px(value).toFixed(1)} ${py(low)}V${py(y[i]).toFixed(1)}`).join("");
  return (
    <figure class="data-curve">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}, ${x.length} points`}>
        {[0, low / 2, low].map((level) => (
          <g key={level}>
            <path class="grid" d={`M${LEFT} ${py(level)}H${WIDTH - 8}`} />
            <text x={LEFT - 6} y={py(level) + 4} text-anchor="end">{level}</text>
          </g>
        ))}
        <text x={LEFT} y={HEIGHT - 8}>{short(first)}</text>
        <text x={WIDTH - 8} y={HEIGHT - 8} text-anchor="end">{short(last)}</text>
        <path class="line" d={isSpectrum ? line : stems} />
      </svg>
      <figcaption class="small muted">
        {title} in dB over {isSpectrum ? "frequency" : "delay"} in {String(preview.x_unit)}
      </figcaption>
    </figure>
  );
}

const short = (value: number) => String(Number(value.toPrecision(4)));

function Actions({ contents, again }: { contents: Contents; again(): void }) {
  const [made, setMade] = useState<Made | null>(null), [problem, setProblem] = useState<unknown>(null);
  const { path, kind, description, preview } = contents, sha256 = String(description?.sha256 ?? "");
  const holds = kind !== "manifest" && preview?.kind === "images" || preview?.kind === "lines" ||
    kind === "folder" && path !== "";
  const kindOfSet = kind === "manifest"
    ? description?.kind as DataSet["kind"] | undefined
    : kind === "recording" || kind === "code" || kind === "arrays" && preview !== null
    ? kind
    : undefined;
  const use = made !== null && Object.hasOwn(OF_MANIFEST, made.kind)
    ? useOf(OF_MANIFEST[made.kind], made)
    : kindOfSet !== undefined && sha256 !== ""
    ? useOf(kindOfSet, { path, sha256, id: description?.id as string | null })
    : null;
  const make = (skip_unreadable: boolean) =>
    post("/api/data/manifests", { path, skip_unreadable }).then((result) => {
      setMade(result);
      setProblem(null);
      again();
    }, setProblem);
  const unreadable = problem instanceof Problem
    ? problem.diagnostics.filter(({ code }) => code.startsWith("image_file_"))
    : [];
  return (
    <>
      {made !== null && (
        <Facts
          of={[
            ["Manifest", <span class="mono">{made.path}</span>],
            ["Samples", String(made.sample_count ?? "–")],
            ["SHA-256", <Digest text={made.sha256} />],
          ]}
        />
      )}
      {made?.warnings.map((text) => <Trouble key={text} tone="warn" text={text} />)}
      {unreadable.length > 0
        ? unreadable.map(({ message }) => <Trouble key={message} text={message} />)
        : <Trouble text={problem === null ? null : problemText(problem)} />}
      <p class="row">
        {holds && made === null && <button type="button" onClick={() => make(false)}>Make the manifest</button>}
        {unreadable.length > 0 && (
          <button type="button" onClick={() => make(true)}>Leave out what cannot be read</button>
        )}
        {use !== null && <UseButton use={use} />}
        {holds && <CopyCommand command={commandOf("data make-manifest", path)} />}
        {description != null && <CopyCommand command={commandOf("data inspect", path)} />}
      </p>
    </>
  );
}
type Made = ReplyOf<"post", "/api/data/manifests">;
const OF_MANIFEST: Readonly<Record<string, DataSet["kind"]>> = {
  "svc.image_dataset_manifest": "images",
  "svc.text_dataset_manifest": "texts",
  "svc.bit_payload_manifest": "bits",
};

function UseButton({ use }: { use: Use }) {
  const copy = active(), [problem, setProblem] = useState<string | null>(null);
  if (copy === null) return <a href={address("templates")}>Open a recipe to use it in</a>;
  return (
    <>
      <button
        type="button"
        class="primary"
        onClick={() => {
          const refused = putSource(copy, use);
          setProblem(refused);
          if (refused === null) go("editor");
        }}
      >
        Use in {nameOf(copy)}
      </button>
      <Trouble text={problem} />
    </>
  );
}

/** Names and pins the data in the source of a recipe, which is replaced where it reads other data; the reason when it cannot. */
function putSource(copy: Copy, { operation, params }: Use): string | null {
  const sources = stepsOf(copy.recipe).filter(({ op }) => op.startsWith("source."));
  let recipe = copy.recipe, step = sources.find(({ op }) => op === operation);
  for (const source of step === undefined ? sources : []) {
    const choice = replacements(recipe, source.id, contracts.value).find(({ name }) => name === operation);
    if (choice === undefined || !("recipe" in choice.edit)) continue;
    const replaced = choice.edit.recipe;
    step = stepsOf(replaced).find(({ id, op }) => id === source.id && op === operation);
    if (step !== undefined) {
      recipe = replaced;
      break;
    }
  }
  if (step === undefined) return `${nameOf(copy)} has no source that ${operation} can replace`;
  putParams(copy, recipe, step.id, params);
  update(copy.id, { selected: step.id });
  return null;
}
