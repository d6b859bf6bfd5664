/** What a screen reader is told of what goes on: start, each quarter, end; never each tick. */
import { signal } from "../preact.ts";

export const announcement = signal("");
export const announce = (text: string) => announcement.value = text;
