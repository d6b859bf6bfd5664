/** Runs and a benchmark go to an object store from the command line, and come back in another project and its server. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { inFolder, svc } from "../support/cli.ts";
import { KEYS, testStore } from "../support/s3.ts";
import { serve } from "../support/served.ts";

const SWEEP = `name: sweep
metadata:
  seed: 23
  matrix: {dimensions: {snr_db: [0.0, 6.0]}, step_params: {link: {snr_db: {matrix: snr_db}}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 500}}
  - {id: link, op: wireless.digital_link, inputs: {bits: data.bits}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: link.bits}}
`;
const STORE = "s3://lab/study";

Deno.test(
  "a benchmark and its runs are pushed, a cut push resumes, and another project pulls, verifies and lists them",
  inFolder(async (folder) => {
    await using store = testStore("lab");
    const env = { ...KEYS, AWS_ENDPOINT_URL: store.endpoint };
    const [here, there] = [join(folder, "here"), join(folder, "there")];
    for (const project of [here, there]) await Deno.mkdir(project);
    await Deno.writeTextFile(join(here, "sweep.yaml"), SWEEP);
    const made = await svc(["benchmark", "run", "sweep.yaml", "--replicates", "2", "--json"], { cwd: here });
    assert.equal(made.code, 0, made.stderr);
    const { result_id: result } = made.json, view = made.json.view_sha256;
    assert.match(view, /^[0-9a-f]{64}$/);
    const runs = [];
    for (const snr of ["0.0", "6.0"]) {
      const { json } = await svc(["recipe", "run", "sweep.yaml", "--set", `snr_db=${snr}`, "--json"], { cwd: here });
      runs.push(json.run_id as string);
    }
    const [run] = runs;

    // Without the right secret nothing is stored, and the secret is in no message.
    const wrong = await svc(["runs", "push", STORE], { cwd: here, env: { ...env, AWS_SECRET_ACCESS_KEY: "not-it" } });
    assert.equal(store.objects.size, 0);
    assert.notEqual(wrong.code, 0);
    assert.doesNotMatch(wrong.stderr, /not-it/);

    let left = 3;
    store.fault = (method) => method === "PUT" && left-- <= 0 ? new Response(null, { status: 403 }) : null;
    const cut = await svc(["runs", "push", STORE], { cwd: here, env });
    assert.notEqual(cut.code, 0);
    assert.equal(store.objects.size, 3);
    store.fault = () => null;
    store.requests.length = 0;
    const pushed = await svc(["runs", "push", STORE, "--json"], { cwd: here, env });
    assert.equal(pushed.code, 0, pushed.stderr);
    assert.equal(pushed.json.items.length, 2);
    assert.equal(store.requests.filter((line) => line.startsWith("PUT")).length, store.objects.size - 3);
    const sent = await svc(["benchmark", "push", STORE, result], { cwd: here, env });
    assert.equal(sent.code, 0, sent.stderr);

    for (const args of [["runs", "pull", STORE, run], ["benchmark", "pull", STORE]]) {
      const pulled = await svc(args, { cwd: there, env });
      assert.equal(pulled.code, 0, pulled.stderr);
    }
    assert.equal((await svc(["runs", "verify", run, "--json"], { cwd: there })).json.status, "valid");
    const verified = await svc(["benchmark", "verify", result, "--json"], { cwd: there });
    assert.equal(verified.code, 0, verified.stdout);
    await using server = await serve(there);
    const get = async (path: string) => await (await fetch(server.url + path)).json();
    assert.deepEqual((await get("/api/runs")).runs.map(({ run_id }: { run_id: string }) => run_id), [run]);
    const { results } = await get("/api/benchmarks/results");
    assert.deepEqual(results.map(({ result_id }: { result_id: string }) => result_id), [result]);
    const shown = await get(`/api/benchmarks/results/${result}`);
    assert.equal(shown.view_sha256, view);
  }),
);
