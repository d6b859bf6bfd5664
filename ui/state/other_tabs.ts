/** Other tabs of this browser with the same drafts: an edit in one of them is made in all. */
import { parseJson } from "../../lib/contract/json.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { signal } from "../preact.ts";
import { copies, textOf, update, validate } from "./copies.ts";
import { type Draft, draftChannel } from "./drafts.ts";
import { record } from "./history.ts";

export const otherTabs = signal(0);
const channel = typeof BroadcastChannel === "function" ? new BroadcastChannel("svc.editor") : null;
const me = Math.floor(performance.timeOrigin * 1000).toString(36) + performance.now().toString(36);
const others = new Set<string>();

channel?.addEventListener("message", ({ data }: MessageEvent<{ kind: "here" | "back" | "gone"; from: string }>) => {
  if (data.from === me) return;
  data.kind === "gone" ? others.delete(data.from) : others.add(data.from);
  if (data.kind === "here") channel.postMessage({ kind: "back", from: me });
  otherTabs.value = others.size;
});

/** Tells the other tabs that this one shows the editor. @returns takes it back */
export function announceTab(): () => void {
  channel?.postMessage({ kind: "here", from: me });
  const leave = () => channel?.postMessage({ kind: "gone", from: me });
  globalThis.addEventListener("pagehide", leave);
  return () => {
    globalThis.removeEventListener("pagehide", leave);
    leave();
  };
}

/** Takes a draft that another tab wrote into the copy that is open here, as a step of its history. */
function follow({ id, text, file, savedText, rawDraft, jobId = null }: Draft): void {
  const copy = copies.value.find((one) => one.id === id);
  if (copy === undefined) return;
  update(id, { file, savedText, rawDraft, jobId });
  if (textOf(copy) === text) return;
  const { past, future, recipe } = copy;
  const { present, ...steps } = record({ present: recipe, past, future }, parseJson(text) as JsonObject);
  update(id, { recipe: present, ...steps });
  void validate(id);
}

draftChannel?.addEventListener("message", ({ data }: MessageEvent<Draft>) => follow(data));
