/**
 * Adapters to start from: one folder per kind that validates, passes its own tests and runs its own recipe.
 *
 * The files are in `scaffolds/<kind>/`; only the name is replaced, and `svc_types.ts` is copied into each folder from
 * `scaffolds/`.
 */
import { basename, dirname, join, resolve } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";

export const SCAFFOLD_KINDS = [
  "bits",
  "indices",
  "latents",
  "deepjscc_symbols",
  "classification_dataset",
  "classification_metric",
  "text_dataset",
  "text_metric",
  "text_reader",
  "operation",
  "python-codec",
  "python-receiver",
  "python-metric",
  "python-operation",
] as const;
export type ScaffoldKind = typeof SCAFFOLD_KINDS[number];

type Text = Promise<{ default: string }>;

interface Scaffold {
  /** One line for lists. */
  summary: string;
  /** The adapter's name in the files. */
  name: string;
  /** First change to make. */
  begin: string;
  /** Whether its code is Python. */
  python?: true;
  files: Record<string, () => Text>;
}

const SCAFFOLDS: Record<ScaffoldKind, Scaffold> = {
  bits: {
    summary: "images to payload bits and back",
    name: "example-bits",
    begin: "`codec.ts`: `encode` turns images into bits, `decode` turns received bits, right or wrong, into images.",
    files: {
      "svc_adapter.yaml": () => import("../../recipes/scaffolds/bits/svc_adapter.yaml", { with: { type: "text" } }),
      "codec.ts": () => import("../../recipes/scaffolds/bits/codec.ts", { with: { type: "text" } }),
      "codec_test.ts": () => import("../../recipes/scaffolds/bits/codec_test.ts", { with: { type: "text" } }),
      "recipe.yaml": () => import("../../recipes/scaffolds/bits/recipe.yaml", { with: { type: "text" } }),
    },
  },
  indices: {
    summary: "images to indices of a codebook and back",
    name: "example-indices",
    begin: "`tokenizer.ts`: `encode` turns images into indices, `decode` turns received indices into images.",
    files: {
      "svc_adapter.yaml": () => import("../../recipes/scaffolds/indices/svc_adapter.yaml", { with: { type: "text" } }),
      "tokenizer.ts": () => import("../../recipes/scaffolds/indices/tokenizer.ts", { with: { type: "text" } }),
      "tokenizer_test.ts": () =>
        import("../../recipes/scaffolds/indices/tokenizer_test.ts", { with: { type: "text" } }),
      "recipe.yaml": () => import("../../recipes/scaffolds/indices/recipe.yaml", { with: { type: "text" } }),
    },
  },
  latents: {
    summary: "images to continuous latents and back",
    name: "example-latents",
    begin: "`autoencoder.ts`: `encode` turns images into latents, `decode` turns received latents into images.",
    files: {
      "svc_adapter.yaml": () => import("../../recipes/scaffolds/latents/svc_adapter.yaml", { with: { type: "text" } }),
      "autoencoder.ts": () => import("../../recipes/scaffolds/latents/autoencoder.ts", { with: { type: "text" } }),
      "autoencoder_test.ts": () =>
        import("../../recipes/scaffolds/latents/autoencoder_test.ts", { with: { type: "text" } }),
      "recipe.yaml": () => import("../../recipes/scaffolds/latents/recipe.yaml", { with: { type: "text" } }),
    },
  },
  deepjscc_symbols: {
    summary: "images to complex channel symbols and back, without bits",
    name: "example-symbols",
    begin: "`joint_coder.ts`: `encode` turns images into symbols, `decode` turns received symbols into images.",
    files: {
      "svc_adapter.yaml": () =>
        import("../../recipes/scaffolds/deepjscc_symbols/svc_adapter.yaml", { with: { type: "text" } }),
      "joint_coder.ts": () =>
        import("../../recipes/scaffolds/deepjscc_symbols/joint_coder.ts", { with: { type: "text" } }),
      "joint_coder_test.ts": () =>
        import("../../recipes/scaffolds/deepjscc_symbols/joint_coder_test.ts", { with: { type: "text" } }),
      "recipe.yaml": () => import("../../recipes/scaffolds/deepjscc_symbols/recipe.yaml", { with: { type: "text" } }),
    },
  },
  classification_dataset: {
    summary: "labels and predictions of your own dataset",
    name: "example-dataset",
    begin: "`table.json` with the examples, or `dataset.ts`, which reads them.",
    files: {
      "svc_adapter.yaml": () =>
        import("../../recipes/scaffolds/classification_dataset/svc_adapter.yaml", { with: { type: "text" } }),
      "dataset.ts": () =>
        import("../../recipes/scaffolds/classification_dataset/dataset.ts", { with: { type: "text" } }),
      "table.json": () =>
        import("../../recipes/scaffolds/classification_dataset/table.json", { with: { type: "text" } }),
      "dataset_test.ts": () =>
        import("../../recipes/scaffolds/classification_dataset/dataset_test.ts", { with: { type: "text" } }),
      "recipe.yaml": () =>
        import("../../recipes/scaffolds/classification_dataset/recipe.yaml", { with: { type: "text" } }),
    },
  },
  classification_metric: {
    summary: "your own metric on labels and predictions",
    name: "example-metric",
    begin: "`metric.ts`: `kappa` scores predictions against labels; `examples.ts` has some for a trial.",
    files: {
      "svc_adapter.yaml": () =>
        import("../../recipes/scaffolds/classification_metric/svc_adapter.yaml", { with: { type: "text" } }),
      "metric.ts": () => import("../../recipes/scaffolds/classification_metric/metric.ts", { with: { type: "text" } }),
      "examples.ts": () =>
        import("../../recipes/scaffolds/classification_metric/examples.ts", { with: { type: "text" } }),
      "metric_test.ts": () =>
        import("../../recipes/scaffolds/classification_metric/metric_test.ts", { with: { type: "text" } }),
      "recipe.yaml": () =>
        import("../../recipes/scaffolds/classification_metric/recipe.yaml", { with: { type: "text" } }),
    },
  },
  text_dataset: {
    summary: "your own texts",
    name: "example-texts",
    begin: "`texts.json` with the texts, or `texts.ts`, which reads them.",
    files: {
      "svc_adapter.yaml": () =>
        import("../../recipes/scaffolds/text_dataset/svc_adapter.yaml", { with: { type: "text" } }),
      "texts.ts": () => import("../../recipes/scaffolds/text_dataset/texts.ts", { with: { type: "text" } }),
      "texts.json": () => import("../../recipes/scaffolds/text_dataset/texts.json", { with: { type: "text" } }),
      "texts_test.ts": () => import("../../recipes/scaffolds/text_dataset/texts_test.ts", { with: { type: "text" } }),
      "recipe.yaml": () => import("../../recipes/scaffolds/text_dataset/recipe.yaml", { with: { type: "text" } }),
    },
  },
  text_metric: {
    summary: "your own metric on sent and received texts",
    name: "example-text-metric",
    begin: "`metric.ts`: `characterErrorRate` scores received texts against those sent.",
    files: {
      "svc_adapter.yaml": () =>
        import("../../recipes/scaffolds/text_metric/svc_adapter.yaml", { with: { type: "text" } }),
      "metric.ts": () => import("../../recipes/scaffolds/text_metric/metric.ts", { with: { type: "text" } }),
      "metric_test.ts": () => import("../../recipes/scaffolds/text_metric/metric_test.ts", { with: { type: "text" } }),
      "recipe.yaml": () => import("../../recipes/scaffolds/text_metric/recipe.yaml", { with: { type: "text" } }),
    },
  },
  text_reader: {
    summary: "images to texts: a reader or captioner",
    name: "example-reader",
    begin: "`read.ts`: `read` returns one text for each image.",
    files: {
      "svc_adapter.yaml": () =>
        import("../../recipes/scaffolds/text_reader/svc_adapter.yaml", { with: { type: "text" } }),
      "read.ts": () => import("../../recipes/scaffolds/text_reader/read.ts", { with: { type: "text" } }),
      "read_test.ts": () => import("../../recipes/scaffolds/text_reader/read_test.ts", { with: { type: "text" } }),
      "recipe.yaml": () => import("../../recipes/scaffolds/text_reader/recipe.yaml", { with: { type: "text" } }),
    },
  },
  operation: {
    summary: "an operation with ports of your own: a clipping amplifier",
    name: "example-amplifier",
    begin: "`amplifier.ts` and the ports and parameters in `svc_adapter.yaml`.",
    files: {
      "svc_adapter.yaml": () =>
        import("../../recipes/scaffolds/operation/svc_adapter.yaml", { with: { type: "text" } }),
      "amplifier.ts": () => import("../../recipes/scaffolds/operation/amplifier.ts", { with: { type: "text" } }),
      "amplifier_test.ts": () =>
        import("../../recipes/scaffolds/operation/amplifier_test.ts", { with: { type: "text" } }),
      "recipe.yaml": () => import("../../recipes/scaffolds/operation/recipe.yaml", { with: { type: "text" } }),
    },
  },
  "python-codec": {
    summary: "in Python: images to payload bits and back",
    name: "example-codec",
    begin: "`codec.py`: `encode` turns images into bits, `decode` turns received bits, right or wrong, into images.",
    python: true,
    files: {
      "svc_adapter.yaml": () =>
        import("../../recipes/scaffolds/python-codec/svc_adapter.yaml", { with: { type: "text" } }),
      "codec.py": () => import("../../recipes/scaffolds/python-codec/codec.py", { with: { type: "text" } }),
      "test_codec.py": () => import("../../recipes/scaffolds/python-codec/test_codec.py", { with: { type: "text" } }),
      "recipe.yaml": () => import("../../recipes/scaffolds/python-codec/recipe.yaml", { with: { type: "text" } }),
    },
  },
  "python-receiver": {
    summary: "in Python: a receiver with soft bits",
    name: "example-receiver",
    begin: "`receiver.py`: `receive` turns symbols into bits and log-likelihood ratios.",
    python: true,
    files: {
      "svc_adapter.yaml": () =>
        import("../../recipes/scaffolds/python-receiver/svc_adapter.yaml", { with: { type: "text" } }),
      "receiver.py": () => import("../../recipes/scaffolds/python-receiver/receiver.py", { with: { type: "text" } }),
      "test_receiver.py": () =>
        import("../../recipes/scaffolds/python-receiver/test_receiver.py", { with: { type: "text" } }),
      "recipe.yaml": () => import("../../recipes/scaffolds/python-receiver/recipe.yaml", { with: { type: "text" } }),
    },
  },
  "python-metric": {
    summary: "in Python: your own metric on images",
    name: "example-metric",
    begin: "`metric.py`: `gradient_similarity` scores received images against those sent.",
    python: true,
    files: {
      "svc_adapter.yaml": () =>
        import("../../recipes/scaffolds/python-metric/svc_adapter.yaml", { with: { type: "text" } }),
      "metric.py": () => import("../../recipes/scaffolds/python-metric/metric.py", { with: { type: "text" } }),
      "test_metric.py": () =>
        import("../../recipes/scaffolds/python-metric/test_metric.py", { with: { type: "text" } }),
      "recipe.yaml": () => import("../../recipes/scaffolds/python-metric/recipe.yaml", { with: { type: "text" } }),
    },
  },
  "python-operation": {
    summary: "in Python: an operation with ports of your own: a clipping amplifier",
    name: "example-amplifier",
    begin: "`amplifier.py` and the ports and parameters in `svc_adapter.yaml`.",
    python: true,
    files: {
      "svc_adapter.yaml": () =>
        import("../../recipes/scaffolds/python-operation/svc_adapter.yaml", { with: { type: "text" } }),
      "amplifier.py": () => import("../../recipes/scaffolds/python-operation/amplifier.py", { with: { type: "text" } }),
      "test_amplifier.py": () =>
        import("../../recipes/scaffolds/python-operation/test_amplifier.py", { with: { type: "text" } }),
      "recipe.yaml": () => import("../../recipes/scaffolds/python-operation/recipe.yaml", { with: { type: "text" } }),
    },
  },
};

