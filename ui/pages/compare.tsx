/** Runs beside each other. */
import { Page } from "../frame.tsx";

export default function View() {
  return (
    <Page title="Compare">
      <p class="empty">Not here yet</p>
    </Page>
  );
}
