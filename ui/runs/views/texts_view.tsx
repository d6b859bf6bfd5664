/**
 * Texts, sent against received: lost and added words.
 * No row of the table of views: figures of results show it too, outside a view.
 */
import { diffTexts } from "../../charts/text_diff.ts";
import { Pager } from "../../pager.tsx";
import { Section, Select, Wait } from "../../parts.tsx";
import { useMemo, useState } from "../../preact.ts";
import { useLoaded } from "../../state/fetched.ts";
import type { Artifact } from "../documents.ts";
import { json } from "../fetch_artifact.ts";
import { nameOf, optionOf } from "./parts.tsx";

export const TEXTS = "text.batch.json";

interface TextBatch {
  items: { id: string; text: string }[];
}

/** Texts of a page. */
const SHOWN_TEXTS = 10;

/** A text with what became of it. */
interface Compared {
  id: string;
  parts: ReturnType<typeof diffTexts>;
  words: number;
  kept: number;
}

function comparedTexts([sent, received]: readonly TextBatch[]): Compared[] {
  return sent.items.map(({ id, text }, index) => {
    const other = received.items.find((item) => item.id === id) ?? received.items[index];
    const parts = diffTexts(text, other?.text ?? "");
    const kept = parts.filter(({ kind }) => kind === "kept").flatMap(({ text }) => text.split(" ")).length;
    return { id, parts, words: text.split(/\s+/).filter(Boolean).length, kept };
  });
}

export function Texts({ texts }: { texts: Artifact[] }) {
  const [to, setTo] = useState(texts.at(-1)!.path), from = texts[0].path;
  const { value, ...wait } = useLoaded(
    async (signal) => await Promise.all([json<TextBatch>(from, signal), json<TextBatch>(to, signal)]),
    `${from} ${to}`,
  );
  const compared = useMemo(() => value === null ? [] : comparedTexts(value), [value]);
  const sum = (of: (one: Compared) => number) => compared.reduce((total, one) => total + of(one), 0);
  const against = texts.length > 1 && (
    <Select label={`${nameOf(texts[0])} against`} value={to} options={texts.slice(1).map(optionOf)} onChoose={setTo} />
  );
  return (
    <Section title="Texts" look="panel" actions={against}>
      {texts.length > 1 && value !== null && (
        <p>
          {sum(({ kept }) => kept)} of {sum(({ words }) => words)} words of {compared.length} texts are kept;{" "}
          {compared.filter(({ parts }) => parts.every(({ kind }) => kind === "kept")).length} texts are unchanged.{" "}
          <span class="muted small">
            <del>lost</del> and <ins>added</ins> words are marked.
          </span>
        </p>
      )}
      {value === null && <Wait of={wait} what="the texts" />}
      <Pager items={compared} size={SHOWN_TEXTS} what="Texts">
        {(shown) => (
          <ul class="text-diffs">
            {shown.map(({ id, parts, words, kept }) => (
              <li key={id}>
                <div class="row">
                  <code>{id}</code>
                  {texts.length > 1 && <span class="muted small">{kept} of {words} words kept</span>}
                </div>
                <p>
                  {parts.map(({ kind, text }, at) =>
                    kind === "lost"
                      ? <del key={at}>{text}</del>
                      : kind === "added"
                      ? <ins key={at}>{text}</ins>
                      : <span key={at}>{text}</span>
                  ).flatMap((part) => [part, " "])}
                </p>
              </li>
            ))}
          </ul>
        )}
      </Pager>
    </Section>
  );
}
