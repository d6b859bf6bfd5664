/**
 * Event streams (server-sent events). Events since the client's last one come first, then new ones; a comment
 * now and then shows that the connection lives. A client that reads too slowly is let go: it comes back and resumes.
 */
import { SvcError } from "../contract/error.ts";
import { canonicalJson } from "../contract/json.ts";
import type { EventHub } from "./jobs/events.ts";
import type { JobEvent } from "./jobs/types.ts";
import { Answer } from "./route.ts";

/** Streams that may be open. Exported for tests. */
export const MAX_STREAMS = 64;
/** Bytes that may wait for a slow reader. */
const MAX_BACKLOG = 4 * 1024 * 1024;

export interface StreamOptions {
  /** The data sent at once. */
  events: readonly JobEvent[];
  /** Sequence or id of the oldest kept event, where some before it are gone. */
  oldest: number | null;
  /** Whether a live event belongs to this stream. */
  wanted(event: JobEvent): boolean;
  /** The number that the stream counts by. */
  idOf(event: JobEvent): number;
  /** Whether the stream ends behind this event. */
  isLast(event: JobEvent): boolean;
  heartbeatMs: number;
}

/** @throws SvcError `stream_capacity` */
export function eventStream(hub: EventHub, options: StreamOptions): Answer {
  return openStream(hub, options.heartbeatMs, (send, stop) => {
    const pass = (event: JobEvent) => {
      send(`id: ${options.idOf(event)}\nevent: ${event.kind}\ndata: ${canonicalJson(event)}\n\n`);
      if (options.isLast(event)) stop();
    };
    const unsubscribe = hub.subscribe((event) => {
      if (options.wanted(event)) pass(event);
    });
    if (options.oldest !== null) {
      send(`event: truncated\ndata: ${canonicalJson({ kind: "truncated", oldest_seq: options.oldest })}\n\n`);
    }
    for (const event of options.events) pass(event);
    return unsubscribe;
  });
}

/**
 * Opens a stream, which counts among those that may be open.
 * @param begin is called at once with what sends a message and what ends the stream; what it returns is called at the end
 * @throws SvcError `stream_capacity`
 */
export function openStream(
  hub: EventHub,
  heartbeatMs: number,
  begin: (send: (text: string) => void, stop: () => void) => () => void,
): Answer {
  if (hub.streams >= MAX_STREAMS) {
    throw new SvcError("stream_capacity", `Cannot open more than ${MAX_STREAMS} streams`, {
      hint: "Close one, or ask for snapshots",
      extra: { retry_after_seconds: 5 },
    });
  }
  hub.streams++;
  const encoder = new TextEncoder();
  let stop = () => {};
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      let open = true;
      let sent = 0, taken = -1;
      let cleanup: () => void = () => {};
      const unread = () => -(controller.desiredSize ?? 0);
      const send = (text: string) => {
        if (!open) return;
        if (unread() > MAX_BACKLOG) return stop();
        const bytes = encoder.encode(text);
        sent += bytes.length;
        controller.enqueue(bytes);
      };
      const beat = () => {
        // No event reports a client that left before its reply began: one that reads nothing from one comment to the
        // next is gone.
        const now = sent - unread();
        if (unread() > 0 && now === taken) return stop();
        taken = now;
        send(": \n\n");
      };
      const heartbeat = setInterval(beat, heartbeatMs);
      stop = () => {
        if (!open) return;
        open = false;
        hub.streams--;
        clearInterval(heartbeat);
        cleanup();
        try {
          controller.close();
        } catch {
          // The client closed it first.
        }
      };
      send("retry: 2000\n\n");
      const ended = begin(send, () => stop());
      if (open) cleanup = ended;
      else ended();
    },
    cancel: () => stop(),
  }, new ByteLengthQueuingStrategy({ highWaterMark: 0 }));
  return new Answer(stream, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" },
  });
}

/** Where a client left off: its `Last-Event-ID`, else what the query says, else the beginning. */
export function resumePoint(headers: Readonly<Record<string, string>>, afterSeq: number | undefined): number {
  const header = headers["last-event-id"];
  if (header === undefined || header === "") return afterSeq ?? 0;
  if (!/^\d{1,15}$/.test(header)) {
    throw new SvcError("query_invalid", "Cannot use that Last-Event-ID", { hint: "Send the id of the last event" });
  }
  return Number(header);
}
