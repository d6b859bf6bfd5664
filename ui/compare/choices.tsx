/** Menus of a comparison, kept in the address. */
import { Select } from "../parts.tsx";
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
    <Select<string>
      label={label}
      value={value}
      options={[
        ...(none === undefined ? [] : [["-", none] as const]),
        ...options.map((option) => [option, entryOf(option)?.name ?? option] as const),
      ]}
      onChoose={(chosen) => refine({ [name]: chosen })}
    />
  );
}
