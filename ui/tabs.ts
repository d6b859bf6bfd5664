/** Tabs by keyboard: one stop among the others of the page, arrows within. */

/** Arrows move among tabs, Home and End to the ends. */
export function walkTabs(event: KeyboardEvent): void {
  const tabs = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLButtonElement>("[role=tab]")];
  const at = tabs.indexOf(event.target as HTMLButtonElement);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  const wanted = tabs[(next + tabs.length) % tabs.length];
  wanted.focus();
  wanted.click();
}
