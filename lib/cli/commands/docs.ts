/** `svc docs`: the documents of the program, read offline. By hand: texts of files, and no document. */
import { join } from "../../contract/paths.ts";
import { programFolder } from "../../artifact/program.ts";
import { SvcError } from "../../contract/error.ts";
import { didYouMean } from "../../contract/nearest.ts";
import { command, type CommandSpec } from "../command.ts";
import { formatTable } from "../table.ts";

interface Page {
  /** Path under `docs/` without the extension. */
  topic: string;
  /** Absolute. */
  file: string;
  title: string;
}

function pages(): Page[] {
  const root = programFolder();
  if (root === null) {
    throw new SvcError("docs_unavailable", "Cannot read the documents: the files of this program were not fetched", {
      hint: "Make the origin of the program reachable once, or read docs/ of its repository",
    });
  }
  const found: Page[] = [];
  const visit = (path: string) => {
    for (const { name, isDirectory } of Deno.readDirSync(join(root, "docs", path))) {
      const inside = path === "" ? name : `${path}/${name}`;
      if (isDirectory) visit(inside);
      else if (name.endsWith(".md")) {
        const file = join(root, "docs", inside);
        const title = /^# (.+)$/m.exec(Deno.readTextFileSync(file))?.[1] ?? inside;
        found.push({ topic: inside.slice(0, -".md".length), file, title });
      }
    }
  };
  visit("");
  return found.sort((a, b) => (a.topic < b.topic ? -1 : 1));
}

/** The text of a page. Comments are for editors of the source alone. */
const read = (file: string) => Deno.readTextFileSync(file).replaceAll(/^<!--[^]*?-->\n+/gm, "").trimEnd();

const lastOf = (topic: string) => topic.split("/").at(-1)!;

/** The section under a heading of the second level, up to the next one; null where none has this title. */
function section(text: string, title: string): string | null {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line === `## ${title}`);
  if (start < 0) return null;
  const end = lines.findIndex((line, index) => index > start && line.startsWith("## "));
  return lines.slice(start, end < 0 ? undefined : end).join("\n").trimEnd();
}

/** The text of a topic: a page, a section of a page (`codes/plan_invalid`), or a section alone (`wireless.channel`). */
function textOf(wanted: string): { topic: string; file: string; text: string } {
  const all = pages();
  const page = all.find(({ topic }) => topic === wanted) ?? all.find(({ topic }) => lastOf(topic) === wanted);
  if (page !== undefined) return { ...page, text: read(page.file) };
  const at = wanted.lastIndexOf("/"), within = wanted.slice(0, Math.max(at, 0)), title = wanted.slice(at + 1);
  const titles: string[] = [];
  for (const page of all) {
    if (within !== "" && page.topic !== within && lastOf(page.topic) !== within) continue;
    const text = read(page.file), found = section(text, title);
    if (found !== null) return { topic: `${page.topic}/${title}`, file: page.file, text: found };
    titles.push(
      ...[...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => within === "" ? heading : `${within}/${heading}`),
    );
  }
  throw new SvcError("not_found", `Cannot find a document about ${wanted}`, {
    hint: didYouMean(wanted, [...all.map(({ topic }) => lastOf(topic)), ...titles]) ?? "List them with: svc docs",
  });
}

export const docsCommands: CommandSpec[] = [
  command({
    usage: "docs [topic]",
    multiline: true,
    summary: "print a document, or list them: tutorials, guides, reference, explanation",
    notes: "A topic is a page, a section of a page, or an id: an operation, an error code, a command.",
    examples: ["svc docs", "svc docs first_link", "svc docs codes/plan_invalid", "svc docs wireless.channel"],
    call: ({ args: [topic] }) =>
      topic === undefined
        ? { topics: pages().map(({ topic, title }) => ({ topic, title })) }
        : { topics: [], ...textOf(topic) },
    show(result) {
      if ("text" in result) return result.text;
      return formatTable(result.topics, ["topic", "title"], "table");
    },
  }),
];
