import { Page } from "../frame.tsx";

export default function View() {
  return (
    <Page title="Training">
      <p class="empty">Not here yet</p>
    </Page>
  );
}
