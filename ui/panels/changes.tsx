/** The smallest changes between two recipes, as a table. */
import { canonicalJson } from "../../lib/contract/json.ts";
import type { Value } from "../../lib/contract/value.ts";

export interface Change {
  path: string;
  kind: string;
  a?: Value;
  b?: Value;
}

export function Changes({ changes, a, b }: { changes: readonly Change[]; a: string; b: string }) {
  if (changes.length === 0) return <p class="muted">There is no difference.</p>;
  const shown = (value: Value | undefined) => {
    if (value === undefined) return <span class="muted">not there</span>;
    return <code>{canonicalJson(value)}</code>;
  };
  return (
    <div class="scroll" tabindex={0} role="region" aria-label="Differences">
      <table>
        <thead>
          <tr>
            <th>Where</th>
            <th>{a}</th>
            <th>{b}</th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <tr key={change.path}>
              <td class="mono">{change.path}</td>
              <td>{shown(change.a)}</td>
              <td>{shown(change.b)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
