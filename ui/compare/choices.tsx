/** Menus of what a view is about, kept in the address. */
import { refine } from "../router.ts";
import { entryOf } from "../runs/metrics.ts";

interface Props {
  label: string;
  name: string;
  value: string;
  options: readonly string[];
  /** A first entry for none. */
  none?: string;
}

export function Choice({ label, name, value, options, none }: Props) {
  return (
    <label class="row">
      {label}
      <select value={value} onChange={(event) => refine({ [name]: event.currentTarget.value })}>
        {none !== undefined && <option value="-">{none}</option>}
        {options.map((option) => <option key={option} value={option}>{entryOf(option)?.name ?? option}</option>)}
      </select>
    </label>
  );
}
