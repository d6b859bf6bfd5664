/** Commands of a shell in tests. */
import type { CliOptions } from "./cli.ts";
import type { HostResult } from "./cli_host.ts";

export const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

/**
 * A program for the search path of a shell, whose commands one process performs: each connection sends its folder, its standard
 * input where "-" asks for it, the number of arguments, the arguments, the environment and an empty word, with a NUL after each, and
 * gets a line with the exit code, standard error in base64 as a line, and standard output in base64. What a command starts itself, and a server, is a process of its own.
 * @param process the words that start this one
 */
export function performer(
  perform: (args: string[], options: CliOptions) => Promise<HostResult>,
  process: readonly string[],
): AsyncDisposable & { command: string } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answer = async (connection: Deno.TcpConn) => {
    try {
      let text = "";
      for await (const part of connection.readable.pipeThrough(new TextDecoderStream(), { preventCancel: true })) {
        const [cwd, stdin, count, ...words] = (text += part).split("\0"), end = words.indexOf("", Number(count));
        if (end < 0 || end === words.length - 1) continue;
        const env = Object.fromEntries(
          words.slice(Number(count), end)
            .map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
        );
        const { code, stdout, stderr } = await perform(words.slice(0, Number(count)), {
          cwd,
          stdin,
          env: { ...env, SVC_NESTED: "1" },
        });
        const [errors, output] = [stderr, stdout].map((one) => new TextEncoder().encode(one).toBase64());
        const writer = connection.writable.getWriter();
        await writer.write(new TextEncoder().encode(`${code}\n${errors}\n${output}\n`));
        break;
      }
    } finally {
      connection.close();
    }
  };
  const served = (async () => {
    for await (const connection of listener) await answer(connection);
  })();
  const { port } = listener.addr as Deno.NetAddr;
  const command = `if [[ -n "$SVC_NESTED" || " $* " == *" ui serve "* ]]; then exec ${quoted(process)} "$@"; fi
if [[ " $* " == *" - "* ]]; then input=$(cat); fi
exec 3<>/dev/tcp/127.0.0.1/${port}
{ printf '%s\\0' "$PWD" "$input" "$#" "$@"; env -0; printf '\\0'; } >&3
read -r code <&3 && read -r errors <&3 || exit 99
printf %s "$errors" | base64 -d >&2
base64 -d <&3
exit "$code"`;
  return {
    command,
    async [Symbol.asyncDispose]() {
      listener.close();
      await served;
    },
  };
}
