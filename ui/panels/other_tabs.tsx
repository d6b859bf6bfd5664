/** Says that other tabs show the same recipes, and follows them. */
import { useEffect } from "../preact.ts";
import { announceTab, otherTabs } from "../state/other_tabs.ts";

export function OtherTabs() {
  useEffect(announceTab, []);
  return otherTabs.value === 0 ? null : (
    <p class="notice" data-tone="warn" role="status">
      These recipes are open in another tab of this browser too. An edit in one tab is made in all.
    </p>
  );
}