/** The purpose of a kind, in one line. */
export function scaffoldSummary(kind: ScaffoldKind): string {
  return SCAFFOLDS[kind].summary;
}

/** A kind by its name. @throws SvcError `usage_invalid` with the nearest one */
export function scaffoldKind(name: string): ScaffoldKind {
  const kind = SCAFFOLD_KINDS.find((known) => known === name);
  if (kind !== undefined) return kind;
  throw new SvcError("usage_invalid", `Cannot scaffold the kind ${name}`, {
    hint: didYouMean(name, SCAFFOLD_KINDS) ?? `Known: ${SCAFFOLD_KINDS.join(", ")}`,
  });
}

/** The contents of a folder of one kind. */
export interface ScaffoldFiles {
  /** Name of the adapter. */
  name: string;
  /** Contents by path relative to the folder, sorted. */
  files: Record<string, string>;
}

/**
 * The files of a scaffold. Exported for tests.
 * @param name of the adapter; `my-codec` gives operations `my_codec.encode`, …
 * @throws SvcError `usage_invalid` for an invalid name
 */
export async function scaffoldFiles(kind: ScaffoldKind, name: string): Promise<ScaffoldFiles> {
  if (!/^[a-z][a-z0-9_-]*$/.test(name)) {
    throw new SvcError("usage_invalid", `Cannot name an adapter ${JSON.stringify(name)}`, {
      hint: "A name has lower-case letters, digits, - and _, and begins with a letter",
    });
  }
  const scaffold = SCAFFOLDS[kind];
  const prefix = (text: string) => text.replaceAll("-", "_");
  const named = (text: string) =>
    text.replaceAll(scaffold.name, name).replaceAll(prefix(scaffold.name), prefix(name))
      .replaceAll('"../svc_types.ts"', '"./svc_types.ts"');
  const { python = false } = scaffold;
  const files: Record<string, string> = { "README.md": readme(scaffold, name, prefix(name)) };
  for (const [path, text] of Object.entries(scaffold.files)) files[path] = named((await text()).default);
  if (!python) {
    files["svc_types.ts"] = (await import("../../recipes/scaffolds/svc_types.ts", { with: { type: "text" } })).default;
  }
  return { name, files: Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** The command that runs the tests of a scaffold in its folder. */
export const scaffoldTest = (kind: ScaffoldKind): string => testOf(SCAFFOLDS[kind]);

const testOf = ({ python }: Scaffold) => python ? "python3 -m unittest" : "deno test";

function readme(scaffold: Scaffold, name: string, prefix: string): string {
  const { summary, begin, python } = scaffold;
  const rules = python
    ? `- Its code runs in a sandbox (bubblewrap, Linux) with the interpreter's packages that \`requires\` names, one thread, no
  network and no other programs. \`--python <path>\` or SVC_PYTHON chooses another interpreter, such as that of a virtual environment.
- The result of a callable must depend only on its arguments and \`context.seed\` (no clock, random numbers from \`context.rng\`);
  otherwise a run cannot be repeated.`
    : `- \`svc_types.ts\` contains the types of arguments and results.
- Imports stay inside the folder; add packages as files, for example bundled with \`deno bundle\`.
- The result of a callable must depend only on its arguments and \`context.seed\` (no clock, no \`Math.random\`); otherwise a run cannot be
  repeated.`;
  return `# ${name}

An adapter for svc: ${summary}. It works as it is; begin with ${begin}

From the folder above this one:

\`\`\`
${`(cd ${name} && ${testOf(scaffold)})`.padEnd(59)} # the code by itself
svc adapter validate ${name}                                # the manifest, the modules, the digests
svc --adapter ${name} ops list --filter ${prefix}.          # the operations that recipes can name
svc --adapter ${name} recipe run ${name}/recipe.yaml        # an experiment
svc --adapter ${name} runs verify <run>                     # its evidence
\`\`\`

- \`svc_adapter.yaml\` lists the operations, the contracts that they wrap, their parameters, and requested permissions. This
  adapter requests none: it can read this folder only, without network, environment variables or programs.
${rules}
- The digest of this folder is part of every plan: a run identifies the exact code of its results. Keep results elsewhere.
`;
}

/** The written files. */
export interface WrittenScaffold {
  kind: ScaffoldKind;
  /** Name of the adapter. */
  name: string;
  /** As given by the caller. */
  folder: string;
  /** Paths relative to the folder, sorted. */
  files: string[];
}

/**
 * Writes an adapter to start from.
 * @param folder a new or empty folder; its name becomes the adapter's name, unless `options.name` is given
 * @throws SvcError `usage_invalid` for a folder that is not empty, or an invalid name
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { inspectAdapter } from "./inspect.ts";
 * import { scaffoldAdapter } from "./scaffold.ts";
 *
 * const root = await Deno.makeTempDir();
 * const { folder, files } = await scaffoldAdapter("bits", `${root}/my-codec`);
 * assert.ok(files.includes("svc_adapter.yaml"));
 * const { status, operations } = inspectAdapter({ folder }, { projectRoot: root });
 * assert.equal(status, "valid");
 * assert.deepEqual(operations.map(({ id }) => id), ["my_codec.encode", "my_codec.decode"]);
 * await Deno.remove(root, { recursive: true });
 * ```
 */
export async function scaffoldAdapter(
  kind: ScaffoldKind,
  folder: string,
  options: { name?: string } = {},
): Promise<WrittenScaffold> {
  const name = options.name ?? basename(resolve(folder)).toLowerCase();
  const { files } = await scaffoldFiles(kind, name);
  refuseOccupied(folder);
  for (const [path, text] of Object.entries(files)) {
    const target = join(folder, path);
    await Deno.mkdir(dirname(target), { recursive: true });
    await Deno.writeTextFile(target, text, { createNew: true });
  }
  return { kind, name, folder, files: Object.keys(files) };
}

/** Refuses a folder with files, which would be overwritten or mixed with ours. */
function refuseOccupied(folder: string): void {
  try {
    if (Deno.readDirSync(folder)[Symbol.iterator]().next().done) return;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw new SvcError("usage_invalid", `Cannot write an adapter to ${folder}: ${messageOf(error)}`, {
      hint: "Name a new folder",
    });
  }
  throw new SvcError("usage_invalid", `Cannot write an adapter to ${folder}: the folder is not empty`, {
    hint: "Name a new folder",
  });
}
