/**
 * The tutorial on a joint image coder in PyTorch, from its network to one pack: the adapter in Python and the ONNX package give
 * the same numbers. The pack runs under `deno task soak whole`; without that the package alone proves that its networks give the
 * outputs of PyTorch. Skipped, with a note, without PyTorch or bubblewrap.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { npyHeader } from "../../lib/artifact/npy_header.ts";
import { codeBlocks } from "../docs/blocks.ts";
import { inFolder, svc } from "../support/cli.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { FULL_SIZE } from "../support/reduced_sizes.ts";
import { needsPython, pythonWith } from "../support/python.ts";

const python = await pythonWith("torch", "numpy");
/** Updates of the training here, few of the tutorial's: the test compares two forms of one network, not its quality. */
const STEPS = 8;

Deno.test({
  name: "the tutorial: a PyTorch joint coder as an adapter and as ONNX gives the same numbers in one pack",
  ...needsPython(python, "PyTorch"),
  fn: inFolder(async (cwd) => {
    const tutorial = await Deno.readTextFile(join(ROOT_PATH, "docs/tutorials/joint_coder.md"));
    const [network, train, coder, exported] = codeBlocks(tutorial, "python");
    const [manifest, recipe, pack] = codeBlocks(tutorial, "yaml");
    const [begin, training, adapter, packaging, benchmark] = codeBlocks(tutorial, "sh");
    const write = (name: string, text: string) => Deno.writeTextFile(join(cwd, name), text);

    await perform(begin, cwd);
    for (const folder of ["my_coder", "photographs"]) await Deno.mkdir(join(cwd, folder));
    for (const name of [3, 5]) {
      const samples = Array.from({ length: 80 * 96 * 3 }, (_, i) => (i * name + Math.floor(i / 288) * 7) % 256);
      await Deno.writeFile(
        join(cwd, `photographs/${name}.npy`),
        Uint8Array.from([...npyHeader("uint8", [80, 96, 3]), ...samples]),
      );
    }
    await write("my_coder/network.py", network);
    await write("train.py", train);
    assert.match(training, /^python3 train\.py photographs \d+$/);
    await perform(training.replace(/\d+$/, `${STEPS}`), cwd);

    const weights = await Deno.readFile(join(cwd, "my_coder/coder.pt"));
    const digest = createHash("sha256").update(weights).digest("hex");
    await write("my_coder/coder.py", coder);
    await write("my_coder/svc_adapter.yaml", filled(manifest, "<digest of coder.pt>", digest));
    await write("my_coder.yaml", recipe);
    await perform(adapter, cwd);

    await write("export.py", exported);
    const printed = await perform(packaging, cwd);
    const [, sealed] = /artifact_package_sha256: ([0-9a-f]{64})/.exec(printed)!;
    // Two of the four points: the networks are the same at each.
    await write(
      "my_pack.yaml",
      filled(pack, "<digest of the package>", sealed, 2).replaceAll("4.0, 8.0, 12.0]", "8.0]"),
    );
    const [validation, running] = benchmark.trim().split("\n");
    await perform(validation, cwd);
    if (!FULL_SIZE) return;
    await perform(running, cwd);

    const { json: listed } = await svc(["benchmark", "results", "--json"], { cwd });
    const [{ result_id }] = listed.results as { result_id: string }[];
    const { json } = await svc(["benchmark", "result", result_id, "--json"], { cwd });
    const means = new Map((json.aggregates as { recipe_id: string; metric: string; mean: number }[])
      .map(({ recipe_id, metric, mean }) => [`${recipe_id} ${metric}`, mean]));
    const own = [...means].filter(([name]) => name.startsWith("python@"));
    assert.equal(own.length, 2 * 3);
    for (const [name, mean] of own) {
      const other = means.get(name.replace("python@my_coder_awgn__", "onnx@deepjscc_awgn__assumed_snr_db_8.0__"));
      // Symbols agree to 1e-6; a sample of an image may round to the other side.
      assert.ok(other !== undefined && Math.abs(mean - other) < 1e-3, `${name}: ${mean} and ${other}`);
    }
  }),
});

/** Replaces a placeholder everywhere in a text. @throws AssertionError if it does not occur exactly `times` times */
function filled(text: string, placeholder: string, value: string, times = 1): string {
  assert.equal(text.split(placeholder).length, times + 1, placeholder);
  return text.replaceAll(placeholder, value);
}

/** Commands of a block of a document, without a shell: `svc …` and `python3 …`. */
async function perform(block: string, cwd: string): Promise<string> {
  let text = "";
  for (const line of block.trim().split("\n")) {
    const [program, ...args] = line.split(" ");
    if (program === "python3") {
      // One thread: small networks, and other tests run beside.
      const env = { OMP_NUM_THREADS: "1" };
      const { success, stderr } = await new Deno.Command(python!, { args: ["-B", ...args], cwd, env }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
      continue;
    }
    assert.equal(program, "svc");
    const { code, stdout, stderr } = await svc(["--python", python!, ...args], { cwd });
    assert.equal(code, 0, `${line}: ${stdout}${stderr}`);
    text += stdout;
  }
  return text;
}
