/** The figure that says most about a run: sent above received images, a confusion matrix, or the received symbols. */
import { Constellation } from "../charts/density.tsx";
import { Painted } from "../charts/image_compare.tsx";
import { readPixels } from "../charts/read_pixels.ts";
import { useLoaded } from "../state/fetched.ts";
import { imageAddress } from "../state/files.ts";
import { type Artifact, artifactsOf, type RunSummary } from "./documents.ts";
import { nameOf, sourceOf } from "./views/parts.tsx";

/** Images of a strip. */
const MOST_IMAGES = 4;

export default function ResultFigure({ summary }: { summary: RunSummary }) {
  const artifacts = artifactsOf(summary), images = artifacts.filter(({ kind }) => kind === "image.batch.numpy");
  if (images.length > 1) return <Strip sent={images[0]} received={images.at(-1)!} />;
  const symbols = artifacts.filter(({ dtype, kind }) => dtype?.startsWith("complex") && /symbols/.test(kind));
  const shown = symbols.find(({ kind }) => kind.includes("rx_symbols")) ?? symbols.at(-1);
  if (shown === undefined) return null;
  return (
    <Constellation
      path={shown.path}
      array={shown.array}
      title={`Symbols of ${nameOf(shown)}`}
      source={sourceOf(summary, shown)}
    />
  );
}

/** The first images of a run, sent above received. */
function Strip({ sent, received }: { sent: Artifact; received: Artifact }) {
  const ids = Array.isArray(sent.metadata.image_ids) ? sent.metadata.image_ids.map(String) : [];
  const count = Math.min(MOST_IMAGES, ids.length || (sent.shape?.length === 4 ? sent.shape[0] : 1));
  const { value } = useLoaded(
    (signal) =>
      Promise.all(
        Array.from({ length: count }, (_, at) =>
          Promise.all([sent, received].map(({ path }) => readPixels(imageAddress(path, at), signal)))),
      ),
    `${sent.path} ${received.path}`,
  );
  if (value === null) return <p class="muted" aria-busy="true">Reading the images</p>;
  return (
    <div class="strip">
      {value.map(([a, b], at) => (
        <div key={at}>
          <Painted image={a} label={`${ids[at] ?? `image ${at}`}, sent`} />
          <Painted image={b} label={`${ids[at] ?? `image ${at}`}, received`} />
        </div>
      ))}
    </div>
  );
}
