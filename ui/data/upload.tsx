/** Files from the computer of the user: dropped or chosen, sent one after another into a folder of uploads. */
import { get, Problem, problemText, upload } from "../api.ts";
import { bytesText } from "../runs/amounts.ts";
import { Trouble } from "../parts.tsx";
import { useEffect, useRef, useState } from "../preact.ts";
import { go } from "../router.ts";
import { toast } from "../toast.tsx";

/** Of the server: the folder of uploads, and the bytes of one file. */
const UPLOADS = "uploads", MAX_BYTES = 2 ** 26;
const MOST_FILES = 5000;
/** A folder by the kind of its first file. */
const FOLDERS: readonly (readonly [suffix: RegExp, folder: string])[] = [
  [/\.(png|jpe?g)$/i, "images"],
  [/\.(txt|jsonl|ndjson|csv)$/i, "texts"],
  [/\.(sigmf-meta|sigmf-data|cf32|ci16|ci8|cu8)$/i, "recordings"],
  [/\.(npz|mat|h5|hdf5|npy)$/i, "arrays"],
];
/** The description of a recording is read with its samples: it goes first. */
const isFirst = (name: string) => /\.sigmf-meta$/i.test(name);

interface Sending {
  count: number;
  done: number;
  bytes: number;
  sent: number;
}
interface Given {
  name: string;
  file: File;
}

/** @param folder of the page; files go there where it is one of uploads, else into a new one */
export function Upload({ folder, again }: { folder: string; again(): void }) {
  const own = /^uploads\/([^/]+)$/.exec(folder)?.[1];
  const [named, setNamed] = useState<string | null>(null), [over, setOver] = useState(false);
  const [sending, setSending] = useState<Sending | null>(null), [problems, setProblems] = useState<string[]>([]);
  const stop = useRef<AbortController | null>(null), files = useRef<HTMLInputElement>(null);
  const directory = useRef<HTMLInputElement>(null);
  // Leaving the page ends what is not sent: the server stores whole files only.
  useEffect(() => () => {
    stop.current?.abort();
    stop.current = null;
  }, []);
  const start = async (given: readonly Given[], dropped = "") => {
    if (given.length === 0 || stop.current !== null) return;
    const abort = stop.current = new AbortController();
    setProblems([]);
    const kind = FOLDERS.find(([suffix]) => suffix.test(given[0].name))?.[1] ?? "files";
    const { stored, found } = await sendAll(
      given,
      async () => named?.trim() || own || await freeFolder(plain(dropped) || kind),
      abort.signal,
      setSending,
    );
    if (stop.current !== abort) return;
    stop.current = null;
    setSending(null);
    setProblems(found);
    if (stored.length === 0) return;
    setNamed(null);
    const place = stored[0].split("/").slice(0, -1);
    toast(`${stored.length} of ${given.length} files stored in ${place.join("/")}`);
    const isOne = stored.length === (isFirst(stored[0]) ? 2 : 1) && kind !== "images";
    go("data", place, { file: isOne ? stored[0] : undefined });
    again();
  };
  const onDrop = async (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const { given, dropped } = await filesOf(event.dataTransfer!);
    await start(given, dropped);
  };
  const choose = (input: HTMLInputElement) => {
    const list = [...input.files ?? []], [top] = list[0]?.webkitRelativePath.split("/") ?? [""];
    start(list.filter(({ name }) => !name.startsWith(".")).map((file) => ({ name: ownName(file), file })), top);
    input.value = "";
  };
  return (
    <section
      class={`drop ${over ? "over" : ""}`}
      aria-label="Add files"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <p>Drop images, texts, recordings or channels here, or a folder of them.</p>
      <div class="row">
        <input ref={files} type="file" multiple hidden onChange={({ currentTarget }) => choose(currentTarget)} />
        <input
          ref={(box) => {
            box?.setAttribute("webkitdirectory", "");
            directory.current = box;
          }}
          type="file"
          hidden
          onChange={({ currentTarget }) => choose(currentTarget)}
        />
        <button type="button" disabled={sending !== null} onClick={() => files.current!.click()}>Choose files</button>
        <button type="button" disabled={sending !== null} onClick={() => directory.current!.click()}>
          Choose a folder
        </button>
        <label class="row">
          Folder {UPLOADS}/
          <input
            type="text"
            value={named ?? own ?? ""}
            placeholder="by their kind"
            onInput={({ currentTarget }) => setNamed(currentTarget.value)}
          />
        </label>
      </div>
      {sending !== null && (
        <div class="row" role="status">
          <progress aria-label="Progress of the upload" max={Math.max(1, sending.bytes)} value={sending.sent} />
          <span>
            File {sending.done + 1} of {sending.count}, {bytesText(sending.sent)} of {bytesText(sending.bytes)}
          </span>
          <button type="button" onClick={() => stop.current?.abort()}>Cancel the upload</button>
        </div>
      )}
      {problems.slice(0, 5).map((text) => <Trouble key={text} text={text} />)}
      {problems.length > 5 && <p class="muted">{problems.length - 5} more files were refused.</p>}
    </section>
  );
}

