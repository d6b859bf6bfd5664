/** When each step ran and on which worker, to scale. */
import { isObject } from "../../lib/contract/value.ts";
import { csvText } from "../charts/csv.ts";
import { pictureFile, PictureFiles } from "../charts/density.tsx";
import { useRef } from "../preact.ts";
import type { RunDocuments } from "./documents.ts";
import { secondsText } from "./amounts.ts";

/** Width of a letter of the names. */
const LETTER = 7.3;
const phone = matchMedia("(max-width: 560px)");

interface Span {
  id: string;
  start: number;
  seconds: number;
  worker: number;
  status: string;
}

export function Timeline({ documents: { summary } }: { documents: RunDocuments }) {
  const drawing = useRef<SVGSVGElement>(null);
  const spans = summary.steps.flatMap(({ id, metadata, status }): Span[] => {
    const timing = isObject(metadata) && isObject(metadata.timing) ? metadata.timing : null;
    if (timing === null) return [];
    return [{
      id,
      status,
      start: Number(timing.start_offset_s),
      seconds: Number(timing.step_wall_time_s),
      worker: Number(timing.worker),
    }];
  });
  if (spans.length === 0) return <p class="empty">No step of this run has a recorded time.</p>;
  const end = Math.max(...spans.map(({ start, seconds }) => start + seconds)),
    busy = spans.reduce((sum, { seconds }) => sum + seconds, 0);
  const longest = spans.reduce((a, b) => b.seconds > a.seconds ? b : a);
  const workers = new Set(spans.map(({ worker }) => worker)).size;
  // Names are of one width a letter; a longer one widens the drawing of a phone, which scrolls.
  const label = Math.max(...spans.map(({ id }) => id.length)) * LETTER + 16, row = 24;
  const width = phone.matches ? Math.max(326, label + 160) : 900, scale = (width - label - 80) / end;
  return (
    <figure class="panel timeline">
      <div class="row end-tools">
        <PictureFiles
          name="timeline"
          svg={() => pictureFile(drawing.current!, null, "Timeline", { run_id: summary.run_id })}
          csv={() =>
            csvText({
              columns: ["step", "start_s", "seconds", "worker"],
              rows: spans.map(({ id, start, seconds, worker }) => [id, start, seconds, worker].map(String)),
            })}
        />
      </div>
      <figcaption>
        {spans.length} steps in {secondsText(end)} on {workers} {workers === 1 ? "worker" : "workers"}; the longest is
        {" "}
        <code>{longest.id}</code> with {secondsText(longest.seconds)} ({Math.round(100 * longest.seconds / busy)}{" "}
        % of the time in steps).
      </figcaption>
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Timeline">
        <svg
          ref={drawing}
          viewBox={`0 0 ${width} ${row * spans.length}`}
          width={width}
          height={row * spans.length}
          role="list"
        >
          {spans.map(({ id, start, seconds, worker, status }, index) => (
            <g
              key={id}
              role="listitem"
              aria-label={`${id}: starts after ${secondsText(start)}, takes ${secondsText(seconds)}, worker ${worker}`}
              transform={`translate(0 ${index * row})`}
            >
              <text x={label - 8} y={16} text-anchor="end" class="mono-text">{id}</text>
              <rect
                class={`span worker-${worker % 5} ${status}`}
                x={label + start * scale}
                y={4}
                width={Math.max(1.5, seconds * scale)}
                height={row - 8}
              />
              <text x={label + (start + seconds) * scale + 6} y={16} class="faint-text">
                {secondsText(seconds)}
                {workers > 1 ? ` · ${worker}` : ""}
              </text>
            </g>
          ))}
        </svg>
      </div>
    </figure>
  );
}
