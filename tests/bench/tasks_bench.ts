/**
 * Whole tasks of a user beside their peers: the command line of svc with all its evidence, and a program that an engineer
 * would write instead. Processor time and wall time of whole processes, start included; rounds alternate, minima count.
 *
 * Peers: NumPy by python3, Pillow by /usr/bin/python3, make, an empty Deno program, and the kernels of decoders alone, whose time
 * is that of the decoder without start and received values. AFF3CT, OpenCV and Snakemake are not part of it, as they are no packages
 * of every system. Noise differs, so costs are compared; the error rates of both print side by side.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import tdl from "../../lib/numeric/data/tdl_models.json" with { type: "json" };
import { addressOfCli } from "./places.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { svc as performed } from "../support/cli.ts";
import { ms, row, sized } from "./measure.ts";

const ROUNDS = sized(5, 1);
/** SVC_BENCH_ONLY: a part of the names of tasks, which leaves out all others. */
const ONLY = Deno.env.get("SVC_BENCH_ONLY") ?? "";
const script = (name: string) => fileURLToPath(new URL(`tasks/${name}`, import.meta.url));

interface Cost {
  wall: number;
  processor: number;
  text: string;
}

// A user's shell has no variables for the memory of this program.
const { GLIBC_TUNABLES: _, ...environment } = Deno.env.toObject();

/**
 * Runs a program once, measured by the shell, which counts all of its threads and processes, or by itself where it says `kernel`.
 * @returns null where the program is not installed
 */
async function cost(words: readonly string[], cwd: string): Promise<Cost | null> {
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-c", `TIMEFORMAT='svc-time %R %U %S'; time "$@"`, "bash", ...words],
    cwd,
    env: environment,
    clearEnv: true,
  }).output();
  const errors = new TextDecoder().decode(stderr), found = /svc-time (\S+) (\S+) (\S+)\n$/.exec(errors);
  if (code === 127 || /No module named/.test(errors)) return null;
  if (code !== 0 || found === null) throw new Error(`${words.join(" ")} ended with ${code}: ${errors}`);
  const [wall, user, system] = found.slice(1).map(Number), text = new TextDecoder().decode(stdout);
  const kernel = /^kernel (\S+) (\S+)$/m.exec(text);
  if (kernel !== null) return { wall: Number(kernel[2]), processor: Number(kernel[1]), text };
  return { wall, processor: user + system, text };
}

/** At the tiny size, which shows that all words work, recipes of svc share a process, and a peer runs once for equal words. */
const IS_TINY = sized(0, 1) === 1;
const peers = new Map<string, Cost | null>();

