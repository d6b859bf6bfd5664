/**
 * How the guest starts: as the main module of a Deno process, or, in a compiled program, in a worker of the program's own
 * executable. In both it is a data URL, made of the text of its modules: it needs no file, so it starts in the same way
 * from a folder, from an address and from a compiled program, and the process can read none of this program.
 */
import { stripTypeScriptTypes } from "node:module";

/** Hidden command of the program: it becomes the process of an adapter. The permissions follow as JSON. */
export const WORKER_COMMAND = "adapter-process";

export interface WorkerPermissions {
  read: string[];
  net: string[];
  env: string[];
}

/** How the code of adapters runs, for plans. */
export const isolationForm = () => Deno.build.standalone ? "process+worker" : "process";

let url: Promise<string> | undefined;

/** The URL of the guest. */
export function guestUrl(): Promise<string> {
  return url ??= Promise.all([
    import("./guest.ts", { with: { type: "text" } }),
    import("./wire.ts", { with: { type: "text" } }),
  ]).then(([{ default: guest }, { default: wire }]) =>
    dataUrl(String(guest).replace('"./wire.ts"', JSON.stringify(dataUrl(String(wire)))))
  );
}

function dataUrl(typescript: string): string {
  const bytes = new TextEncoder().encode(stripTypeScriptTypes(typescript));
  return `data:text/javascript;base64,${bytes.toBase64()}`;
}

/**
 * Runs the guest in a worker with fewer permissions than this process, then gives up those of this process. It ends with
 * the worker.
 * @param text permissions as JSON
 */
export async function serveAdapter(text: string): Promise<never> {
  const { read, net, env } = JSON.parse(text) as WorkerPermissions;
  const only = (values: string[]) => values.length > 0 ? values : false;
  const none = { write: false, run: false, ffi: false, sys: false, import: false };
  const worker = new Worker(await guestUrl(), {
    type: "module",
    deno: { permissions: { read: only(read), net: only(net), env: only(env), ...none } },
  });
  for (const name of ["read", "write", "net", "env", "sys", "run", "ffi", "import"] as const) {
    Deno.permissions.revokeSync({ name } as Deno.PermissionDescriptor);
  }
  worker.onerror = (event) => {
    console.error(event.message);
    Deno.exit(1);
  };
  return await new Promise(() => {});
}
