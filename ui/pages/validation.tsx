/** Validation: cards with their verdicts, and one card with its figure and its points. */
import { place } from "../router.ts";
import { CardPage } from "./validation/card.tsx";
import { CardList } from "./validation/list.tsx";

export default function Validation() {
  const { path: [id] } = place.value;
  return id === undefined ? <CardList /> : <CardPage key={id} id={id} />;
}
