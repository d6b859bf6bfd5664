/** Saving with its messages. */
import { conflict, type Copy, save, savedPath } from "../state/copies.ts";
import { toast, toastUnderWay } from "../toast.tsx";

/** Saves a copy and names its file; arguments as of {@link save}. @throws Problem */
export async function saveNow(copy: Copy, filename?: string): Promise<void> {
  const path = savedPath(copy, filename);
  toastUnderWay(`Saving ${path}`);
  let saved = false;
  try {
    await save(copy, filename);
    saved = conflict.value === null;
  } finally {
    toast(saved ? `Saved as ${path}` : `${path} is not saved`);
  }
}
