/**
 * What Node 20 and browsers lack, before any other module is loaded: functions of the language, and in browsers SHA-256 that
 * answers at once.
 */
import "npm:core-js@3.51.0/actual/promise/with-resolvers.js";
import "npm:core-js@3.51.0/actual/promise/try.js";
import "npm:core-js@3.51.0/actual/map/group-by.js";
import "npm:core-js@3.51.0/actual/object/group-by.js";
import "npm:core-js@3.51.0/actual/iterator/index.js";
import "npm:core-js@3.51.0/actual/set/index.js";
import "npm:core-js@3.51.0/actual/typed-array/to-hex.js";
import "npm:core-js@3.51.0/actual/typed-array/from-hex.js";
import "npm:core-js@3.51.0/actual/typed-array/to-base64.js";
import "npm:core-js@3.51.0/actual/typed-array/from-base64.js";
import { sha256 } from "npm:@noble/hashes@2.4.0/sha2.js";
import { supplyCrypto } from "../contract/node_builtins.ts";

type Digest = ReturnType<typeof sha256.create>;

/** The part of `node:crypto`'s `Hash` that planning uses. */
class Sha256 {
  constructor(private readonly state: Digest = sha256.create()) {}

  update(data: Uint8Array | string): this {
    this.state.update(typeof data === "string" ? new TextEncoder().encode(data) : data);
    return this;
  }

  copy(): Sha256 {
    return new Sha256(this.state.clone());
  }

  digest(_encoding: "hex"): string {
    return this.state.digest().toHex();
  }
}

const { process } = globalThis as { process?: { getBuiltinModule?: unknown } };
if (process?.getBuiltinModule === undefined) {
  supplyCrypto({ createHash: () => new Sha256() });
}
