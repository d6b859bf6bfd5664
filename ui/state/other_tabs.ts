/** Whether another tab of this browser has the same drafts open. Drafts are shared: the last change is kept. */
import { signal } from "../preact.ts";

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
