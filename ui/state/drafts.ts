/** Drafts of working copies in the browser's database. A browser that refuses to keep them does without. */

export interface Draft {
  id: string;
  /** Canonical JSON. */
  text: string;
  file: { path: string; etag: string | null } | null;
  savedText: string | null;
  rawDraft: string | null;
  /** The job of its last run. */
  jobId?: string | null;
  /** Canonical JSON of the steps that can be taken back, oldest first, and made again. */
  past?: readonly string[];
  future?: readonly string[];
  order: number;
}

const STORE = "drafts";

function database(): Promise<IDBDatabase> {
  const opened = Promise.withResolvers<IDBDatabase>();
  const request = indexedDB.open("svc", 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
  request.onsuccess = () => opened.resolve(request.result);
  request.onerror = () => opened.reject(request.error);
  return opened.promise;
}

let connection: Promise<IDBDatabase> | undefined;

async function transact<T>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T | undefined> {
  try {
    const store = (await (connection ??= database())).transaction(STORE, mode).objectStore(STORE);
    const done = Promise.withResolvers<T>();
    const request = act(store);
    request.onsuccess = () => done.resolve(request.result);
    request.onerror = () => done.reject(request.error);
    return await done.promise;
  } catch (error) {
    console.info(`Drafts are not kept: ${error}`);
  }
}

/** Drafts as they are written, for other tabs of this browser. */
export const draftChannel = typeof BroadcastChannel === "function" ? new BroadcastChannel("svc.drafts") : null;

export function writeDraft(draft: Draft): void {
  // Another tab has steps of its own.
  draftChannel?.postMessage({ ...draft, past: undefined, future: undefined });
  void transact("readwrite", (store) => store.put(draft));
}
export const deleteDraft = (id: string) => transact("readwrite", (store) => store.delete(id));

export async function readDrafts(): Promise<Draft[]> {
  const drafts = await transact<Draft[]>("readonly", (store) => store.getAll()) ?? [];
  return drafts.sort((a, b) => a.order - b.order);
}
