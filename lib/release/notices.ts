/**
 * Writes `sbom.cdx.json` (CycloneDX 1.6, every package of the lock file) and `THIRD_PARTY.md` (licences of the packages that
 * are shipped, with their texts). Licences are read from Deno's cache of packages.
 *
 *     deno task notices
 */
import { join } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { PROGRAM_ROOT } from "../artifact/program.ts";
import { compareCodePoints, prettyJson } from "../contract/json.ts";
import type { JsonObject } from "../contract/value.ts";
import { fullLock, npmCache, packageOf } from "./packages.ts";

/** Packages for tests and generators: nothing of them is in a shipped file. */
const DEVELOPMENT = [
  "@uwdata/flechette",
  "assemblyscript",
  "axe-core",
  "binaryen",
  "kubernetes-types",
  "parquet-wasm",
  "playwright-core",
  "fsevents",
  "typescript",
];
/** Packages without a file of their licence, with the place of its text. */
const TEXTS: Readonly<Record<string, string>> = {
  "MPL-2.0":
    "Mozilla Public License 2.0: https://www.mozilla.org/MPL/2.0/ ; the source is on the package's page at npm",
  MIT: "MIT licence: https://opensource.org/license/mit",
  ISC: "ISC licence: https://opensource.org/license/isc-license-txt",
};

/** Packages that refer to the text of their licence: permissive ones, of NIST and of The HDF Group. */
const BY_TEXT: Readonly<Record<string, string>> = { h5wasm: "NIST-Software AND LicenseRef-HDF5" };

/** The words by which the MIT licence differs from others. */
const MIT_GRANT = "Permission is hereby granted, free of charge, to any person obtaining a copy";

interface Packed {
  key: string;
  name: string;
  version: string;
  integrity: string;
  licence: string;
  text: string | null;
}

async function packages(): Promise<Packed[]> {
  const cache = await npmCache();
  return Object.entries(fullLock().npm).map(([key, { integrity }]) => {
    const { name, version } = packageOf(key), folder = join(cache, "registry.npmjs.org", name, version);
    let manifest: { license?: string | { type: string } };
    try {
      manifest = JSON.parse(Deno.readTextFileSync(join(folder, "package.json")));
    } catch {
      throw new Error(`${key} is not in the cache of Deno: run deno task test once, which fetches it`);
    }
    const { license } = manifest;
    const file = [...Deno.readDirSync(folder)].map(({ name }) => name).sort().find((name) => /^licen[cs]e/i.test(name));
    const text = file === undefined ? null : Deno.readTextFileSync(join(folder, file)).replaceAll("\r\n", "\n").trim();
    // Some packages name their licence by its text alone.
    const told = text?.includes(MIT_GRANT) ? "MIT" : "unknown";
    return {
      key,
      name,
      version,
      integrity,
      licence: BY_TEXT[name] ?? (typeof license === "string" ? license : license?.type ?? told),
      text,
    };
  }).sort((a, b) => compareCodePoints(a.key, b.key));
}

function sbom(all: readonly Packed[]): JsonObject {
  const hex = (integrity: string) =>
    [...atob(integrity.replace("sha512-", ""))].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join(
      "",
    );
  const component = ({ name, version, integrity, licence }: Packed): JsonObject => ({
    type: "library",
    "bom-ref": `pkg:npm/${encodeURIComponent(name).replace("%2F", "/")}@${version}`,
    name,
    version,
    scope: DEVELOPMENT.includes(name) ? "excluded" : "required",
    hashes: [{ alg: "SHA-512", content: hex(integrity) }],
    licenses: [/^[\w.-]+$/.test(licence) ? { license: { id: licence } } : { expression: licence }],
    purl: `pkg:npm/${encodeURIComponent(name).replace("%2F", "/")}@${version}`,
  });
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        name: config.name,
        version: config.version,
        licenses: [{ license: { id: config.license } }],
      },
    },
    components: all.map(component),
  };
}

function notices(all: readonly Packed[]): string {
  const shipped = all.filter(({ name }) => !DEVELOPMENT.includes(name));
  const rows = shipped.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`);
  const texts = Map.groupBy(
    shipped,
    ({ text, licence }) => text ?? TEXTS[licence] ?? `${licence}: see the package at npm`,
  );
  const sections = [...texts].map(([text, those]) =>
    `### ${those.map(({ name, version }) => `${name} ${version}`).join(", ")}\n\n\`\`\`\`text\n${text}\n\`\`\`\`\n`
  );
  return `# Third-party software and data

<!-- Written by deno task notices from deno.lock. -->

svc is licensed under ${config.license} (LICENSE). It is shipped with the packages below. Fonts of the page state their licence in
\`ui/fonts/\`, sample photographs in \`recipes/samples/\`, each model and adapter in the LICENSE of its folder.
The networks of \`adapters/ocr_reader/\` are derived from PP-OCRv4 (PaddlePaddle Authors, Apache-2.0),
the vectors of \`adapters/word_vectors/\` from GloVe 6B (Pennington, Socher and Manning, ODC-PDDL-1.0).

| Package | Version | Licence |
|---|---|---|
${rows.join("\n")}

## Texts of licences

${sections.join("\n")}`;
}

if (import.meta.main) {
  const all = await packages();
  await Deno.writeTextFile(new URL("sbom.cdx.json", PROGRAM_ROOT), prettyJson(sbom(all)));
  await Deno.writeTextFile(new URL("THIRD_PARTY.md", PROGRAM_ROOT), notices(all));
}
