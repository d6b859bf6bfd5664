/**
 * Cost of a call into an adapter, against the direct call of the same function in the same run: the first call, later small
 * ones (each starts a process, as a step does), and calls with data.
 */
import { join } from "node:path";
import { callAdapter } from "../../lib/adapter/runtime.ts";
import { bindingOf } from "../../lib/adapter/binding.ts";
import { effectiveGrants } from "../../lib/adapter/grants.ts";
import { readAdapter } from "../../lib/adapter/read_manifest.ts";
import { readTrustFile } from "../../lib/adapter/trust.ts";
import { median, ms, row, sized } from "./measure.ts";

const CODE = `
/** Something like the work of a codec: a filter over every sample. */
export function encode(array) {
  const begun = performance.now();
  const { data } = array, out = new Uint8Array(data.length);
  let state = 0;
  for (let i = 0; i < data.length; i++) {
    state = 0.75 * state + 0.25 * data[i];
    out[i] = state > 127 ? 1 : 0;
  }
  const metadata = { ms: performance.now() - begun };
  return { array: { dtype: "uint8", shape: [out.length], data: out }, metadata };
}
export const empty = () => ({ dtype: "uint8", shape: [0], data: new Uint8Array(0) });
`;
const MANIFEST = `
schema_version: 1
name: bench
version: "1"
operations:
  - { id: bench.encode, name: filter, wraps: model.external_encode_bits, adapter: { path: code.js, callable: encode, call_style: array } }
  - { id: bench.empty, name: empty, wraps: model.external_encode_bits, adapter: { path: code.js, callable: empty, call_style: array } }
`;

const folder = await Deno.makeTempDir();
await Deno.writeTextFile(join(folder, "svc_adapter.yaml"), MANIFEST);
await Deno.writeTextFile(join(folder, "code.js"), CODE);
const adapter = readAdapter(folder).adapter!;
const grants = effectiveGrants(adapter, [], readTrustFile(null), folder);
const [encode, empty] = adapter.manifest.operations.map((operation) => bindingOf(adapter, operation, grants));
const direct = await import(`file://${join(folder, "code.js")}`);
const call = async (binding: typeof encode, data: Uint8Array) => {
  const args = [{ dtype: "uint8", shape: [data.length], data }];
  const { value } = await callAdapter(binding, { args, seed: null });
  return (value as { metadata?: { ms: number } }).metadata?.ms ?? 0;
};
const timed = async (body: () => unknown) => {
  const begun = performance.now();
  await body();
  return performance.now() - begun;
};
const CALLS = sized(50, 2);
const first = await timed(() => call(empty, new Uint8Array(0)));
const small: number[] = [];
for (let i = 0; i < CALLS; i++) small.push(await timed(() => call(empty, new Uint8Array(64))));
row("first call of an adapter", ms(first));
row("later calls", `${median(small).toFixed(3)} ms`, `median of ${CALLS}`);
for (const megabytes of sized(0, 1) ? [1] : [1, 10, 50]) {
  const data = new Uint8Array(megabytes * 1e6).map((_, index) => index * 31 & 255);
  const through: number[] = [], own: number[] = [], around: number[] = [];
  for (let i = 0; i < sized(20, 1); i++) {
    let inside = 0;
    const whole = await timed(async () => inside = await call(encode, data));
    through.push(whole);
    around.push(whole - inside);
    own.push(await timed(() => direct.encode({ data })));
  }
  // The best of each: what the machine does besides is not the adapter's.
  const [whole, direct_, rest] = [Math.min(...through), Math.min(...own), Math.min(...around)];
  row(
    `a call with ${megabytes} MB`,
    ms(whole),
    `${ms(direct_)} called directly; ${ms(rest)} around the function, ${
      (100 * rest / direct_).toFixed(1)
    } % of the direct call`,
  );
}
await Deno.remove(folder, { recursive: true });
