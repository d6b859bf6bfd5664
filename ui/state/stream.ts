/** A stream of server-sent events by `fetch`, which can carry a token; it reconnects with the id of its last event. */

export interface StreamOptions {
  url: string;
  token: string | null;
  onEvent(event: unknown): void;
  onState(state: "ok" | "lost"): void;
}

/** The events of a body that have data, with their id where they have one. */
export async function* eventsOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<{ id: string | undefined; data: string }> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
    const parts = (rest + value).split("\n\n");
    rest = parts.pop()!;
    for (const part of parts) {
      const fields = part.split("\n").map((line) => line.split(/: ?(.*)/s, 2));
      const data = fields.filter(([name]) => name === "data").map(([, text]) => text).join("\n");
      if (data !== "") yield { id: fields.find(([name]) => name === "id")?.[1], data };
    }
  }
}

const FIRST_WAIT_MS = 500, LONGEST_WAIT_MS = 10_000;

/** Opens the stream for as long as the page or worker lives. */
export function openStream({ url, token, onEvent, onState }: StreamOptions): void {
  let last: string | null = null, wait = FIRST_WAIT_MS;
  const connect = async () => {
    try {
      const response = await fetch(url, {
        headers: {
          accept: "text/event-stream",
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(last === null ? {} : { "last-event-id": last }),
        },
      });
      // Nothing more comes, or nothing without a token, which the page asks for and then begins anew.
      if ([204, 401, 404].includes(response.status)) return;
      if (!response.ok || response.body === null) throw new Error(String(response.status));
      onState("ok");
      wait = FIRST_WAIT_MS;
      for await (const { id, data } of eventsOf(response.body)) {
        last = id ?? last;
        onEvent(JSON.parse(data));
      }
      throw new Error("ended");
    } catch {
      onState("lost");
      setTimeout(connect, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    }
  };
  connect();
}
