/**
 * Builds the site of the documents: the Markdown files of the root and of docs/ and those that they link to, with navigation
 * and a search that works offline. VitePress runs under Node; npm fetches it, because it is larger than svc and nothing else needs it.
 *
 *     deno task site [folder [base]]      writes build/site, for any static server; base is the path of its address
 */
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import config from "../../deno.json" with { type: "json" };
import { PROGRAM_ROOT } from "../artifact/program.ts";
import { callTool, writeText } from "./npm_tool.ts";

const VITEPRESS = "vitepress@1.6.4";
const ROOT_PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "THIRD_PARTY.md"];
const IMAGE = /\.(svg|png)$/;
const LINK = /\]\(([^)\s#]+)/g;

interface SidebarGroup {
  text: string;
  items: { text: string; link: string }[];
}

/** Groups and links of docs/README.md: `**Group.** [page](path) · [page](path)`. Exported for tests. */
export function sidebarOf(index: string): SidebarGroup[] {
  return index.split(/^\*\*(?=\w)/m).slice(1).map((part) => ({
    text: part.slice(0, part.indexOf(".**")),
    items: [...part.matchAll(/\[([^\]]+)\]\(([^)]+\.md)\)/g)].map(([, text, path]) => ({
      text,
      link: `/${join("docs", path).replace(/\.md$/, "")}`,
    })),
  }));
}

/**
 * A page for VitePress, which would read braces and tags as components; comments concern the source alone. Exported for tests.
 */
export const pageText = (markdown: string): string =>
  `::: v-pre\n\n${markdown.replace(/^<!--[^]*?-->\n/gm, "")}\n\n:::\n`;

/**
 * Copies pages, and the files of the repository that they show or link to; files that are no images keep their path.
 * Exported for tests.
 * @returns the pages by their paths, and the links to files that are no images
 */
export async function copyPages(root: string, folder: string): Promise<{ pages: string[]; linked: string[] }> {
  const pages = [...ROOT_PAGES, ...markdownFiles(root, "docs")];
  const files = new Set<string>(), linked = new Set<string>();
  for (const page of pages) {
    const text = await Deno.readTextFile(join(root, page));
    for (const [, target] of text.matchAll(LINK)) {
      if (/^[a-z]+:/.test(target)) continue;
      const path = join(dirname(page), target);
      if (path.endsWith(".md")) {
        // Also those elsewhere, such as cards of models.
        if (!pages.includes(path)) pages.push(path);
        continue;
      }
      files.add(path);
      if (!IMAGE.test(target)) linked.add(target);
    }
    await writeText(join(folder, page), pageText(text));
  }
  for (const file of files) {
    const to = join(folder, IMAGE.test(file) ? "" : "public", file);
    await Deno.mkdir(dirname(to), { recursive: true });
    await Deno.copyFile(join(root, file), to);
  }
  return { pages, linked: [...linked] };
}

function markdownFiles(root: string, folder: string): string[] {
  return [...Deno.readDirSync(join(root, folder))].flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    return isDirectory ? markdownFiles(root, path) : name.endsWith(".md") ? [path] : [];
  }).sort();
}

/**
 * Builds the site. Exported for tests.
 * @param out absolute, new or empty
 * @param base path of the site's address, with a slash at both ends
 * @returns the number of pages
 */
export async function buildSite(out: string, base = "/"): Promise<number> {
  const root = fileURLToPath(PROGRAM_ROOT), work = await Deno.makeTempDir({ prefix: "svc-site-" });
  try {
    const source = join(work, "source"), { pages, linked } = await copyPages(root, source);
    const settings = {
      title: config.name.split("/").at(-1),
      description: "Reproducible experiments for communication and semantic-communication research",
      srcDir: "source",
      outDir: out,
      base,
      ignoreDeadLinks: linked.map((link) => `./${link}`),
      rewrites: { "README.md": "index.md", "docs/README.md": "docs/index.md" },
      markdown: { html: false },
      themeConfig: {
        search: { provider: "local" },
        nav: [{ text: "Documents", link: "/docs/" }, { text: "Changes", link: "/CHANGELOG" }],
        sidebar: sidebarOf(await Deno.readTextFile(join(root, "docs/README.md"))),
        outline: [2, 3],
      },
    };
    await writeText(join(work, ".vitepress/config.mjs"), `export default ${JSON.stringify(settings, null, 2)};\n`);
    await writeText(join(work, "package.json"), `{"private": true, "type": "module"}\n`);
    await callTool(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", VITEPRESS], work);
    await callTool(["npx", "--no-install", "vitepress", "build"], work);
    return pages.length;
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

if (import.meta.main) {
  const folder = resolve(Deno.args[0] ?? "build/site");
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  console.log(`${await buildSite(folder, Deno.args[1])} pages in ${relative(Deno.cwd(), folder)}`);
}
