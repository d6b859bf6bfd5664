/** Files of arrays that h5py and GNU Octave write here and now, read back bit for bit. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { openArrays } from "../../../lib/artifact/array_file.ts";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import type { NdArray } from "../../../lib/numeric/array/ndarray.ts";
import { needs } from "../../support/needs.ts";
import { pythonWith } from "../../support/python.ts";

const python = await pythonWith("numpy", "h5py"), octave = await octaveHere();

async function octaveHere(): Promise<string | null> {
  try {
    const { success } = await new Deno.Command("octave-cli", { args: ["--version"], stdout: "null" }).output();
    return success ? "octave-cli" : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

const inFolder = (work: (folder: string) => Promise<void>) => work(temporaryFolder());

async function execute(program: string, args: string[], cwd: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

const NAMES = ["a", "tau", "h", "single"];
async function arraysOf(path: string): Promise<Record<string, NdArray>> {
  using file = await openArrays(await Deno.readFile(path), path, NAMES);
  return Object.fromEntries(NAMES.map((name) => [name, file.array(name)]));
}

const WRITE = `
import h5py, numpy as np
rng = np.random.default_rng(3)
draw = lambda *shape: rng.normal(size=shape) + 1j * rng.normal(size=shape)
arrays = {"a": draw(3, 2, 2, 1, 2, 5, 4).astype("c8"), "tau": rng.random((3, 2, 1, 5)), "h": draw(2, 14, 64), "single": rng.random(7).astype("f4")}
np.savez("numpy.npz", **arrays)
for name, options in {
    "plain": {}, "packed": dict(compression="gzip", shuffle=True, fletcher32=True), "chunked": dict(chunks=True)
}.items():
    for version in ("earliest", "latest"):
        with h5py.File(f"{name}_{version}.h5", "w", libver=version) as f:
            for key, value in arrays.items():
                f.create_dataset(key, data=value, **options)
`;
const COMPARE = `
import glob, h5py, numpy as np
files = sorted(glob.glob("*.h5"))
for path in files:
    again = np.load(path + ".npz")
    with h5py.File(path) as f:
        for key in f:
            assert again[key].dtype == f[key].dtype and again[key].tobytes() == f[key][()].tobytes(), (path, key)
print(len(files))
`;
import { temporaryFolder } from "../../support/temporary.ts";

Deno.test({
  name: "files of h5py become NPZ files that NumPy reads with the same bytes",
  ...needs("a Python with NumPy and h5py", python),
  fn: () =>
    inFolder(async (folder) => {
      await execute(python!, ["-c", WRITE], folder);
      const expected = await arraysOf(join(folder, "numpy.npz"));
      const files = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith(".h5"));
      assert.equal(files.length, 6);
      for (const name of files) {
        const arrays = await arraysOf(join(folder, name));
        assert.deepEqual(arrays, expected, name);
        await Deno.writeFile(join(folder, `${name}.npz`), writeNpz(arrays).slice());
      }
      assert.equal((await execute(python!, ["-c", COMPARE], folder)).trim(), "6");
    }),
});

/** Values of each array by its place in column order, which Octave numbers from 1. */
const OCTAVE = `
shape = [3 2 2 1 2 5]; n = prod(shape);
a = reshape(single((1:n) - 1i * (1:n) / 4), shape);
tau = reshape((1:30) / 8, [3 2 5]);
h = reshape((1:48) + 1i * (48:-1:1), [2 3 8]);
single_ = single([1.5 -2.5; 3.25 1e9]);
s = struct("a", a, "tau", tau, "h", h, "single", single_);
save("-v6", "plain.mat", "-struct", "s");
save("-v7", "packed.mat", "-struct", "s");
`;

/** An array of Octave in the order of rows. */
function inRows(shape: number[], at: (place: number) => number[]): number[] {
  const strides = shape.map((_, axis) => shape.slice(0, axis).reduce((product, size) => product * size, 1));
  const values: number[] = [], index = shape.map(() => 0);
  for (;;) {
    values.push(...at(index.reduce((sum, value, axis) => sum + value * strides[axis], 0) + 1));
    let axis = shape.length - 1;
    while (axis >= 0 && ++index[axis] === shape[axis]) index[axis--] = 0;
    if (axis < 0) return values;
  }
}

Deno.test({
  name: "MATLAB files of GNU Octave, plain and packed, give their arrays",
  ...needs("GNU Octave", octave),
  fn: () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(join(folder, "write.m"), OCTAVE);
      await execute(octave!, ["--no-gui", "--quiet", "--no-init-file", "write.m"], folder);
      const corner = [1.5, 3.25, -2.5, 1e9];
      const expected: Record<string, [dtype: string, shape: number[], at: (place: number) => number[]]> = {
        a: ["complex64", [3, 2, 2, 1, 2, 5], (n) => [n, -n / 4]],
        tau: ["float64", [3, 2, 5], (n) => [n / 8]],
        h: ["complex128", [2, 3, 8], (n) => [n, 49 - n]],
        single: ["float32", [2, 2], (n) => [corner[n - 1]]],
      };
      for (const name of ["plain.mat", "packed.mat"]) {
        const arrays = await arraysOf(join(folder, name));
        for (const [array, [dtype, shape, at]] of Object.entries(expected)) {
          const found = arrays[array];
          assert.deepEqual([found.dtype, found.shape], [dtype, shape], `${name} ${array}`);
          assert.deepEqual(Array.from(found.data, Number), inRows(shape, at), `${name} ${array}`);
        }
      }
    }),
});
