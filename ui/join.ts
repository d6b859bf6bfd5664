/**
 * Joins the chunks of a bundle into few files. The bundler makes a chunk of each set of entries that share modules, some of a
 * hundred bytes; a browser fetches six files at a time, and a file costs it more time than a kilobyte.
 *
 * The scripts that the page begins with become one file. Two groups of chunks of the views become one where the requests that
 * are saved are worth more than the bytes that a view gets in addition. Chunks that no view needs at once stay as they are.
 */

/** Texts of scripts by name, as the bundler writes them: minified, with static imports at the start. */
export type Scripts = ReadonlyMap<string, string>;

/** Characters of a script that take as long as one more request. */
const REQUEST = 4000;

const STATIC = /(?:import|from)"\.\/([\w-]+\.js)"/g;
const LATER = /\bimport\("\.\/([\w-]+\.js)"\)/g;
const NAMED = /(import|export)\{([^{}]*)\}from"\.\/([\w-]+\.js)"/g;

const importsOf = (text: string): string[] => [...text.matchAll(STATIC)].map(([, name]) => name);

/** The scripts that a script imports at once, with itself. */
export function closureOf(scripts: Scripts, name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const other of importsOf(scripts.get(name)!)) closureOf(scripts, other, found);
  return found;
}

/** The views that the frame loads, and their scripts: `runs:()=>import("./b.js")`. */
export const viewsOf = (frame: string): [view: string, script: string][] =>
  [...frame.matchAll(/(\w+):\(\)=>import\("\.\/([\w-]+\.js)"\)/g)].map(([, view, name]) => [view, name]);

/** Chunks that become one file. */
interface Group {
  members: string[];
  /** The views that need it at once. */
  views: Set<string>;
  /** Characters. */
  size: number;
  imports: Set<string>;
  /** The script of the page, or of a view, among them. */
  entry: string | undefined;
}

const union = (a: Group, b: Group): Group => ({
  members: [...a.members, ...b.members],
  views: a.views.union(b.views),
  size: a.size + b.size,
  imports: a.imports.union(b.imports),
  entry: a.entry ?? b.entry,
});

/** Characters that the views save when two groups become one. */
const gainOf = (a: Group, b: Group) =>
  REQUEST * a.views.intersection(b.views).size - b.size * a.views.difference(b.views).size -
  a.size * b.views.difference(a.views).size;

/** Whether the file of two groups would import one that imports it. */
function circular(groups: readonly Group[], a: Group, b: Group): boolean {
  const homes = new Map(groups.flatMap((group) => group.members.map((name) => [name, group])));
  const reached = new Set([a, b]);
  for (const from of reached) {
    for (const name of from.imports) {
      const to = homes.get(name);
      if (to === undefined || to === from) continue;
      if ((to === a || to === b) && from !== a && from !== b) return true;
      reached.add(to);
    }
  }
  return false;
}

/**
 * The scripts that become one file each. Exported for tests.
 *
 * @param main the script that the page begins with
 * @returns members by the name of the file, which is that of the entry among them
 */
export function groupsOf(scripts: Scripts, main: string): Map<string, string[]> {
  const frame = [...closureOf(scripts, main)], views = viewsOf(scripts.get(main)!);
  const group = (members: string[], views: Iterable<string>, entry: string | undefined): Group => ({
    members,
    views: new Set(views),
    size: members.reduce((sum, name) => sum + scripts.get(name)!.length, 0),
    imports: new Set(members.flatMap((name) => importsOf(scripts.get(name)!))),
    entry,
  });
  const needs = new Map<string, string[]>();
  for (const [view, entry] of views) {
    for (const name of closureOf(scripts, entry)) needs.set(name, [...needs.get(name) ?? [], view]);
  }
  for (const name of frame) needs.delete(name);
  const groups = [
    group(frame, views.map(([view]) => view), main),
    ...[...needs].sort(([a], [b]) => a < b ? -1 : 1).map(([name, needed]) =>
      group([name], needed, views.find(([, entry]) => entry === name)?.[1])
    ),
  ];
  for (;;) {
    let best: [gain: number, a: Group, b: Group] | null = null;
    for (const [at, a] of groups.entries()) {
      for (const b of groups.slice(at + 1)) {
        const gain = gainOf(a, b), apart = a.entry !== undefined && b.entry !== undefined;
        if (!apart && gain > (best?.[0] ?? 0) && !circular(groups, a, b)) best = [gain, a, b];
      }
    }
    if (best === null) break;
    const [, a, b] = best;
    groups.splice(groups.indexOf(b), 1);
    groups[groups.indexOf(a)] = union(a, b);
  }
  return new Map(groups.map(({ entry, members }) => [entry ?? members[0], members]));
}

