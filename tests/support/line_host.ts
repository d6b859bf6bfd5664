/** A program that answers lines of JSON, each with one line: a long start is paid once for many requests. */

interface Running {
  requests: WritableStreamDefaultWriter<string>;
  replies: AsyncIterator<string>;
  process: Deno.ChildProcess;
}

/** Time for the program to end by itself, so that one that does not holds no test. */
const END_MS = 20_000;

export class LineHost<Request, Reply> {
  readonly #command: Deno.Command;
  #running: Running | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** The program starts with the first request, and again with the next one when it has ended. */
  constructor(program: string, options: Deno.CommandOptions) {
    this.#command = new Deno.Command(program, { ...options, stdin: "piped", stdout: "piped" });
  }

  /** The reply to a request, after those to the requests before; null when the program ends instead. */
  ask(request: Request): Promise<Reply | null> {
    const perform = async () => {
      const { requests, replies } = this.#running ??= this.#start();
      await requests.write(JSON.stringify(request) + "\n");
      const { value, done } = await replies.next();
      if (!done) return JSON.parse(value) as Reply;
      this.#running = undefined;
      return null;
    };
    const reply = this.#last.then(perform);
    this.#last = reply.catch(() => {});
    return reply;
  }

  #start(): Running {
    const process = this.#command.spawn();
    const encoder = new TextEncoderStream();
    encoder.readable.pipeTo(process.stdin).catch(() => {});
    return { requests: encoder.writable.getWriter(), replies: lines(process.stdout), process };
  }

  /** Waits for the end of the program, so that its processor time counts. */
  async end(): Promise<void> {
    if (this.#running === undefined) return;
    const { requests, process } = this.#running;
    this.#running = undefined;
    await requests.close();
    const timer = setTimeout(() => process.kill("SIGKILL"), END_MS);
    await process.status;
    clearTimeout(timer);
  }
}

async function* lines(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let parts: string[] = [];
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const [first, ...rest] = text.split("\n");
    parts.push(first);
    for (const next of rest) {
      yield parts.join("");
      parts = [next];
    }
  }
}
