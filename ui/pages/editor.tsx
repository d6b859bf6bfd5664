import { Page } from "../frame.tsx";

export default function View() {
  return (
    <Page title="Editor">
      <p class="empty">Not here yet</p>
    </Page>
  );
}
