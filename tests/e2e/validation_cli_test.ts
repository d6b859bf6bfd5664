/** `svc validation`, as a user runs it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../lib/contract/hash.ts";
import { inFolder, svc } from "../support/cli.ts";

Deno.test(
  "validation: a scaffolded card runs, is judged, shown and reported; a wrong number exits 6",
  inFolder(async (cwd) => {
    const file = join(cwd, "benchmarks/validation/mine.yaml");
    const written = await svc(["validation", "scaffold", "mine", "--json"], { cwd });
    assert.deepEqual([written.code, written.json.path], [0, "benchmarks/validation/mine.yaml"]);
    assert.equal((await svc(["validation", "scaffold", "mine"], { cwd })).code, 2);
    assert.match((await svc(["validation", "scaffold", "Mine!"], { cwd })).stderr, /Cannot name a card/);
    // As it is written, in an empty project: its recipe is one of the program.
    const card = await Deno.readTextFile(file);
    const listed = await svc(["validation", "list", "--operation", "modulation.digital_modulate", "--json"], { cwd });
    const mine = listed.json.cards.find(({ id }: { id: string }) => id === "mine");
    assert.deepEqual([mine.reference.kind, mine.operations[0], mine.quick], [
      "closed_form",
      "modulation.digital_modulate",
      true,
    ]);
    assert.match((await svc(["validation", "report", "--out", "page.md"], { cwd })).stderr, /no card has a result/);

    const run = await svc(["validation", "run", "mine", "--quick", "--json"], { cwd });
    assert.equal(run.code, 0, run.stderr);
    const [{ verdict, points, result_id }] = run.json.verdicts;
    assert.deepEqual([verdict, points.length], ["reproduced", 2]);
    assert.ok(points.every(({ errors }: { errors: number }) => errors >= 200));
    const verified = await svc(["benchmark", "verify", result_id, "--json"], { cwd });
    assert.deepEqual([verified.code, verified.json.status], [0, "valid"]);
    const shown = await svc(["validation", "show", "mine"], { cwd });
    assert.match(shown.stdout, /source: Proakis[^]*snr_db=7\.0103[^]*reproduced {2}mine: result /);

    const report = await svc(["validation", "report", "--out", "docs/page.md", "--json"], { cwd });
    assert.deepEqual(report.json.figures, ["mine.svg"], report.stderr);
    const page = await Deno.readTextFile(join(cwd, "docs/page.md"));
    // The result stands beside the card, and shows without the workspace.
    const results = JSON.parse(await Deno.readTextFile(join(cwd, "benchmarks/validation/results.json"))).cards.mine;
    assert.deepEqual([results.result_id, results.quick, results.points.length], [result_id, true, 2]);
    const document = await Deno.readFile(join(cwd, ".svc/benchmarks", result_id, "result.json"));
    assert.equal(results.result_sha256, sha256Hex(document));
    const elsewhere = await svc(["--workspace", "other", "validation", "show", "mine", "--json"], { cwd });
    assert.deepEqual({ ...elsewhere.json.latest, published: undefined }, {
      ...run.json.verdicts[0],
      published: undefined,
    });
    assert.equal(elsewhere.json.latest.published, true);
    assert.match(
      page,
      /\| \[Bit error rate of QPSK over AWGN\]\(#mine\) \| closed form \| 2 of 2 \(quick\) \| \S+ of (0\.1 dB|3\.5 σ) \| reproduced \|/,
    );
    assert.match(await Deno.readTextFile(join(cwd, "docs/validation/mine.svg")), /^<svg /);

    // Half the published rate is a shift of more than 1 dB.
    await Deno.writeTextFile(file, card.replace("expected: 0.0125009", "expected: 0.00625"));
    assert.match((await svc(["validation", "show", "mine"], { cwd })).stdout, /No result yet/);
    const wrong = await svc(["validation", "run", "mine", "--quick"], { cwd });
    assert.equal(wrong.code, 6);
    assert.match(wrong.stdout, /outside\n[^]*differs {2}mine/);
  }),
);

Deno.test(
  "validation: an unknown card and an invalid one are named",
  inFolder(async (cwd) => {
    const unknown = await svc(["validation", "show", "qam16_agwn"], { cwd });
    assert.equal(unknown.code, 4);
    assert.match(unknown.stderr, /Did you mean qam16_awgn\?/);
    await Deno.mkdir(join(cwd, "benchmarks/validation"), { recursive: true });
    await Deno.writeTextFile(join(cwd, "benchmarks/validation/broken.yaml"), "id: broken\ntitle: 3\n");
    const broken = await svc(["validation", "list"], { cwd });
    assert.equal(broken.code, 3);
    assert.match(broken.stderr, /card_invalid[^]*broken\.yaml:2/);
  }),
);

Deno.test(
  "validation: a card whose data are not here is listed as such, is left out of a run of many, and names them when it is asked for",
  inFolder(async (cwd) => {
    const id = "compressai_kodak_webp", needs = "the 24 pictures of Kodak: svc data fetch kodak";
    const operation = ["--operation", "model.webp_decode"];
    assert.match((await svc(["validation", "list", ...operation], { cwd })).stdout, RegExp(`${id} .* needs data `));
    assert.match((await svc(["validation", "show", id], { cwd })).stdout, RegExp(`needs: ${needs}\n`));
    const many = await svc(["validation", "run", ...operation], { cwd });
    assert.equal(many.code, 0);
    assert.match(many.stderr, RegExp(`^warning\\[card_left_out\\]: ${id} is left out: it needs ${needs}\n`));
    const { json } = await svc(["validation", "run", ...operation, "--json"], { cwd });
    assert.deepEqual(json.warnings.map(({ code }: { code: string }) => code), ["card_left_out"]);
    assert.match(many.stdout, /^0 cards/);
    const one = await svc(["validation", "run", id], { cwd });
    assert.equal(one.code, 5);
    assert.match(one.stderr, /dataset_unavailable[^]*svc data fetch kodak/);
  }),
);

Deno.test("ops show names the cards of an operation", async () => {
  assert.match(
    (await svc(["ops", "show", "hardware.quantizer"])).stdout,
    /Validation\n {2}Proved by 2 cards, largest deviation .* of .*\n {2}gaussian_quantizer, sine_quantizer\n/,
  );
  assert.match((await svc(["ops", "show", "source.random_bits"])).stdout, /Validation\n {2}No validation card\n/);
});
