/** Recipe files of the project and of the program: opening one, saving under a name, and the choice where a file has changed. */
import { canonicalJson } from "../../lib/contract/json.ts";
import { problemText } from "../api.ts";
import { Dialog, Trouble, Wait } from "../parts.tsx";
import { useState } from "../preact.ts";
import { conflict, copies, type Copy, edit, fileOf, nameOf, openFile, saveOver, update } from "../state/copies.ts";
import { useFetched } from "../state/fetched.ts";
import { Changes } from "./changes.tsx";
import { saveNow } from "./save_now.ts";

/** Whether a recipe stands beside own code: the digest of an adapter covers its files, so that Save leaves them alone. */
const isBeside = ({ path }: { path: string }): boolean => !path.startsWith("recipes/");

/** For the palette, which has no other way to this chunk. */
export { openFile };

export function OpenDialog({ onClose }: { onClose(): void }) {
  const found = useFetched("/api/recipes"), files = found.value?.recipes ?? [];
  const [filter, setFilter] = useState(""), [problem, setProblem] = useState<string | null>(null);
  const open = (path: string) => openFile(path).then(onClose, (error) => setProblem(problemText(error)));
  const wanted = filter.toLowerCase();
  // Files of that very name first, then those with it in their path, then in their description; the project's own first.
  const rank = ({ path, place }: typeof files[number]) =>
    (path.replace(/^.*\/|\.\w+$/g, "") === wanted ? 0 : path.toLowerCase().includes(wanted) ? 2 : 4) +
    (place === "program" ? 1 : 0);
  const shown = files.filter(({ path, description }) => `${path} ${description ?? ""}`.toLowerCase().includes(wanted))
    .sort((a, b) => rank(a) - rank(b));
  return (
    <Dialog title="Open a recipe file" onClose={onClose}>
      <label class="hidden-text" for="file-filter">Filter files</label>
      <input
        id="file-filter"
        class="wide"
        autofocus
        placeholder="Filter files, Enter opens the first"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && shown.length > 0 && open(shown[0].path)}
      />
      <Trouble text={problem} />
      {found.value === null && <Wait of={found} what="the files" />}
      {found.value !== null && shown.length === 0 && (
        <p class="empty">
          {files.length === 0 ? "No files in recipes/ yet. Save puts an open recipe there." : "No file matches."}
        </p>
      )}
      <ul class="choices files">
        {shown.map((file) => (
          <li key={file.path}>
            <button type="button" class="choice" onClick={() => open(file.path)}>
              <span class="mono">{file.path}</span>
              {file.place === "program" && <span class="tag">program</span>}
              {isBeside(file) && <span class="tag">Save makes a copy in recipes/</span>}
              <span class="tag" data-tone={file.status === "valid" ? "ok" : "error"}>{file.status}</span>
              <span class="muted clip">{file.description ?? file.diagnostics[0]?.message ?? ""}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

export function SaveAsDialog({ copy, onClose }: { copy: Copy; onClose(): void }) {
  const [path, setPath] = useState(copy.file?.path ?? fileOf(nameOf(copy))), [problem, setProblem] = useState("");
  return (
    <Dialog title="Save as" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          saveNow(copy, path.trim()).then(onClose, (error) => setProblem(problemText(error)));
        }}
      >
        <label for="save-as">File in recipes/, ending in .yaml or .json</label>
        <div class="row">
          <input
            id="save-as"
            class="mono wide"
            value={path}
            spellcheck={false}
            onInput={(event) => setPath(event.currentTarget.value)}
          />
          <button type="submit" class="primary">Save</button>
        </div>
        <Trouble text={problem} />
      </form>
    </Dialog>
  );
}

/** The choice where a file changed since it was read. */
export function ConflictDialog() {
  const [problem, setProblem] = useState("");
  const found = conflict.value;
  const copy = copies.value.find(({ id }) => id === found?.copyId);
  if (found === null || copy === undefined) return null;
  const { path, etag, recipe, changes } = found;
  const close = () => conflict.value = null;
  return (
    <Dialog title={`${path} has other contents`} onClose={close}>
      <p>
        {copy.file?.path === path
          ? "The file changed since it was read here."
          : "There is a file of this name already."} Nothing was written. Saving would make these changes:
      </p>
      <Changes changes={changes} a="In the file" b="Here" />
      <Trouble text={problem} />
      <div class="row end-tools">
        <button type="button" onClick={close}>Cancel</button>
        <button
          type="button"
          onClick={() => {
            edit(copy.id, recipe);
            update(copy.id, { file: { path, etag }, savedText: canonicalJson(recipe) });
            close();
          }}
        >
          Use the file's version
        </button>
        <button
          type="button"
          class="primary"
          onClick={() => saveOver(copy, path, etag).catch((error) => setProblem(problemText(error)))}
        >
          Overwrite the file
        </button>
      </div>
    </Dialog>
  );
}
