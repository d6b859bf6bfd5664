import { Page } from "../frame.tsx";

export default function View() {
  return (
    <Page title="Catalog">
      <p class="empty">Not here yet</p>
    </Page>
  );
}
