/** `svc mcp serve` as an assistant uses it: JSON-RPC lines over the streams of its process. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { CLI_ARGS } from "../support/cli.ts";
import { until, within } from "../support/until.ts";
import { temporaryFolder } from "../support/temporary.ts";

interface Message {
  id?: number;
  method?: string;
  params?: { message?: string };
  result?: { [name: string]: unknown };
  error?: { code: number; message: string };
}
interface Content {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
}

/** A client of a server over a folder. */
class Client implements AsyncDisposable {
  /** Notifications, in order. */
  readonly notes: Message[] = [];
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly stderr: Promise<string>;
  #text = "";
  #id = 0;

  constructor(folder: string, args: readonly string[] = []) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [...CLI_ARGS, "--project-root", folder, "mcp", "serve", ...args],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reader = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    this.stderr = new Response(this.#child.stderr).text();
  }

  async open(): Promise<this> {
    const info = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const { result } = await this.ask("initialize", info);
    assert.equal((result!.serverInfo as { name: string }).name, "svc");
    await this.send({ method: "notifications/initialized" });
    return this;
  }

  async send(message: object): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n"));
  }

  async ask(method: string, params: object = {}): Promise<Message> {
    const id = ++this.#id;
    await this.send({ id, method, params });
    return await this.reply(id);
  }

  async reply(id: number): Promise<Message> {
    for (;;) {
      const end = this.#text.indexOf("\n");
      if (end < 0) {
        const { done, value } = await within("the server answers", this.#reader.read());
        if (done) throw new Error(`The server ended: ${await this.stderr}`);
        this.#text += value;
        continue;
      }
      const message = JSON.parse(this.#text.slice(0, end)) as Message;
      this.#text = this.#text.slice(end + 1);
      if (message.id === id) return message;
      this.notes.push(message);
    }
  }

  /** The document of a tool, or of its refusal. */
  // deno-lint-ignore no-explicit-any
  async call(name: string, given: object = {}, meta: object = {}): Promise<any> {
    const { result, error } = await this.ask("tools/call", { name, arguments: given, _meta: meta });
    assert.equal(error, undefined);
    const [{ type, text, data, mimeType }] = result!.content as Content[];
    return type === "text" ? JSON.parse(text!) : { mimeType, bytes: Uint8Array.fromBase64(data!) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    const { code } = await within("the server ends with its input", this.#child.status);
    assert.equal(code, 0, await this.stderr);
    await this.#reader.cancel();
  }
}

const LINK = `name: link
metadata:
  matrix: {dimensions: {bits: [64, 128]}, step_params: {data: {bit_count: {matrix: bits}}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 64}}
  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: data.bits}, params: {modulation: qpsk}}
`;

/** One server for all, and one without writing tools: a start takes longer than most of these calls. */
Deno.test("an assistant over the streams of a server", async (t) => {
  const folder = temporaryFolder("svc-mcp-");
  await using client = await new Client(folder).open();
  await using viewer = await new Client(folder, ["--read-only"]).open();
  await t.step(
    "it finds operations, checks, runs and verifies a recipe, and removes it only with a confirmation",
    async () => {
      const { result } = await client.ask("tools/list");
      const tools = result!.tools as { name: string; inputSchema: { type: string }; annotations: object }[];
      for (const { name, inputSchema } of tools) {
        assert.match(name, /^[a-z]+_[a-z]+$/);
        assert.equal(inputSchema.type, "object", name);
      }
      const { operations } = await client.call("operations_list", { filter: "random_bits" });
      assert.deepEqual(operations.map(({ id }: { id: string }) => id), ["source.random_bits"]);
      assert.equal(
        (await client.call("operations_show", { operation_id: "source.random_bits" })).id,
        "source.random_bits",
      );

      // A mistake comes back with its place and a hint.
      const wrong = await client.call("recipes_validate", {
        recipe: LINK.replace("random_bits", "randm_bits").replace(/metadata[^]*steps/, "steps"),
      });
      assert.equal(wrong.code, "recipe_invalid");
      assert.equal(wrong.diagnostics[0].hint, "Did you mean source.random_bits?");

      const recipe = { name: "bits", steps: [{ id: "data", op: "source.random_bits", params: { bit_count: 64 } }] };
      const run = await client.call("recipes_run", { recipe }, { progressToken: "p" });
      assert.equal(run.status, "completed");
      assert.deepEqual(run.warnings, []);
      assert.ok(client.notes.some(({ params }) => params?.message === "data completed"), JSON.stringify(client.notes));
      assert.equal(
        (await client.call("runs_verify", { run_id: run.run_id })).certification.verdict,
        "current_profile_pass",
      );
      const { runs } = await client.call("runs_list");
      assert.deepEqual(runs.map(({ run_id }: { run_id: string }) => run_id), [run.run_id]);

      const refused = await client.call("runs_remove", { ids: [run.run_id] });
      assert.equal(refused.code, "confirmation_required");
      assert.equal((await client.call("runs_remove", { ids: [run.run_id], dry_run: true })).runs.length, 1);
      assert.ok((await Deno.stat(join(folder, ".svc/runs", run.run_id))).isDirectory);
      await client.call("runs_remove", { ids: [run.run_id], confirm: true });
      assert.deepEqual((await client.call("runs_list")).runs, []);

      // A new file needs no confirmation; an existing one does, and keeps its bytes without.
      assert.equal((await client.call("recipes_save", { recipe })).path, "recipes/bits.yaml");
      const saved = await Deno.readTextFile(join(folder, "recipes/bits.yaml"));
      const other = { ...recipe, name: "other" };
      assert.equal(
        (await client.call("recipes_save", { recipe: other, filename: "bits.yaml" })).code,
        "confirmation_required",
      );
      assert.equal(
        (await client.call("recipes_save", { recipe: { ...recipe, name: "bits" } })).code,
        "confirmation_required",
      );
      assert.equal(await Deno.readTextFile(join(folder, "recipes/bits.yaml")), saved);
      assert.equal(
        (await client.call("recipes_save", { recipe: other, filename: "bits.yaml", confirm: true })).status,
        "saved",
      );

      // Paths stay in the project.
      for (const path of ["../../etc/passwd", "/etc/passwd", "recipes/../../x.yaml"]) {
        assert.match((await client.call("recipes_show", { path })).code, /^path_forbidden$/, path);
        assert.match((await client.call("recipes_run", { path })).code, /^path_forbidden$/, path);
      }
      assert.equal((await client.call("runs_remov")).hint, "Did you mean runs_remove?");
      assert.equal((await client.call("runs_list", { limt: 3 })).code, "body_unknown_field");
    },
  );

  await t.step("it finds the cards of an operation, reads one, and runs it beside its reference", async () => {
    const { cards, proof } = await client.call("validation_list", { operation: "source.leo_link_budget" });
    const { latest, reference } = cards.find(({ id }: { id: string }) => id === "free_space_loss");
    assert.deepEqual([latest.verdict, latest.published, reference.kind], ["reproduced", true, "closed_form"]);
    assert.match(proof, /^Proved by \d+ cards?, largest deviation /);

    const shown = await client.call("validation_show", { card_id: "free_space_loss" });
    assert.deepEqual([shown.card.id, shown.points.length], ["free_space_loss", latest.points]);
    assert.equal((await client.call("validation_show", { card_id: "free_space_los" })).code, "card_not_found");

    const { verdicts } = await client.call("validation_run", { ids: ["free_space_loss"] });
    assert.deepEqual(verdicts.map(({ verdict, quick }: typeof verdicts[number]) => [verdict, quick]), [
      ["reproduced", true],
    ]);
    assert.equal((await client.call("results_verify", { result_id: verdicts[0].result_id })).status, "valid");

    assert.equal((await viewer.call("validation_show", { card_id: "free_space_loss" })).card.id, "free_space_loss");
    assert.equal((await viewer.call("validation_run", { ids: ["free_space_loss"] })).code, "not_found");
  });

  await t.step(
    "a sweep of a recipe's text, a view without writing tools, and a run that the client cancels",
    async () => {
      const sweep = await client.call("recipes_sweep", { recipe: LINK });
      assert.deepEqual([sweep.status, sweep.rows.length], ["completed", 2]);
      assert.equal((await client.call("runs_table", { recipe: "link" })).rows.length, 2);

      // The run of a cancelled request ends as canceled; the next request is answered.
      const recipe = LINK.replace(/metadata[^]*steps/, "steps").replace("bit_count: 64", "bit_count: 100000000");
      const params = { name: "recipes_run", arguments: { recipe }, _meta: { progressToken: 1 } };
      client.notes.length = 0;
      await client.send({ id: 1000, method: "tools/call", params });
      for (let asked = 0; !client.notes.some(({ params }) => params?.message === "data started"); asked++) {
        assert.ok(asked < 10_000, "the run begins");
        await client.ask("ping");
      }
      await client.send({ method: "notifications/cancelled", params: { requestId: 1000 } });
      const states = async () =>
        (await client.call("runs_list")).runs.map(({ recipe_name, status }: { recipe_name: string; status: string }) =>
          recipe_name === "link" ? status : ""
        );
      await until("the run is canceled", async () => (await states()).includes("canceled"));

      const { result } = await viewer.ask("tools/list");
      const names = result!.tools as { name: string; annotations: { readOnlyHint: boolean } }[];
      assert.ok(names.every(({ annotations }) => annotations.readOnlyHint));
      assert.ok(names.some(({ name }) => name === "runs_verify"));
      assert.equal((await viewer.call("recipes_run", { recipe: LINK })).code, "not_found");
    },
  );
});
