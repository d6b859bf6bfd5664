/** Views as rows: what a run has for a view, what there is to choose, what is read, and the figure of it. */
import { Select, Wait } from "../../parts.tsx";
import { type JSX, useMemo, useState } from "../../preact.ts";
import { useLoaded } from "../../state/fetched.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { IndexChoice, ViewPanel } from "./parts.tsx";
import type { Report } from "./use_reports.ts";

/** What a run has. */
export interface Sources {
  artifacts: readonly Artifact[];
  reports: readonly Report[];
}

/** What is chosen in a view. */
export interface Chosen<Item> {
  item: Item;
  indices: readonly number[];
  /** Id of the chosen option. */
  option: string;
  summary: RunSummary;
}

interface Row<Item, Value> {
  title: string;
  /** Items of a run. Each has a panel, unless a menu chooses among them. */
  matches(sources: Sources): readonly Item[];
  /** A text that only this item has. */
  keyOf(item: Item): string;
  /** The item that is shown at first, where that is not the first one. */
  first?(items: readonly Item[]): Item | undefined;
  /** The menu of items. */
  menu?: { label: string; textOf(item: NoInfer<Item>): string };
  /** A menu of an item. */
  options?: { label: string; of(item: Item): readonly (readonly [id: string, text: string])[] };
  /** Indices of an item: the label of each, and the number of its values. */
  indices?(item: Item): readonly (readonly [label: string, count: number])[];
  /** Leading indices on which the read value depends; default all. */
  readBy?: number;
  /** Names the read value: `the snapshots`. */
  what?: string;
  load?(item: Item, indices: number[], signal: AbortSignal, summary: RunSummary): Promise<Value>;
  figure(value: Value, chosen: Chosen<Item>): JSX.Element;
}

/** The panels of a view for a run; none where it has nothing to show. */
export type View = (sources: Sources, summary: RunSummary) => JSX.Element[];

/** A view of a row; without `load` the value is null. */
export const view = <Item, Value = null>(row: Row<Item, Value>): View => (sources, summary) => {
  const items = row.matches(sources);
  const panels = row.menu === undefined ? items.map((item) => [item]) : items.length > 0 ? [items] : [];
  return panels.map((items) => (
    <Panel
      key={row.title + row.keyOf(items[0])}
      row={row}
      items={items}
      summary={summary}
    />
  ));
};

/** Views side by side. */
export const beside = (...views: readonly View[]): View => (sources, summary) => {
  const panels = views.flatMap((view) => view(sources, summary));
  return panels.length === 0 ? [] : [<div key="beside" class="beside">{panels}</div>];
};

/** A view of a component of its own; the file of the component says why it is no row. @param find null where a run has nothing for it */
export const customView = <Found,>(
  find: (sources: Sources) => Found | null | undefined,
  draw: (found: Found, summary: RunSummary) => JSX.Element,
): View =>
(sources, summary) => {
  const found = find(sources);
  return found == null ? [] : [draw(found, summary)];
};

function Panel<Item, Value>(
  { row, items, summary }: { row: Row<Item, Value>; items: readonly Item[]; summary: RunSummary },
) {
  const [key, setKey] = useState(row.keyOf(row.first?.(items) ?? items[0])), [wanted, setWanted] = useState("");
  const [places, setPlaces] = useState<readonly number[]>([]);
  const item = items.find((one) => row.keyOf(one) === key) ?? items[0];
  const axes = row.indices?.(item) ?? [], indices = axes.map(([, count], at) => Math.min(places[at] ?? 0, count - 1));
  const options = row.options?.of(item) ?? [];
  const option = (options.find(([id]) => id === wanted) ?? options[0])?.[0] ?? "";
  const read = indices.slice(0, row.readBy), question = [row.keyOf(item), ...read].join(" ");
  const { value, ...wait } = useLoaded(
    (signal) => row.load!(item, read, signal, summary),
    row.load === undefined ? null : question,
  );
  const waits = row.load !== undefined && value === null;
  const figure = useMemo(
    () => waits ? null : row.figure(value as Value, { item, indices, option, summary }),
    [value, question, option, String(indices)],
  );
  const isChosen = items.length > 1 || options.length > 1 || axes.some(([, count]) => count > 1);
  const controls = (
    <>
      {items.length > 1 && (
        <Select
          label={row.menu!.label}
          value={row.keyOf(item)}
          options={items.map((one) => [row.keyOf(one), row.menu!.textOf(one)] as const)}
          onChoose={setKey}
        />
      )}
      {options.length > 1 && (
        <Select
          label={row.options!.label}
          value={option}
          options={options}
          onChoose={setWanted}
        />
      )}
      {axes.map(([label, count], at) => (
        <IndexChoice
          key={label}
          label={label}
          count={count}
          value={indices[at]}
          onChoose={(place) => setPlaces(indices.with(at, place))}
        />
      ))}
    </>
  );
  return (
    <ViewPanel title={row.title} controls={isChosen ? controls : undefined}>
      {figure ?? <Wait of={wait} what={row.what!} />}
    </ViewPanel>
  );
}
