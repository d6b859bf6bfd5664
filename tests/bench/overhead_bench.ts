/** What running costs beyond the work itself: cold start, trivial steps in a chain and in a fan, evidence. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { demodulateLlr, hardBits, modulate } from "../../lib/numeric/link/modulation.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { run } from "../../mod.ts";
import { addressOfCli } from "./places.ts";
import { median, ms, output, row, sized, time } from "./measure.ts";

const folder = await Deno.makeTempDir({ prefix: "svc-bench-" });
const options = { projectRoot: folder, stateDir: join(folder, ".svc") };

const cold = await time(7, () => output(Deno.execPath(), [...addressOfCli, "ops", "list"], folder));
const bare = await time(7, () => output(Deno.execPath(), ["eval", "1"], folder));
row("cold `ops list`, whole process", ms(cold), `an empty Deno program: ${ms(bare)}`);

const source = { id: "data", op: "source.random_bits", params: { bit_count: 64 } };
const boundary = (id: string, from: string) => ({ id, op: "channel.bit_boundary", inputs: { bits: `${from}.bits` } });
const chain = (length: number) => ({
  name: `chain_${length}`,
  steps: [source, ...Array.from({ length }, (_, i) => boundary(`s${i}`, i === 0 ? "data" : `s${i - 1}`))],
});
const fan = {
  name: "fan_32",
  steps: [source, ...Array.from({ length: 32 }, (_, i) => boundary(`s${i}`, "data"))],
};
const runs = async (recipe: Parameters<typeof run>[0], workers: number, count = 5) => {
  const times: number[] = [];
  for (let i = sized(0, 1); i <= sized(count, 1); i++) {
    const started = performance.now();
    const { status } = await run(recipe, { ...options, parallelWorkers: workers });
    if (status !== "completed") throw new Error(status);
    if (i > 0) times.push(performance.now() - started);
  }
  return median(times);
};
const one = await runs(chain(1), 1);
const LENGTH = sized(100, 2);
const longer = await runs(chain(LENGTH + 1), 1);
row(
  `trivial step in a ${LENGTH}-step chain`,
  ms((longer - one) / LENGTH),
  `whole run ${ms(longer)}, of one step ${ms(one)}`,
);
for (const workers of [1, 2, 8]) {
  const wide = await runs(fan, workers);
  row(`32-wide fan, ${workers} workers`, ms(wide), `${ms((wide - one) / 32)} a step beyond the run itself`);
}

// The same bytes computed once in memory, hashed once and written once: the floor of any run with evidence.
const bits = sized(1e7, 1e4);
const link = {
  name: "link",
  metadata: { seed: 23 },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: bits } },
    { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
    { id: "wireless_channel", op: "wireless.channel", inputs: { symbols: "modulator.symbols" } },
    { id: "demodulator", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "wireless_channel.rx_symbols" } },
  ],
};
const whole = await runs(link, 1, 3);
let arrays: (Uint8Array | Float32Array)[] = [];
const computing = await time(3, () => {
  const data = Generator.seeded(23).integers(0, 2, bits, "uint8") as Uint8Array;
  const symbols = modulate(data, "qpsk");
  const received = Generator.seeded(24).addComplexNormal(symbols, 10 ** -1.2);
  const llr = demodulateLlr(received, "qpsk", 10 ** -1.2);
  arrays = [data, symbols, received, hardBits(llr), llr];
});
const bytes = arrays.map((array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
const hashing = await time(3, () => bytes.map((item) => createHash("sha256").update(item).digest("hex")));
const writing = await time(3, () => bytes.forEach((item, i) => Deno.writeFileSync(join(folder, `raw${i}`), item)));
const raw = computing + hashing + writing;
const size = bytes.reduce((sum, item) => sum + item.length, 0);
row(`${bits}-bit QPSK-AWGN-LLR run with evidence`, ms(whole), `${(size / 1e6).toFixed(0)} MB of artifacts`);
row("  the same computed, hashed and written raw", ms(raw), `${ms(computing)} + ${ms(hashing)} + ${ms(writing)}`);
row("  run / raw", (whole / raw).toFixed(2));
await Deno.remove(folder, { recursive: true });
