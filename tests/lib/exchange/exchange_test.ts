/** Push and pull with a store that checks signatures, cuts connections, and lies. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { open, type Session } from "../../../mod.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { readRecord, receiveFolder, sendFolder } from "../../../lib/exchange/folder.ts";
import type { ExchangeReport, PushOptions } from "../../../lib/exchange/exchange.ts";
import { ObjectStore } from "../../../lib/fetch/object_store.ts";
import { listFiles } from "../../../lib/run/files.ts";
import { KEYS, type TestStore, testStore } from "../../support/s3.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";
import { writeSyntheticResult } from "../../support/synthetic_result.ts";

// Process of its own: the keys of the store are in the environment.
for (const [name, value] of Object.entries(KEYS)) Deno.env.set(name, value);

const AT = "s3://lab/study";
const RECIPE = { name: "bits", steps: [{ id: "data", op: "source.random_bits" }] };

interface Bench extends AsyncDisposable {
  store: TestStore;
  here: Session;
  there: Session;
  options: { endpoint: string; retryMs: number };
}

/** A store and two state directories. */
async function bench(): Promise<Bench> {
  const folder = await Deno.makeTempDir({ prefix: "svc-exchange-" }), store = testStore("lab");
  const session = (name: string) => open({ projectRoot: folder, stateDir: join(folder, name) });
  const [here, there] = [await session("here"), await session("there")];
  return {
    store,
    here,
    there,
    options: { endpoint: store.endpoint, retryMs: 1 },
    async [Symbol.asyncDispose]() {
      here.close();
      there.close();
      await store[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const textOf = (folder: string) =>
  listFiles(folder).map(({ path }) => Deno.readTextFileSync(join(folder, path))).join("\n");

Deno.test("runs, results, models and datasets go to a store and come back verified", async () => {
  await using at = await bench();
  const { store, here, there, options } = at;
  const ids = [];
  for (let seed = 1; seed <= 4; seed++) {
    ids.push((await here.recipes.run({ ...RECIPE, name: `bits_${seed}`, metadata: { seed } })).run_id!);
  }
  const result = await writeSyntheticResult(here.workspace, { recipes: 4, replicates: 5 });
  const { stateDir } = here.workspace, revision = "a".repeat(40);
  const files = { "net.onnx": { sha256: sha256Hex("net"), size_bytes: 3 } };
  await Deno.mkdir(join(stateDir, "models/org__net", revision), { recursive: true });
  await Deno.writeTextFile(join(stateDir, "models/org__net", revision, "net.onnx"), "net");
  const fetched = { id: "org/net", version: revision, url: "", sha256: "", files, fetched_at_utc: "" };
  await Deno.writeTextFile(join(stateDir, "models/org__net", revision, "fetch.json"), JSON.stringify(fetched));
  await Deno.mkdir(join(stateDir, "datasets/own"), { recursive: true });
  await Deno.writeTextFile(join(stateDir, "datasets/own/empty.txt"), "");

  const sent = await here.runs.push(AT, options);
  assert.deepEqual(sent.items.map(({ id, status }) => [id, status]).sort(), ids.map((id) => [id, "sent"]).sort());
  assert.ok(store.objects.has(`study/runs/${ids[0]}.json`));
  const last = store.requests.findLastIndex((line) => line.startsWith("PUT study/sha256/"));
  assert.match(store.requests.slice(last + 1).find((line) => line.startsWith("PUT")) ?? "", /^PUT study\/runs\//);
  for (const [key, bytes] of store.objects) {
    const [, digest] = /^study\/sha256\/..\/(\w+)$/.exec(key) ?? [];
    if (digest !== undefined) assert.equal(digest, sha256Hex(bytes));
  }
  assert.deepEqual((await here.runs.push(AT, { ids: [ids[1]], ...options })).items.map(({ status }) => status), [
    "present",
  ]);
  await here.benchmarks.push(AT, [], options);
  await here.models.push(AT, ["org/net"], options);
  await here.data.push(AT, [], options);

  const planned = await there.runs.pull(AT, [], { ...options, dryRun: true });
  assert.deepEqual(planned.items.map(({ status }) => status), ids.map(() => "would_receive"));
  assert.deepEqual(await there.runs.list(), []);
  const pulled = await there.runs.pull(AT, [ids[0], ids[2]], options);
  assert.deepEqual(pulled.items.map(({ id, status }) => [id, status]), [[ids[0], "received"], [ids[2], "received"]]);
  assert.equal((await there.runs.verify(ids[0])).status, "valid");
  assert.deepEqual((await there.runs.list()).map(({ run_id }) => run_id).sort(), [ids[0], ids[2]].sort());
  const statuses = (await there.runs.pull(AT, [], options)).items.map(({ status }) => status).sort();
  assert.deepEqual(statuses, ["present", "present", "received", "received"]);
  await there.benchmarks.pull(AT, [], options);
  assert.equal((await there.benchmarks.verify(result)).status, "valid");
  assert.deepEqual((await there.benchmarks.results()).map(({ result_id }) => result_id), [result]);
  await there.models.pull(AT, [], options);
  assert.deepEqual((await there.models.verify("org/net")).map(({ status }) => status), ["valid"]);
  assert.equal((await there.data.pull(AT, ["own"], options)).items[0].status, "received");
  assert.ok((await there.data.list()).some(({ id }) => id === "own"));
  assert.ok(!textOf(dirname(there.workspace.stateDir)).includes(KEYS.AWS_SECRET_ACCESS_KEY), "no file has the secret");
});

Deno.test("a name that is taken by other contents stays, here and in the store", async () => {
  await using at = await bench();
  const { here, there, options } = at;
  const id = await writeSyntheticResult(here.workspace, { recipes: 2, replicates: 2 });
  await writeSyntheticResult(there.workspace, { recipes: 2, replicates: 3 });
  await here.benchmarks.push(AT, [], options);
  assert.deepEqual((await there.benchmarks.push(AT, [], options)).items.map(({ status }) => status), ["differs"]);
  assert.deepEqual((await there.benchmarks.pull(AT, [id], options)).items.map(({ status }) => status), ["differs"]);
  const replaced = await there.benchmarks.push(AT, [], { ...options, replace: true });
  assert.deepEqual(replaced.items.map(({ status }) => status), ["sent"]);
});

Deno.test("damage of a store is found, named, and repaired from a good copy and no other", async () => {
  await using at = await bench();
  const { store, here, there, options } = at;
  const { stateDir } = here.workspace, revision = "a".repeat(40), folder = join(stateDir, "models/org__net", revision);
  const ids: string[] = [];
  for (const name of ["first", "second"]) ids.push((await here.recipes.run({ ...RECIPE, name })).run_id!);
  const result = await writeSyntheticResult(here.workspace, { recipes: 2, replicates: 2 });
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(join(folder, "net.onnx"), "net");
  await Deno.mkdir(join(stateDir, "datasets/own"), { recursive: true });
  await Deno.writeTextFile(join(stateDir, "datasets/own/text.txt"), "some text");
  const files = { "net.onnx": { sha256: sha256Hex("net"), size_bytes: 3 } };
  const fetched = { id: "org/net", version: revision, url: "", sha256: "", files, fetched_at_utc: "" };
  await Deno.writeTextFile(join(folder, "fetch.json"), JSON.stringify(fetched));
  const groups = [
    ["runs", ids[0], (o) => here.runs.push(AT, { ids, ...o }), () => there.runs.pull(AT, [], options)],
    ["benchmarks", result, (o) => here.benchmarks.push(AT, [], o), () => there.benchmarks.pull(AT, [], options)],
    ["models", `org__net/${revision}`, (o) => here.models.push(AT, [], o), () => there.models.pull(AT, [], options)],
    ["datasets", "own", (o) => here.data.push(AT, [], o), () => there.data.pull(AT, [], options)],
  ] satisfies [string, string, (options: PushOptions) => Promise<ExchangeReport>, () => Promise<ExchangeReport>][];
  const statuses = ({ items }: ExchangeReport, id: string) => items.find((item) => item.id === id)!.status;
  for (const [turn, [group, id, push, pull]] of groups.entries()) {
    await push(options);
    const record = JSON.parse(new TextDecoder().decode(store.objects.get(`study/${group}/${id}.json`)));
    const others = await readRecord(new ObjectStore(AT, options), "runs", ids[1]);
    const shared = new Set(group === "runs" ? others!.files.map(({ sha256 }) => sha256) : []);
    const digest: string = record.files.find((file: { sha256: string }) => !shared.has(file.sha256)).sha256;
    const key = `study/sha256/${digest.slice(0, 2)}/${digest}`, good = store.objects.get(key)!;
    const damages: [string, () => void][] = [
      ["another byte", () => store.objects.set(key, good.map((byte, at) => at === 0 ? byte ^ 1 : byte))],
      ["a missing object", () => store.objects.delete(key)],
      ["a longer object", () => store.objects.set(key, new Uint8Array(good.length + 1))],
      ["a damaged record", () => store.objects.set(`study/${group}/${id}.json`, new TextEncoder().encode("{}"))],
    ];
    for (const [at, [name, damage]] of damages.entries()) {
      // Runs have every damage, and the other groups one each in turn; `deno task soak whole` has all of all.
      if (!FULL_SIZE && turn > 0 && at !== turn) continue;
      const about = `${group}: ${name}`;
      damage();
      const before = new Map(store.objects);
      const pulled = await pull();
      assert.equal(statuses(pulled, id), "damaged", about);
      assert.match(
        pulled.items.find((item) => item.id === id)!.problem!,
        name === "a damaged record" ? /no record/ : /sha256|bytes/,
      );
      assert.equal(statuses(await push({ ...options, check: true }), id), "damaged", about);
      assert.equal(statuses(await push({ ...options, repair: true, dryRun: true }), id), "damaged", about);
      assert.deepEqual(store.objects, before, "a check changes nothing");
      const repaired = await push({ ...options, repair: true });
      assert.equal(statuses(repaired, id), "repaired", about);
      assert.deepEqual(store.objects.get(key), good, about);
      assert.equal(statuses(await push({ ...options, check: true }), id), "present", about);
    }
    assert.equal(statuses(await pull(), id), "received", group);
  }
  // A damaged copy here does not take the place of the one in the store.
  const artifact = join(here.workspace.runs, ids[0], "artifacts/data/bits.npz");
  await Deno.chmod(artifact, 0o644);
  await Deno.writeTextFile(artifact, "damaged");
  store.objects.set(`study/runs/${ids[0]}.json`, new TextEncoder().encode("{}"));
  const before = new Map(store.objects);
  const { items: [item] } = await here.runs.push(AT, { ids: [ids[0]], ...options, repair: true });
  assert.equal(item.status, "damaged_here");
  assert.match(item.problem!, /bits.npz/);
  assert.deepEqual(store.objects, before);
});

Deno.test("an interrupted transfer shows nothing, and continues with what is missing", async () => {
  await using at = await bench();
  const { store, here, there, options } = at;
  const { run_id } = await here.recipes.run(RECIPE), id = run_id!;
  let left = 3;
  store.fault = (method) => method === "PUT" && left-- <= 0 ? "down" : null;
  await assert.rejects(here.runs.push(AT, { ids: [id], ...options }), { code: "store_unavailable" });
  assert.equal(store.objects.size, 3);
  assert.ok(!store.objects.has(`study/runs/${id}.json`), "the record is written last");
  store.fault = () => null;
  const before = new Set(store.objects.keys());
  store.requests.length = 0;
  await here.runs.push(AT, { ids: [id], ...options });
  const again = store.requests.filter((line) => line.startsWith("PUT")).map((line) => line.slice(4));
  assert.deepEqual(again.filter((key) => before.has(key)), []);

  let answers = 0;
  const isObject = (key: string) => key.includes("/sha256/");
  store.fault = (method, key) => method === "GET" && isObject(key) && ++answers > 4 ? "cut" : null;
  await assert.rejects(there.runs.pull(AT, [id], options), { code: "store_unavailable" });
  assert.deepEqual(await there.runs.list(), []);
  store.requests.length = 0;
  store.fault = () => null;
  const { items: [item] } = await there.runs.pull(AT, [id], options);
  assert.equal(item.status, "received");
  assert.ok(item.moved_bytes < item.size_bytes, "pieces of the first attempt are kept");
  assert.equal((await there.runs.verify(id)).status, "valid");

  // One cut is repeated at once.
  let cut = true;
  store.fault = (method, key) => method === "GET" && isObject(key) && cut ? (cut = false, "cut") : null;
  await there.runs.remove({ ids: [id] });
  assert.equal((await there.runs.pull(AT, [id], options)).items[0].status, "received");
});

Deno.test("large files go in pieces, each of which is kept", async () => {
  await using at = await bench();
  const folder = join(at.here.workspace.stateDir, "big"), copy = join(at.here.workspace.stateDir, "copy");
  await Deno.mkdir(join(folder, "in"), { recursive: true });
  const bytes = Uint8Array.from({ length: 2_500 }, (_, i) => i % 251);
  await Deno.writeFile(join(folder, "in/a.bin"), bytes);
  await Deno.writeFile(join(folder, "exact.bin"), bytes.subarray(0, 2_000));
  await Deno.writeFile(join(folder, "empty.bin"), new Uint8Array());
  const store = new ObjectStore(AT, at.options);
  const { sent } = await sendFolder(store, "runs", "big", folder, { pieceBytes: 1_000 });
  assert.equal(sent, 1_000 + 1_000 + 500, "equal pieces are stored once");
  const record = (await readRecord(store, "runs", "big"))!;
  assert.deepEqual(record.files.map(({ path, pieces }) => [path, pieces?.length]), [
    ["empty.bin", undefined],
    ["exact.bin", 2],
    ["in/a.bin", 3],
  ]);
  await Deno.mkdir(join(copy, "in"), { recursive: true });
  const damaged = bytes.slice();
  damaged[1_500]++;
  await Deno.writeFile(join(copy, "in/a.bin"), damaged);
  await Deno.writeTextFile(join(copy, "left_over"), "of another attempt");
  assert.equal(await receiveFolder(store, record, copy), 1_000 + 2_000, "one piece and the other file");
  assert.deepEqual(await Deno.readFile(join(copy, "in/a.bin")), bytes);
  assert.deepEqual(listFiles(copy).map(({ path }) => path), ["empty.bin", "exact.bin", "in/a.bin"]);
});

Deno.test("a hostile store changes nothing", async (t) => {
  await using at = await bench();
  const { store, here, there } = at;
  // Lists without end reach these sooner; `deno task soak whole` goes to the limits of the program.
  const options = { ...at.options, ...FULL_SIZE ? {} : { listLimits: { keys: 30_000, pages: 50 } } };
  const { run_id } = await here.recipes.run(RECIPE), id = run_id!;
  await here.runs.push(AT, { ids: [id], ...options });
  const key = `study/runs/${id}.json`, record = JSON.parse(new TextDecoder().decode(store.objects.get(key)));
  const written = new Map(store.objects);
  const refused = async (name: string, code: string, lie: () => void) =>
    await t.step(name, async () => {
      lie();
      await assert.rejects(there.runs.pull(AT, [id], options), { code });
      assert.deepEqual(await there.runs.list(), []);
      assert.ok(!listFiles(dirname(there.workspace.stateDir)).some(({ path }) => path.endsWith("outside")));
      store.fault = () => null;
      store.objects.clear();
      for (const [key, bytes] of written) store.objects.set(key, bytes);
    });
  const answer = (change: (bytes: Uint8Array<ArrayBuffer>) => Response | Uint8Array<ArrayBuffer>) => () => {
    store.fault = (method, key, bytes) => {
      if (method !== "GET" || !key.includes("sha256/") || !bytes) return null;
      const made = change(bytes as Uint8Array<ArrayBuffer>);
      return made instanceof Response ? made : new Response(made);
    };
  };
  const says = (change: (record: { [name: string]: unknown; files: Record<string, unknown>[] }) => void) => () => {
    const copy = structuredClone(record);
    change(copy);
    store.objects.set(key, new TextEncoder().encode(JSON.stringify(copy)));
  };
  await refused("other bytes", "artifact_hash_mismatch", answer((bytes) => bytes.map((byte) => byte ^ 1)));
  await refused("more bytes", "store_invalid", answer((bytes) => new Uint8Array(bytes.length + 1)));
  await refused(
    "endless bytes",
    "store_invalid",
    answer(() =>
      new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1 << 16)) }))
    ),
  );
  await refused("another place", "store_unavailable", answer(() => Response.redirect("http://127.0.0.1:1/")));
  await refused(
    "a missing object",
    "store_invalid",
    () => store.objects.delete([...written.keys()].find((key) => key.includes("sha256/"))!),
  );
  const lists = (page: (turn: number) => string) => () => {
    let turn = 0;
    store.fault = (_, key) => {
      if (key !== "") return null;
      turn++;
      return new Response(`<R>${page(turn)}<NextContinuationToken>${turn}</NextContinuationToken></R>`);
    };
  };
  await refused("a list without end", "store_unavailable", lists(() => ""));
  await refused("a list that repeats itself", "store_unavailable", lists(() => `<Key>study/runs/${id}.json</Key>`));
  await refused(
    "a list of ever more keys",
    "store_unavailable",
    lists((turn) =>
      Array.from({ length: 20_000 }, (_, at) => `<Key>study/runs/${String(turn).padStart(9, "0")}${at + 1e6}</Key>`)
        .join("")
    ),
  );
  for (const path of ["../outside", "/tmp/outside", "a/../../outside", "C:\\outside", "a//outside", "./outside", ""]) {
    await refused(`the path ${path}`, "store_invalid", says(({ files }) => files[0].path = path));
  }
  await refused(
    "one path twice",
    "store_invalid",
    says(({ files }) => files[1].path = String(files[0].path).toUpperCase()),
  );
  await refused("a file as a folder", "store_invalid", says(({ files }) => files[1].path = `${files[0].path}/outside`));
  await refused("other sizes", "store_invalid", says((record) => record.size_bytes = 1));
  await refused(
    "more than the disk has",
    "resources_insufficient",
    says((record) => {
      const piece_bytes = 64 * 2 ** 20, size_bytes = 2 ** 42;
      const pieces = Array.from({ length: size_bytes / piece_bytes }, () => "0".repeat(64));
      record.piece_bytes = piece_bytes;
      const files = record.files.map((file) => ({ ...file, pieces: [] }));
      record.files = [...files, { path: "outside", size_bytes, sha256: "0".repeat(64), pieces }];
      record.size_bytes = record.files.reduce((sum, file) => sum + Number(file.size_bytes), 0);
    }),
  );
  await refused(
    "20,000 files that the run does not list",
    "store_invalid",
    says((record) => {
      const sha256 = sha256Hex("");
      store.objects.set(`study/sha256/${sha256.slice(0, 2)}/${sha256}`, new Uint8Array());
      record.files.push(
        ...Array.from({ length: 20_000 }, (_, at) => ({ path: `artifacts/${at}`, size_bytes: 0, sha256 })),
      );
    }),
  );
  await refused("a path that is an object", "store_invalid", says(({ files }) => files[0].path = { toString: 1 }));
  await refused("another run", "store_invalid", says((record) => record.id = "20260101T000000Z_other"));
  await refused(
    "a bundle that does not verify",
    "bundle_hash_mismatch",
    says((record) => {
      const text = new TextEncoder().encode("other"), digest = sha256Hex(text);
      store.objects.set(`study/sha256/${digest.slice(0, 2)}/${digest}`, text);
      const file = record.files.find(({ path }) => String(path) === "recipe.json")!;
      record.size_bytes = Number(record.size_bytes) - Number(file.size_bytes) + text.length;
      Object.assign(file, { sha256: digest, size_bytes: text.length });
    }),
  );
  await t.step("the right bytes are accepted after all", async () => {
    assert.equal((await there.runs.pull(AT, [id], options)).items[0].status, "received");
  });
});

