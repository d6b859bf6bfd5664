/** The choice between the checks of a recipe. */
import { Select } from "../parts.tsx";
import { checkMode } from "../state/settings.ts";

const MODES = [["strict", "strict, as for runs"], ["compat", "compat, for older recipes"]] as const;

export const CheckMode = ({ onChoose }: { onChoose?(): void }) => (
  <Select
    label="Check"
    look="small"
    value={checkMode.value}
    options={MODES}
    onChoose={(mode) => {
      checkMode.value = mode;
      onChoose?.();
    }}
  />
);
