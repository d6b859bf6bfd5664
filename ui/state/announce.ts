/** Announcements for screen readers: the start of a job, each quarter of it, and its end. */
import { signal } from "../preact.ts";

export const announcement = signal("");
export const announce = (text: string) => announcement.value = text;