Deno.test("a model without its record, and one with files beside it, are refused before they are received", async () => {
  await using at = await bench();
  const { store, here, there, options } = at, revision = "a".repeat(40);
  const folder = join(here.workspace.stateDir, "models/org__net", revision);
  await Deno.mkdir(folder, { recursive: true });
  for (let file = 0; file < 20; file++) await Deno.writeTextFile(join(folder, `${file}.onnx`), "net");
  await here.models.push(AT, [], options);
  const refused = async (problem: RegExp) => {
    const { items: [item] } = await there.models.pull(AT, [], options);
    assert.equal(item.status, "damaged");
    assert.match(item.problem!, problem);
    assert.equal(
      store.requests.filter((line) => line.startsWith(`GET study/sha256/${sha256Hex("net").slice(0, 2)}`)).length,
      0,
    );
  };
  await refused(/it has no fetch.json/);
  const record = { id: "org/net", version: revision, url: "", sha256: "", files: {}, fetched_at_utc: "" };
  await Deno.writeTextFile(join(folder, "fetch.json"), JSON.stringify(record));
  store.objects.delete(`study/models/org__net/${revision}.json`);
  await here.models.push(AT, [], options);
  await refused(/it has 21 files that it does not list/);
});

Deno.test("addresses and credentials are checked, and refusals do not show them", async () => {
  await using at = await bench();
  const { here, options, store } = at;
  for (const address of ["http://lab/study", "s3://Lab", "s3://lab/../x", "s3://lab/a//b", "lab"]) {
    await assert.rejects(here.runs.pull(address, [], options), { code: "usage_invalid" });
  }
  await assert.rejects(here.runs.pull(AT, [], { endpoint: "http://store.example" }), { code: "path_refused" });
  const wrong = (variables: Record<string, string>) =>
    Array.fromAsync(new ObjectStore(AT, { ...options, variable: (name) => variables[name] }).list("runs"));
  const secret = "another-secret";
  await assert.rejects(wrong({ ...KEYS, AWS_SECRET_ACCESS_KEY: secret }), (error: Error) => {
    assert.match(error.message, /403 SignatureDoesNotMatch/);
    return !error.message.includes(secret);
  });
  await assert.rejects(wrong({}), { message: /403 AccessDenied/, hint: /Set AWS_ACCESS_KEY_ID/ });
  store.fault = () => new Response(`<Code>${KEYS.AWS_SECRET_ACCESS_KEY}</Code>`, { status: 400 });
  await assert.rejects(wrong(KEYS), (error: Error) => !error.message.includes(KEYS.AWS_SECRET_ACCESS_KEY));
});
