/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The sandbox: a worker without any permission that holds the engine and its sessions. Requests are served in order. */
import { messageOf } from "../contract/error.ts";
import { createEngine, type Engine, type EngineSession } from "./engine.ts";
import type { SandboxReply, SandboxRequest, SandboxValue } from "./sandbox_protocol.ts";
import { buffersOf } from "./tensors.ts";

let engine: Engine;
const sessions = new Map<number, EngineSession>();
let last: Promise<void> = Promise.resolve();

async function serve(request: SandboxRequest): Promise<[SandboxValue, ArrayBuffer[]?]> {
  switch (request.type) {
    case "start":
      engine = await createEngine(request.wasm);
      return [null];
    case "open": {
      const session = await engine.open(request.model);
      sessions.set(request.session, session);
      return [{ inputs: session.inputs, outputs: session.outputs }];
    }
    case "run": {
      const outputs = await sessions.get(request.session)!.run(request.feeds);
      return [outputs, buffersOf(outputs)];
    }
    case "release": {
      const session = sessions.get(request.session);
      sessions.delete(request.session);
      await session?.release();
      return [null];
    }
  }
}

const send = (reply: SandboxReply, transfer: ArrayBuffer[] = []) => self.postMessage(reply, transfer);

self.onmessage = ({ data: request }: MessageEvent<SandboxRequest>) => {
  const { call } = request;
  last = last.then(() => serve(request)).then(
    ([value, transfer]) => send({ call, value }, transfer),
    (error) => send({ call, error: messageOf(error) }),
  );
};