async function ownCost(words: readonly string[], cwd: string): Promise<Cost> {
  if (!IS_TINY || words[0] === "ops") return (await cost([Deno.execPath(), ...addressOfCli, ...words], cwd))!;
  const { code, stdout, stderr, used } = await performed([...words], { cwd });
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${stderr}`);
  return { wall: NaN, processor: used!.cpuMs / 1000, text: stdout };
}

async function peerCost(words: readonly string[], cwd: string): Promise<Cost | null> {
  const key = words.join(" ");
  if (!IS_TINY || !peers.has(key)) peers.set(key, await cost(words, cwd));
  return peers.get(key)!;
}

interface Task {
  what: string;
  /** Words of svc after its name, in a folder with the recipe. */
  svc: readonly string[];
  recipe?: object;
  peer: string;
  /** Words of the peer. @param folder new for each round */
  words: (folder: string) => readonly string[];
  /** Writes what the peer reads. */
  prepare?: (folder: string) => Promise<void>;
  /** Whether its folders are removed after all rounds: a file system makes files slowly for a minute after it has removed many. */
  manyFiles?: boolean;
  /** Words of a program that writes what both read, in the folder of svc; without it the task is skipped. */
  inputs?: (folder: string) => readonly string[];
}

const step = (id: string, op: string, params: object, inputs?: Record<string, string>) => ({ id, op, params, inputs });
const recipe = (name: string, steps: object[], matrix: string, values: readonly number[]) => ({
  schema_version: 1,
  name,
  execution_profile: { id: "custom", version: 1 },
  metadata: {
    seed: 23,
    matrix: { dimensions: { [matrix]: values }, step_params: { wireless_channel: { [matrix]: { matrix } } } },
  },
  steps,
});
const source = (bits: number) => step("data", "source.random_bits", { bit_count: bits });
const mapper = (modulation: string) =>
  step("modulator", "modulation.digital_modulate", { modulation }, { bits: "data.bits" });
const rate = (bits: string) =>
  step("evaluation", "metrics.bit_error_rate", {}, { reference: "data.bits", candidate: bits });
const receive = (symbols: string) =>
  step("demodulator", "demodulation.digital_demodulate", {}, { rx_symbols: symbols });

const link = (name: string, bits: number, values: readonly number[]) =>
  recipe(
    name,
    [
      source(bits),
      mapper("qpsk"),
      step("wireless_channel", "wireless.channel", { channel: "awgn" }, { symbols: "modulator.symbols" }),
      receive("wireless_channel.rx_symbols"),
      rate("demodulator.bits"),
    ],
    "snr_db",
    values,
  );

const floats = (count: number, first: number, spacing: number) =>
  Array.from({ length: count }, (_, i) => first + spacing * i + 0.5);
const LINK_BITS = sized(1e7, 1000), LINK = floats(sized(8, 1), 0, 1);
const GRID_BITS = sized(3_456_000, 2000), GRID = floats(sized(4, 1), 8, 4);
const MIMO_BITS = sized(5_376_000, 4000), MIMO = floats(sized(4, 1), 14, 4);
const POINTS = sized(100, 2), STEPS = sized(300, 2);

const python = (name: string, ...args: (string | number)[]) => () => ["python3", script(name), ...args.map(String)];
const profile = JSON.stringify(tdl.models.C);
const matrix = (...more: string[]) => ["recipe", "run-matrix", "task.json", "--rerun", ...more];

const ofdm = (bits: number) =>
  recipe(
    "ofdm",
    [
      source(bits),
      mapper("qpsk"),
      step("pilots", "modulation.ofdm_pilot_insert", {}, { symbols: "modulator.symbols" }),
      step("wireless_channel", "wireless.channel", {
        channel: "ofdm_tdl",
        tdl_model: "C",
        ofdm_fft_size: 72,
        receiver_processing: "none",
      }, { symbols: "pilots.symbols" }),
      step("estimator", "model.ofdm_channel_estimator", {}, {
        rx_symbols: "wireless_channel.rx_symbols",
        pilot_context: "pilots.pilot_context",
      }),
      step("equaliser", "demodulation.ofdm_equalize", {}, {
        rx_symbols: "wireless_channel.rx_symbols",
        estimate: "estimator.estimate",
        pilot_context: "pilots.pilot_context",
      }),
      receive("equaliser.rx_symbols"),
      rate("demodulator.bits"),
    ],
    "snr_db",
    GRID,
  );

const mimo = recipe(
  "mimo",
  [
    source(MIMO_BITS),
    mapper("qam16"),
    step("wireless_channel", "wireless.mimo_ofdm_channel", { tdl_model: "C", tx_antennas: 4, rx_antennas: 4 }, {
      symbols: "modulator.symbols",
    }),
    step("detector", "demodulation.mimo_detect", { detector: "mmse" }, {
      rx_grid: "wireless_channel.rx_grid",
      channel: "wireless_channel.state",
    }),
    rate("detector.bits"),
  ],
  "snr_db",
  MIMO,
);

const chain = {
  schema_version: 1,
  name: "chain",
  execution_profile: { id: "custom", version: 1 },
  metadata: { seed: 23 },
  steps: [
    source(1000),
    ...Array.from(
      { length: STEPS },
      (_, i) => step(`s${i}`, "channel.bit_boundary", {}, { bits: i === 0 ? "data.bits" : `s${i - 1}.bits` }),
    ),
  ],
};

/** A make file whose targets copy one another. */
async function makeFile(folder: string): Promise<void> {
  const rules = Array.from({ length: STEPS }, (_, i) => `s${i + 1}: s${i}\n\tcp s${i} s${i + 1}\n`);
  await Deno.writeTextFile(join(folder, "Makefile"), `all: s${STEPS}\n${rules.join("")}`);
  await Deno.writeFile(join(folder, "s0"), new Uint8Array(1000));
}

/** A link over a code, with its block error rate. */
const coded = (code: "ldpc" | "polar", blocks: number, payload: number, values: readonly number[], params: object) =>
  recipe(
    code,
    [
      source(blocks * payload),
      step("encoder", `channel.nr_${code}_encoder`, params, { bits: "data.bits" }),
      step("modulator", "modulation.digital_modulate", { modulation: "qpsk" }, { bits: "encoder.coded_bits" }),
      step("wireless_channel", "wireless.channel", { channel: "awgn" }, { symbols: "modulator.symbols" }),
      receive("wireless_channel.rx_symbols"),
      step("decoder", `channel.nr_${code}_decoder`, {}, { llr: "demodulator.llr" }),
      step("evaluation", "metrics.block_error_rate", { block_size: payload }, {
        reference: "data.bits",
        candidate: "decoder.bits",
      }),
    ],
    "snr_db",
    values,
  );
const LDPC_BLOCKS = sized(2000, 4), LDPC = floats(sized(6, 1), -2.75, 0.5);
const ldpc = coded("ldpc", LDPC_BLOCKS, 1056, LDPC, {
  transport_block_size_bits: 1056,
  target_coderate: 1 / 3,
  num_bits_per_symbol: 2,
});
const POLAR_BLOCKS = sized(10_000, 4), POLAR = floats(sized(6, 1), -5, 1);
const polar = coded("polar", POLAR_BLOCKS, 40, POLAR, { message_type: "uci", payload_bits: 40, coded_bits: 256 });
const kernelAlone = (...args: (string | number)[]) => () => {
  const program = fileURLToPath(new URL("./tasks/codes.ts", import.meta.url));
  return [Deno.execPath(), ...addressOfCli.slice(0, -1), program, ...args.map(String)];
};

const PHOTOGRAPHS = sized(24, 1), PHOTOGRAPH_SNR_DB = 12.5;
const pillow = (...args: (string | number)[]) => ["/usr/bin/python3", script("photographs.py"), ...args.map(String)];
const ids = Array.from({ length: PHOTOGRAPHS }, (_, i) => `kodim${String(i + 1).padStart(2, "0")}`).join();
const photographs = {
  schema_version: 1,
  name: "photographs",
  execution_profile: { id: "custom", version: 1 },
  metadata: { seed: 23 },
  steps: [
    step("data", "source.image_dataset", { dataset: "kodak", dataset_dir: "photographs", image_ids: ids }),
    step("sender", "model.jpeg_encode", { quality: 75 }, { images: "data.images" }),
    step("packets", "channel.packetize_crc32", {}, { bits: "sender.bits" }),
    step("encoder", "channel.repetition_encoder", { factor: 3 }, { bits: "packets.bits" }),
    step("modulator", "modulation.digital_modulate", { modulation: "qpsk" }, { bits: "encoder.coded_bits" }),
    step("wireless_channel", "wireless.channel", { channel: "awgn", snr_db: PHOTOGRAPH_SNR_DB }, {
      symbols: "modulator.symbols",
    }),
    receive("wireless_channel.rx_symbols"),
    step("decoder", "channel.repetition_decoder", {}, { coded_bits: "demodulator.bits" }),
    step("check", "channel.crc32_check", {}, { bits: "decoder.bits" }),
    step("receiver", "model.jpeg_decode", { on_error: "gray_image" }, { bits: "check.bits" }),
    step("evaluation", "metrics.image_reconstruction", {}, {
      reference: "data.images",
      reconstruction: "receiver.images",
    }),
  ],
};

const linkWords = python("link.py", LINK_BITS, ...LINK);
const TASKS: readonly Task[] = [
  {
    what: `uncoded QPSK, ${LINK.length} x ${LINK_BITS} bits, all artifacts`,
    recipe: link("link", LINK_BITS, LINK),
    svc: matrix(),
    peer: "NumPy, float32 blocks",
    words: linkWords,
  },
  {
    what: `uncoded QPSK, ${LINK.length} x ${LINK_BITS} bits, metrics only`,
    recipe: link("link", LINK_BITS, LINK),
    svc: matrix("--keep", "metrics"),
    peer: "NumPy, float32 blocks",
    words: linkWords,
  },
  {
    what: `estimated OFDM link over TDL-C, ${GRID.length} x ${GRID_BITS} bits`,
    recipe: ofdm(GRID_BITS),
    svc: matrix(),
    peer: "NumPy, complex64",
    words: python("ofdm.py", GRID_BITS, profile, ...GRID),
  },
  {
    what: `estimated OFDM link over TDL-C, ${GRID.length} x 2000 bits: start and documents`,
    recipe: ofdm(2000),
    svc: matrix(),
    peer: "NumPy, complex64",
    words: python("ofdm.py", 2000, profile, ...GRID),
  },
  {
    what: `4x4 MIMO-OFDM over TDL-C, MMSE, 16QAM, ${MIMO.length} x ${MIMO_BITS} bits`,
    recipe: mimo,
    svc: matrix(),
    peer: "NumPy, complex64",
    words: python("mimo.py", MIMO_BITS, profile, ...MIMO),
  },
  ...[[], ["--keep", "metrics"]].flatMap((keep): Task[] => {
    const kept = keep.length === 0 ? "all artifacts" : "metrics only";
    return [
      {
        what: `NR LDPC, rate 1/3, ${LDPC.length} x ${LDPC_BLOCKS} x 1056 bits, ${kept}`,
        recipe: ldpc,
        svc: matrix(...keep),
        peer: "its decoder kernel alone",
        words: kernelAlone("ldpc", LDPC_BLOCKS, ...LDPC),
      },
      {
        what: `polar, 8 paths, ${POLAR.length} x ${POLAR_BLOCKS} x 40 bits, ${kept}`,
        recipe: polar,
        svc: matrix(...keep),
        peer: "its decoder kernel alone",
        words: kernelAlone("polar", POLAR_BLOCKS, ...POLAR),
      },
      {
        what: `JPEG link of ${PHOTOGRAPHS} photographs of 768 x 512 with their scores, ${kept}`,
        recipe: photographs,
        svc: ["recipe", "run", "task.json", ...keep],
        inputs: (folder) => pillow("make", join(folder, "photographs"), PHOTOGRAPHS, 768, 512),
        peer: "Pillow and NumPy, float32",
        words: (folder) => pillow("run", join(folder, "../svc/photographs"), PHOTOGRAPH_SNR_DB),
      },
    ];
  }),
  {
    what: `sweep of ${POINTS} links of 1000 bits`,
    recipe: link("sweep", 1000, Array.from({ length: POINTS }, (_, i) => i / 10 + 0.05)),
    svc: matrix(),
    manyFiles: true,
    peer: "Python with NPZ, JSON, SHA-256 and fsync",
    words: (folder) => ["python3", script("sweep.py"), folder, String(POINTS)],
  },
  {
    what: `recipe of ${STEPS} trivial steps`,
    recipe: chain,
    svc: ["recipe", "run", "task.json"],
    peer: "make with cp",
    words: (folder) => ["make", "--silent", "-C", folder],
    prepare: makeFile,
  },
  {
    what: "smallest run, 1000 bits over QPSK",
    recipe: { ...link("small", 1000, [6.5]), metadata: { seed: 23 } },
    svc: ["recipe", "run", "task.json"],
    peer: "NumPy",
    words: python("link.py", 1000, 6.5),
  },
  { what: "ops list", svc: ["ops", "list"], peer: "empty Deno program", words: () => [Deno.execPath(), "eval", "1"] },
];

/** What a point of a link has whatever the kernels do: bytes of its arrays, whether they are files, and normal values. */
interface Point {
  link: string;
  bytes: number;
  written: boolean;
  values: number;
}

/** Over QPSK, a payload bit takes 2 bytes and a coded bit 14: as bits twice, as symbols twice, and as a log-likelihood ratio. */
const codedPoint = (link: string, blocks: number, payload: number, codedBits: number): Point => {
  return { link, bytes: blocks * (2 * payload + 14 * codedBits), written: false, values: blocks * codedBits };
};
const COUNTED: readonly Point[] = [
  { link: "OFDM link", bytes: 34 * GRID_BITS, written: true, values: Math.ceil(GRID_BITS * 1.1) },
  codedPoint("LDPC link", LDPC_BLOCKS, 1056, 3168),
  codedPoint("polar link", POLAR_BLOCKS, 40, 256),
];
const BLOCK_BYTES = 1 << 18;

/** Parts of a point: the processor time of each, least of the rounds. */
function pointParts({ link, bytes, written, values }: Point, folder: string): void {
  const path = join(folder, "point"),
    block = new Uint8Array(BLOCK_BYTES).map((_, i) => i * 31),
    room = new Uint8Array(1 << 20);
  const blocks = Math.ceil(bytes / BLOCK_BYTES), generator = Generator.seeded(23n);
  const normals = new Float64Array(values), size = `${Math.round(bytes / 1e6)} MB`;
  const timed = (what: string, body: () => void, note = "") => {
    const times = Array.from({ length: ROUNDS }, () => {
      const before = process.cpuUsage();
      body();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    });
    row(`a point of the ${link}: ${what}`, ms(Math.min(...times)), note);
  };
  if (written) {
    timed(`${size} written`, () => {
      using file = Deno.openSync(path, { write: true, create: true, truncate: true });
      for (let i = 0; i < blocks; i++) file.writeSync(block);
    });
    timed("read back", () => {
      using file = Deno.openSync(path);
      while (file.readSync(room) !== null);
    });
  }
  timed(`SHA-256 of ${size}`, () => {
    const hash = createHash("sha256");
    for (let i = 0; i < blocks; i++) hash.update(block);
    hash.digest();
  });
  timed(`${values} normal values`, () => generator.standardNormal(normals));
}

const seconds = (value: number) => value.toFixed(value < 1 ? 3 : 2);
const least = (costs: readonly Cost[], key: "wall" | "processor") => Math.min(...costs.map((one) => one[key]));

const folder = await Deno.makeTempDir({ prefix: "svc-bench-tasks-" });
try {
  for (
    const { what, recipe, svc, peer, words, prepare, inputs, manyFiles } of TASKS.filter(({ what }) =>
      what.includes(ONLY)
    )
  ) {
    const ours: Cost[] = [], theirs: Cost[] = [];
    const own = join(folder, "svc"), other = join(folder, "peer"), old = join(folder, "old");
    const remove = (path: string) =>
      manyFiles
        ? Deno.rename(path, join(old, String([...Deno.readDirSync(old)].length)))
        : Deno.remove(path, { recursive: true });
    await Deno.mkdir(old, { recursive: true });
    await Deno.mkdir(own);
    if (recipe !== undefined) await Deno.writeTextFile(join(own, "task.json"), JSON.stringify(recipe));
    if (inputs !== undefined && await cost(inputs(own), own) === null) {
      console.log(`${what} skipped: Pillow is not installed`);
      await Deno.remove(own, { recursive: true });
      continue;
    }
    for (let round = 0; round < ROUNDS; round++) {
      await Deno.mkdir(other);
      await prepare?.(other);
      ours.push(await ownCost(svc, own));
      const theirCost = await peerCost(words(other), other);
      if (theirCost !== null) theirs.push(theirCost);
      await remove(other);
      // The state directory stays, as that of a user does; its runs would fill the disk.
      if (recipe !== undefined) await remove(join(own, ".svc/runs"));
    }
    await Deno.remove(own, { recursive: true });
    const [processor, wall] = [least(ours, "processor"), least(ours, "wall")];
    const note = theirs.length === 0
      ? `wall ${seconds(wall)} s; ${peer}: not installed`
      : `${peer} ${seconds(least(theirs, "processor"))} s, ratio ${
        (processor / least(theirs, "processor")).toFixed(2)
      }; wall ${seconds(wall)} s and ${seconds(least(theirs, "wall"))} s, ratio ${
        (wall / least(theirs, "wall")).toFixed(2)
      }`;
    row(what, `${seconds(processor)} s`, note);
  }
  for (const point of COUNTED.filter(({ link }) => link.includes(ONLY))) pointParts(point, folder);
} finally {
  await Deno.remove(folder, { recursive: true });
}