/** The name, or one with a number where there is such a folder: what was stored before stays as its manifest says. */
async function freeFolder(name: string): Promise<string> {
  const { files } = await get("/api/data/files", { query: { folder: UPLOADS } });
  const taken = new Set(files.map(({ path }) => path));
  for (let number = 1;; number++) {
    const free = number === 1 ? name : `${name}_${number}`;
    if (!taken.has(`${UPLOADS}/${free}`)) return free;
  }
}

/** Sends files until the signal ends it. @returns paths of stored files, and why others were refused */
async function sendAll(
  given: readonly Given[],
  folderOf: () => Promise<string>,
  signal: AbortSignal,
  tell: (sending: Sending) => void,
): Promise<{ stored: string[]; found: string[] }> {
  const stored: string[] = [], found: string[] = [], count = given.length;
  const bytes = given.reduce((sum, { file }) => sum + file.size, 0);
  let sent = 0;
  try {
    const folder = await folderOf();
    for (const [done, { name, file }] of [...given].sort((a, b) => +isFirst(b.name) - +isFirst(a.name)).entries()) {
      tell({ count, done, bytes, sent });
      sent += file.size;
      if (file.size > MAX_BYTES) {
        found.push(`${name} has more than ${bytesText(MAX_BYTES)}. Copy it into the folder of the project`);
        continue;
      }
      const request = { query: { folder, name }, signal };
      await upload("/api/data/uploads", file, request).then(({ path }) => stored.push(path), (error) => {
        // Without the server, the next file fails as well.
        if (signal.aborted || !(error instanceof Problem) || error.status === 0) throw error;
        found.push(problemText(error));
      });
    }
  } catch (error) {
    if (!signal.aborted) found.push(problemText(error));
  }
  return { stored, found };
}

/** A name of a folder that the server takes; empty where nothing of it remains. */
const plain = (name: string) => name.normalize("NFC").replaceAll(/[^\p{L}\p{M}\p{N}._-]/gu, "_").replace(/^[._]+/, "");

/** The name of a file below its chosen folder, on one line. */
const ownName = ({ name, webkitRelativePath }: File) =>
  webkitRelativePath === "" ? name : webkitRelativePath.split("/").slice(1).join("_");

/** Dropped files, those of folders with all that is below them; hidden ones are left out. */
async function filesOf(transfer: DataTransfer): Promise<{ given: Given[]; dropped?: string }> {
  // The list is empty after the first wait.
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const given: Given[] = [];
  const take = async (entry: FileSystemEntry, below: string): Promise<void> => {
    if (given.length >= MOST_FILES || entry.name.startsWith(".")) return;
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
      given.push({ name: below + entry.name, file });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (some.length === 0) return;
      for (const one of some) await take(one, entries.includes(entry) ? below : `${below}${entry.name}_`);
    }
  };
  for (const entry of entries) await take(entry, "");
  // Files that a program gives have no entry.
  if (entries.length === 0) given.push(...[...transfer.files].map((file) => ({ name: file.name, file })));
  return { given, ...(entries[0]?.isDirectory && { dropped: entries[0].name }) };
}
