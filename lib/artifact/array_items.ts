/** Names of the arrays of a batch whose items differ in shape: `item_000000`, `item_000001`, … in the order of the items. */

const DIGITS = 6;
/** Largest number of items. */
export const MAXIMUM_ITEMS = 65535;

/** Whether the names of an artifact's arrays are those of items. */
export const holdsItems = (names: readonly string[]) => names.includes(itemName(0));

export const itemName = (index: number) => `item_${String(index).padStart(DIGITS, "0")}`;