/** Where a script that is bundled finds the files beside its own, which are not part of it. */
export const BESIDE = "./beside/";

/**
 * The scripts in fewer files. What other files import from a member has a name of its own in the file that takes it.
 *
 * @param main the script that the page begins with
 * @param bundle makes a file of each entry, with all that it imports but for what is beside it; `scripts` has the entries too
 * @throws Error where a script is imported in a form that is not known here
 */
export async function joined(
  scripts: Scripts,
  main: string,
  bundle: (scripts: Scripts, entries: string[]) => Promise<Map<string, string>>,
): Promise<Map<string, string>> {
  const groups = new Map([...groupsOf(scripts, main)].filter(([, members]) => members.length > 1));
  const homes = new Map([...groups].flatMap(([home, members]) => members.map((name) => [name, home])));
  const views = new Set(viewsOf(scripts.get(main)!).map(([, script]) => script));
  const homeOf = (name: string) => homes.get(name) ?? name;
  /** By file, the exports of members that other files import, and their names there: no name of a member begins with $. */
  const taken = new Map([...groups.keys()].map((home) => [home, new Map<string, string>()]));
  const texts = new Map([...scripts].map(([name, text]) => {
    const elsewhere = (other: string) => homeOf(other) !== homeOf(name);
    const placed = homes.has(name) ? BESIDE : "./";
    const named = text.replace(NAMED, (whole, verb, names: string, other) => {
      const found = taken.get(homeOf(other));
      if (found === undefined || !elsewhere(other)) return whole;
      const renamed = names.split(",").map((part) => {
        const [from, to = from] = part.split(" as "), key = `${from}" ${other}`;
        if (!found.has(key)) found.set(key, `$${found.size.toString(36)}`);
        return `${found.get(key)} as ${to}`;
      });
      return `${verb}{${renamed}}from"./${other}"`;
    });
    const moved = named.replace(
      STATIC,
      (whole, other) => elsewhere(other) ? whole.replace(`./${other}`, placed + homeOf(other)) : whole,
    );
    return [
      name,
      moved.replace(LATER, (_, other) => {
        if (homeOf(other) !== other) {
          throw new Error(`${other} is a part of ${homeOf(other)} and is imported by itself`);
        }
        return `import("${placed}${other}")`;
      }),
    ];
  }));
  const entries = new Map([...groups].map(([home, members]) => {
    const exported = [...taken.get(home)!].map(([key, name]) => {
      const [from, member] = key.split(" ");
      return `export{${from.slice(0, -1)} as ${name}}from"./${member}";`;
    });
    const own = views.has(home) ? [`export{default}from"./${home}";`] : [];
    return [`joined-${home}`, [...members.map((name) => `import"./${name}";`), ...own, ...exported].join("")];
  }));
  const made = await bundle(new Map([...texts, ...entries]), [...entries.keys()]);
  const alone = [...texts].filter(([name]) => !homes.has(name));
  const files = new Map([...alone, ...[...groups.keys()].map((home) => [home, made.get(`joined-${home}`)!] as const)]);
  return new Map([...files].map(([name, text]) => [name, text.replaceAll(`"${BESIDE}`, `"./`)]));
}
