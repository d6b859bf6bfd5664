/** Cards as packs: their findings, their points from a table or a pack, and the cards of the repository. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { parseYaml } from "../../../../lib/contract/yaml.ts";
import type { JsonObject } from "../../../../lib/contract/value.ts";
import { packOfCard, type ValidationRecord } from "../../../../lib/study/pack/card.ts";
import { listBenchmarkPacks, resolvePack } from "../../../../lib/study/pack/packs.ts";
import { findCard, listCards } from "../../../../lib/study/validation/cards.ts";
import { inFolder } from "../../../support/cli.ts";
import { sharedSession } from "../../../support/session.ts";
import { ROOT_PATH } from "../../../support/paths.ts";

const CARD = `id: made
title: QPSK
operations: [wireless.channel]
reference: {kind: closed_form, citation: none, location: none, access: none}
recipe: link.yaml
points:
  - {at: {snr_db: 3.0, demodulator.output: bits}, metric: channel.ber, expected: 0.08}
  - {at: {snr_db: 7.0}, metric: channel.ber, expected: 0.01, tolerance: {absolute: 0.1}}
tolerance: {sigma: 3}
quick: {points: [1], replication: {replicates: 2}}
`;

const made = (text: string, { quick = false, file = "/nowhere/made.yaml" } = {}) =>
  packOfCard(parseYaml(text) as JsonObject, file, { quick });
const messages = async (text: string, options?: { quick?: boolean; file?: string }) => {
  const { pack, diagnostics } = await made(text, options);
  assert.equal(pack, null);
  assert.ok(diagnostics.every(({ code }) => code === "card_invalid"));
  return diagnostics.map(({ path, message }) => `${path} ${message}`).join("\n");
};
const validationOf = (pack: JsonObject | null) =>
  (pack!.metadata as JsonObject).validation as unknown as ValidationRecord;

Deno.test("a point is an entry: dimensions as its matrix, parameters of steps as overrides", async () => {
  const { pack } = await made(CARD), [first, second] = pack!.recipes as JsonObject[];
  assert.deepEqual(JSON.parse(JSON.stringify(first.matrix)), { dimensions: { snr_db: [3] } });
  assert.deepEqual((first.params as JsonObject).step_params, { demodulator: { output: "bits" } });
  assert.equal(second.id, "point_1");
  assert.deepEqual(pack!.replication, { until_errors: 100 });
  assert.deepEqual(validationOf(pack).points.map(({ tolerance }) => tolerance), [{ sigma: 3 }, { absolute: 0.1 }]);
  const quick = (await made(CARD, { quick: true })).pack!;
  assert.deepEqual((quick.recipes as JsonObject[]).map(({ id }) => id), ["point_1"]);
  assert.deepEqual(JSON.parse(JSON.stringify(quick.replication)), { until_errors: 100, replicates: 2 });
});

Deno.test("the quick subset of every card has the version of all its points", async () => {
  for (const { file, document, card } of listCards(ROOT_PATH)) {
    if (card.quick === undefined) continue;
    const [whole, quick] = [
      await packOfCard(document, file, { quick: false }),
      await packOfCard(document, file, { quick: true }),
    ];
    assert.equal(quick.pack!.version, whole.pack!.version, card.id);
  }
});

const CURVES = `id: made
title: BD-rate
operations: [model.jpeg_encode]
reference: {kind: closed_form, citation: none, location: none, access: none}
recipe: link.yaml
curves: {along: sender.quality, values: [10, 50], rate: rate.payload_bpp, quality: quality.psnr_db}
points:
  - {at: {sender.subsampling: "444"}, from: {sender.subsampling: "420"}, metric: bd_rate, expected: 0.02}
  - {at: {sender.subsampling: "422"}, from: {sender.subsampling: "420"}, metric: bd_quality_mean, expected: 0.02}
tolerance: {relative: 0.001}
quick: {points: [0]}
`;

Deno.test("a difference of curves is measured at every value along both, each curve once and a method of its own", async () => {
  const { pack } = await made(CURVES), recipes = pack!.recipes as JsonObject[];
  const rows = recipes.map(({ id, params }) => {
    const { method_id, step_params } = params as { method_id: string; step_params: { sender: JsonObject } };
    return [id, method_id, step_params.sender.subsampling, Number(step_params.sender.quality)];
  });
  assert.deepEqual(
    rows,
    ["444", "420", "422"].flatMap((subsampling, place) =>
      [10, 50].map((quality, step) => [
        `curve_${place}.${step}`,
        `sender.subsampling=${subsampling}`,
        subsampling,
        quality,
      ])
    ),
  );
  assert.deepEqual(pack!.metrics, ["rate.payload_bpp", "quality.psnr_db"]);
  assert.equal(((await made(CURVES, { quick: true })).pack!.recipes as JsonObject[]).length, 4);
  const found = await messages(
    CURVES.replace("bd_rate,", "channel.ber,").replace(
      ', from: {sender.subsampling: "420"}, metric: bd_q',
      ", metric: bd_q",
    ),
  );
  assert.match(found, /points\[0\]\.metric .*bd_rate, bd_quality/);
  assert.match(found, /points\[1\] Cannot compare curves/);
  assert.match(await messages(CURVES.replace("relative", "sigma")), /absolute or relative/);
});

Deno.test("a switched cause adds a row for each point that it explains", async () => {
  const { pack } = await made(`${CARD}notes: Iterations.
switch: [{cause: more iterations, points: [1], at: {decoder.max_iterations: 40}}]
`);
  const [, , switched] = pack!.recipes as JsonObject[];
  assert.equal(switched.id, "point_1.switch_0");
  assert.deepEqual(JSON.parse(JSON.stringify((switched.params as JsonObject).step_params)), {
    decoder: { max_iterations: 40 },
  });
  assert.equal(validationOf(pack).points[2].cause, "more iterations");
});

Deno.test("the findings of a card name their places, all at once", async () => {
  assert.match(await messages(CARD.replace("title: QPSK\n", "")), /title/);
  assert.match(await messages(CARD.replace("id: made", "id: other")), /\$\.id Cannot use the id other/);
  assert.match(await messages(CARD.replace("tolerance: {sigma: 3}\n", "")), /\$\.points\[0\] Missing the tolerance/);
  assert.match(await messages(CARD.replace("recipe: link.yaml\n", "")), /either recipe or pack/);
  assert.match(await messages(CARD.replace("points: [1]", "points: [2]")), /\$\.quick\.points Cannot find the point 2/);
  assert.match(
    await messages(CARD.replace(/quick: .*\n/, ""), { quick: true }),
    /\$\.quick Cannot run the card quickly/,
  );
  assert.match(
    await messages(`${CARD}switch: [{cause: more, points: [1], at: {decoder.max_iterations: 40}}]\n`),
    /\$\.notes Explain/,
  );
  // The first point is on a curve of its own, because of the parameter.
  assert.match(await messages(CARD.replace("sigma: 3", "db: 0.1")), /\$\.points\[0\] Cannot measure a shift/);
});

Deno.test("points of a table: coordinates, metric, expected and tolerances by their columns", async () => {
  const folder = await Deno.makeTempDir(), file = join(folder, "made.yaml");
  const text = CARD.replace(/points:\n( {2}- .*\n)+/, "data: made.csv\n").replace("points: [1], ", "");
  await Deno.writeTextFile(
    join(folder, "made.csv"),
    "snr_db,metric,expected,tolerance_db\n3.0,channel.ber,0.08,\n7.0,channel.ber,0.01,0.2\n",
  );
  const { points } = validationOf((await made(text, { file })).pack);
  assert.deepEqual(JSON.parse(JSON.stringify(points.map(({ at }) => at))), [{ snr_db: 3 }, { snr_db: 7 }]);
  assert.deepEqual(points.map(({ expected, tolerance }) => [expected, tolerance]), [[0.08, { sigma: 3 }], [0.01, {
    db: 0.2,
  }]]);
  await Deno.writeTextFile(join(folder, "made.csv"), "snr_db,metric,expected,tolerance_dB\n3.0,channel.ber,x,0.1\n");
  assert.match(await messages(text, { file }), /row 1 of made\.csv: it needs[^]*tolerance_dB of row 1/);
  await Deno.remove(join(folder, "made.csv"));
  assert.match(await messages(text, { file }), /Cannot read made\.csv/);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("points of a pack name its entries as recipe", async () => {
  const file = join(ROOT_PATH, "benchmarks/validation/made.yaml");
  const text = CARD.replace("recipe: link.yaml", "pack: ../bit_transport/ber_theory_v1.yaml")
    .replace("snr_db: 3.0, demodulator.output: bits", "recipe: awgn_qpsk_uncoded, snr_db: 3.0103")
    .replace("{snr_db: 7.0}", "{recipe: awgn_bpsk_uncoded, snr_db: 4.0}");
  const { pack } = await made(text, { file }), [first] = pack!.recipes as JsonObject[];
  assert.equal(first.path, "../../recipes/ber_theory.yaml");
  assert.deepEqual(JSON.parse(JSON.stringify((first.params as JsonObject).matrix_selection)), {
    channel: "awgn",
    modulation: "qpsk",
    repetition: 1,
    snr_db: 3.0103,
  });
  assert.match(await messages(text.replace("awgn_qpsk_uncoded", "none"), { file }), /Cannot find the entry none/);
});

Deno.test("the curve of a point adds rows at other values of snr_db, which a shift in dB takes", async () => {
  const text = CARD.replace("expected: 0.08}", "expected: 0.08, tolerance: {margin_db: 2}, curve: [1.0, 2.0]}");
  const { pack } = await made(text), [first] = validationOf(pack).points;
  assert.deepEqual(first.curve, [[1, "point_0.curve_0"], [2, "point_0.curve_1"]]);
  const rows = (pack!.recipes as JsonObject[]).map((
    { id, params },
  ) => [id, Number(((params as JsonObject).matrix_selection as JsonObject).snr_db)]);
  assert.deepEqual(rows, [["point_0", 3], ["point_0.curve_0", 1], ["point_0.curve_1", 2], ["point_1", 7]]);
  assert.match(await messages(CARD.replace("sigma: 3", "margin_db: 2")), /\$\.points\[0\] Cannot measure a shift/);
});

const shared = sharedSession({ projectRoot: ROOT_PATH });

for (const { card, file } of listCards(ROOT_PATH)) {
  const what = card.needs === undefined ? "and has a quick subset" : "or lacks its data alone";
  shared.test(`the card ${card.id} loads, names known operations of its recipe, ${what}`, async (svc) => {
    const { pack, diagnostics } = await svc.benchmarks.load(file);
    assert.ok(pack !== null, JSON.stringify(diagnostics));
    const errors = diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code);
    assert.deepEqual(new Set(errors), new Set(card.needs === undefined ? [] : ["dataset_unavailable"]));
    assert.equal(card.quick === undefined, card.needs !== undefined);
    const known = new Set((await svc.registry()).ids());
    assert.deepEqual(card.operations.filter((operation) => !known.has(operation)), []);
    if (card.curves !== undefined) return;
    const rows = validationOf(pack.document).points.flatMap(({ entry, curve }) => [entry, ...curve ?? []]);
    assert.equal(pack.recipes.length, rows.length, "one row for each point, and those of its curve");
  });
}

Deno.test("cards are no packs of the list, and an unknown id names the nearest one", () => {
  assert.ok(listBenchmarkPacks(ROOT_PATH).every(({ name }) => !name.startsWith("validation/")));
  assert.throws(() => findCard(ROOT_PATH, "qam16_agwn"), { code: "card_not_found", hint: /qam16_awgn/ });
  assert.ok(listCards(ROOT_PATH, "wireless.channel").length > 0);
  assert.deepEqual(listCards(ROOT_PATH, "source.none"), []);
});

Deno.test(
  "a card or a pack that is edited is read again",
  inFolder(async (root) => {
    const folder = join(root, "benchmarks"),
      card = join(folder, "validation/made.yaml"),
      pack = join(folder, "own.yaml");
    await Deno.mkdir(join(folder, "validation"), { recursive: true });
    const titles = () => {
      const { title } = findCard(root, "made").card, row = listBenchmarkPacks(root).find(({ name }) => name === "own")!;
      return [title, row.title, row.problem];
    };
    for (const title of ["One", "One", "Two"]) {
      Deno.writeTextFileSync(card, CARD.replace("title: QPSK", `title: ${title}`));
      Deno.writeTextFileSync(pack, `id: own\nname: ${title}\n`);
      assert.deepEqual(titles(), [title, title, undefined]);
    }
    // What a caller does with its row stays with that row.
    listBenchmarkPacks(root).find(({ name }) => name === "own")!.title = "Three";
    assert.equal(titles()[1], "Two");
    Deno.writeTextFileSync(card, "id: made\n");
    Deno.writeTextFileSync(pack, "name: [");
    assert.throws(() => findCard(root, "made"), { code: "card_invalid" });
    assert.match(listBenchmarkPacks(root).find(({ name }) => name === "own")!.problem!, /./);
  }),
);

Deno.test(
  "a name finds its card and its pack beside a file that cannot be read, and an id a card in a file of another name",
  inFolder((root) => {
    const packs = join(root, "benchmarks"), cards = join(packs, "validation");
    Deno.mkdirSync(cards, { recursive: true });
    const card = Deno.readTextFileSync(findCard(ROOT_PATH, "qam16_awgn").file);
    const own = (id: string) => card.replace("id: qam16_awgn", `id: ${id}`);
    Deno.writeTextFileSync(join(cards, "first.yaml"), own("first"));
    Deno.writeTextFileSync(join(cards, "second.yaml"), own("third"));
    assert.equal(findCard(root, "third").file, join(cards, "second.yaml"));
    assert.throws(() => findCard(root, "second"), { code: "card_not_found" });
    Deno.writeTextFileSync(join(cards, "broken.yaml"), "[");
    Deno.writeTextFileSync(join(packs, "broken.yaml"), "[");
    Deno.writeTextFileSync(join(packs, "mine.yaml"), "id: other\n");
    assert.equal(findCard(root, "first").card.id, "first");
    assert.equal(resolvePack("mine", root), join(packs, "mine.yaml"));
    assert.equal(resolvePack("other", root), join(packs, "mine.yaml"));
    return Promise.resolve();
  }),
);
