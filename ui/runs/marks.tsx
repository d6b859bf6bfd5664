/** The star, the tags and the note of a run. */
import { problemText } from "../api.ts";
import { Close, TextField, Trouble } from "../parts.tsx";
import { useEffect, useState } from "../preact.ts";
import { loadMarks, mark, markOf } from "../state/marks.ts";

export function RunMarks({ runId }: { runId: string }) {
  const { starred, tags, note } = markOf(runId);
  const [tag, setTag] = useState(""), [problem, setProblem] = useState<string | null>(null);
  useEffect(() => void loadMarks().catch(() => {}), []);
  const change = async (part: Parameters<typeof mark>[1]): Promise<boolean> => {
    const found = await mark([runId], part).then(() => null, problemText);
    setProblem(found);
    return found === null;
  };
  return (
    <div class="row run-marks" role="group" aria-label="Marks of the run">
      <button
        type="button"
        class="quiet star"
        aria-pressed={starred}
        aria-label={`Star ${runId}`}
        onClick={() => change({ starred: !starred })}
      >
        {starred ? "★" : "☆"}
      </button>
      {tags.map((one) => (
        <span key={one} class="tag row">
          {one}
          <Close label={`Remove the tag ${one}`} onClick={() => change({ remove_tags: [one] })} />
        </span>
      ))}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void change({ add_tags: tag.split(/[\s,]+/).filter(Boolean) });
          setTag("");
        }}
      >
        <label for="run-tag">Tag</label>
        <input id="run-tag" class="short-text" value={tag} onInput={(event) => setTag(event.currentTarget.value)} />
      </form>
      <span class="row nowrap grow">
        <label for="run-note">Note</label>
        <TextField
          id="run-note"
          class="grow"
          maxLength={10_000}
          value={note}
          onText={(text) => change({ note: text.trim() })}
        />
      </span>
      <Trouble text={problem} />
    </div>
  );
}
