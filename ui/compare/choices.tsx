/** Menus of a comparison, kept in the address. */
import { Select } from "../parts.tsx";
import { refine } from "../router.ts";
import { entryOf } from "../runs/metrics.ts";
import { EBN0, isSnr, parameterAxis } from "./parameter_axis.ts";

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
        ...options.map((option) => [option, wordsOf(option, options)] as const),
      ]}
      onChoose={(chosen) => refine({ [name]: chosen })}
    />
  );
}

/** A metric by its name, the energy of a link as the ratio that it is where no other option is one. */
const wordsOf = (option: string, options: readonly string[]): string =>
  option === EBN0 || isSnr(option) && options.filter(isSnr).length === 1
    ? parameterAxis(option).title
    : entryOf(option)?.name ?? option;
