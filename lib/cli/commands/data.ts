/** `svc data`: manifests of image folders, and the data sets that come with the program. */

import { SvcError } from "../../contract/error.ts";
import { sha256Hex } from "../../contract/hash.ts";
import { prettyJson } from "../../contract/json.ts";
import type { Command } from "../commander.ts";
import { contextOf } from "../context.ts";

export function dataCommands(program: Command): void {
  const data = program.command("data").description("manifests of image folders, and data sets");

  data.command("make-manifest <folder>")
    .description("write an image-dataset manifest for a folder of PNG and JPEG files and print its SHA-256")
    .option("--id <id>", "data set id (default: the name of the folder)")
    .option("--version <version>", "data set version", "1")
    .option("--out <file>", "where to write it (default: manifest.json in the folder)")
    .option("--force", "replace an existing file")
    .addHelpText("after", "\nExamples\n  svc data make-manifest photos --id my_photos\n")
    .action(makeManifest);
}

interface ManifestOptions {
  id?: string;
  version: string;
  out?: string;
  force?: boolean;
}

async function makeManifest(folder: string, options: ManifestOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { makeImageManifest } = await import("../../artifact/dataset_manifest.ts");
  const { writeFileAtomic } = await import("../../artifact/ledger.ts");
  const manifest = await makeImageManifest(folder, { id: options.id, version: options.version });
  const text = prettyJson(manifest);
  const { join } = await import("node:path");
  const path = options.out ?? join(folder, "manifest.json");
  if (!options.force) {
    const taken = await Deno.lstat(path).then(() => true, () => false);
    if (taken) {
      throw new SvcError("manifest_exists", `Cannot write ${path}: it exists`, { hint: "Add --force to replace it" });
    }
  }
  writeFileAtomic(path, new TextEncoder().encode(text));
  const sha256 = sha256Hex(text);
  const images = (manifest.samples as unknown[]).length;
  context.emit({ schema_version: 1, path, sha256, id: manifest.id, image_count: images });
  context.print(`${path}\n  ${images} images\n  manifest_sha256: ${sha256}`);
}
