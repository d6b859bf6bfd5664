/**
 * Images with detections: boxes of the reference and of the receiver, and masks as a tint.
 * No row of the table of views: four menus, each with an artifact that is read apart.
 */
import { valueText } from "../metrics.ts";
import { isObject, type JsonObject } from "../../../lib/contract/value.ts";
import { numberText } from "../../../lib/figure/number_text.ts";
import { STYLES } from "../../../lib/figure/style.ts";
import { readPixels } from "../../charts/read_pixels.ts";
import { useEffect, useMemo, useRef, useState } from "../../preact.ts";
import type { Artifact } from "../documents.ts";
import { json } from "../fetch_artifact.ts";
import { useLoaded } from "../../state/fetched.ts";
import { imageAddress } from "../../state/files.ts";
import { MOST_VALUES, readBlock } from "../fetch_array.ts";
import { Select, Table, Trouble, Wait } from "../../parts.tsx";
import { IndexChoice, nameOf, ViewPanel } from "./parts.tsx";
import { bestOverlap, detectionsAt, type Found, maskPixels } from "./scene.ts";

export interface Scenes {
  images: Artifact[];
  detections: Artifact[];
  masks: Artifact[];
}

/** Images with their detections and masks. */
export function scenesOf(artifacts: readonly Artifact[]): Scenes | null {
  const of = (kind: string) => artifacts.filter((artifact) => artifact.kind === kind);
  const images = of("image.batch.numpy"), detections = of("vision.detections.json");
  const masks = of("vision.segmentation_mask.numpy").filter(({ shape }) => shape?.length === 3);
  // Several images without detections or masks are shown in the comparison.
  const worth = images.length === 1 || (images.length > 0 && detections.length + masks.length > 0);
  return worth ? { images, detections, masks } : null;
}

const TINTS = STYLES.svc.series.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)))
  .map(([red, green, blue]): [number, number, number] => [red, green, blue]);
const OPACITY = 0.55;

export function SceneView({ images, detections, masks }: Scenes) {
  const [imagePath, setImagePath] = useState(images.at(-1)!.path), [index, setIndex] = useState(0);
  const [reference, setReference] = useState(detections[0]?.path ?? "");
  const [candidate, setCandidate] = useState(detections.length > 1 ? detections.at(-1)!.path : "");
  const [mask, setMask] = useState(detections.length > 1 ? "" : masks.at(-1)?.path ?? "");
  const image = images.find(({ path }) => path === imagePath) ?? images[0];
  const count = image.shape?.length === 4 ? image.shape[0] : 1, at = Math.min(index, count - 1);
  const ids = Array.isArray(image.metadata.image_ids) ? image.metadata.image_ids.map(String) : [];
  const id = ids[at] ?? `image ${at}`;
  const pixels = useLoaded((signal) => readPixels(imageAddress(image.path, at), signal), `${image.path} ${at}`);
  const boxes = useLoaded(async (signal) => {
    const read = async (path: string) => path === "" ? null : await json<JsonObject>(path, signal);
    return await Promise.all([read(reference), read(candidate)]);
  }, `${reference} ${candidate}`);
  const chosen = masks.find(({ path }) => path === mask) ?? null;
  const tint = useLoaded(async (signal) => {
    if (chosen === null || chosen.shape![1] * chosen.shape![2] > MOST_VALUES) return null;
    return await readBlock(chosen, [Math.min(at, chosen.shape![0] - 1)], signal);
  }, `${mask} ${at}`);
  const [expected, found] = useMemo(
    () => (boxes.value ?? [null, null]).map((artifact) => artifact === null ? [] : detectionsAt(artifact, id, at)),
    [boxes.value, id, at],
  );
  const none = ["", "nothing"] as const,
    options = (list: Artifact[]) => list.map((one) => [one.path, nameOf(one)] as const);
  return (
    <ViewPanel
      title={detections.length + masks.length > 0 ? "Detections in images" : "Images"}
      controls={
        <>
          <Select label="Images of" value={image.path} options={options(images)} onChoose={setImagePath} />
          {detections.length > 0 && (
            <>
              <Select
                label="Reference boxes"
                value={reference}
                options={[none, ...options(detections)]}
                onChoose={setReference}
              />
              <Select
                label="Detections"
                value={candidate}
                options={[none, ...options(detections)]}
                onChoose={setCandidate}
              />
            </>
          )}
          {masks.length > 0 && (
            <Select label="Mask" value={mask} options={[none, ...options(masks)]} onChoose={setMask} />
          )}
          <IndexChoice label="Image" count={count} value={at} onChoose={setIndex} />
        </>
      }
    >
      {pixels.value === null ? <Wait of={pixels} what="the image" /> : (
        <div class="scene">
          <Overlay
            image={pixels.value}
            name={[
              id,
              expected.length > 0 ? `with ${expected.length} reference boxes` : "",
              found.length > 0 ? `and ${found.length} detections` : "",
            ].filter(Boolean).join(" ")}
            expected={expected}
            found={found}
            mask={tint.value === null ? null : { values: tint.value.real, sizes: tint.value.sizes }}
          />
          <div class="scene-facts">
            <p>
              <code>{id}</code>
              {reference === "" ? "" : `: ${expected.length} in the reference`}
              {candidate === "" ? "" : `, ${found.length} detected`}
            </p>
            {(candidate !== "" ? found : expected).length > 0 && (
              <BoxTable rows={candidate !== "" ? found : expected} references={candidate !== "" ? expected : null} />
            )}
            {chosen !== null && <MaskLegend mask={chosen} />}
            <Trouble text={boxes.problem} tone="warn" />
          </div>
        </div>
      )}
    </ViewPanel>
  );
}

function BoxTable({ rows, references }: { rows: Found[]; references: Found[] | null }) {
  return (
    <Table
      rows={rows}
      columns={[
        ["Label", ({ label }) => label],
        ["Confidence", ({ confidence }) => numberText(confidence, "unicode", 3), "number mono"],
        references === null
          ? null
          : ["Overlap (IoU)", (row) => numberText(bestOverlap(row, references), "unicode", 3), "number mono"],
        [
          "Box (pixels)",
          ({ box }) => [box.left, box.top, box.right, box.bottom].map((value) => valueText(value)).join(", "),
          "number mono small",
        ],
      ]}
    />
  );
}

/** Names of the classes of a mask beside their tint, where its metadata has them. */
function MaskLegend({ mask: { metadata } }: { mask: Artifact }) {
  const names = [metadata.class_names, metadata.classes, metadata.labels].find(Array.isArray) as unknown[] | undefined;
  if (names === undefined) return null;
  return (
    <ul class="mask-legend">
      {names.map((name, value) =>
        value === 0 ? null : (
          <li key={value} class="chart-sign">
            <svg viewBox="0 0 14 14" width={14} height={14} aria-hidden="true">
              <rect
                width={14}
                height={14}
                fill={STYLES.svc.series[(value - 1) % TINTS.length]}
                fill-opacity={OPACITY}
              />
            </svg>
            {isObject(name as JsonObject) ? String((name as JsonObject).name) : String(name)}
          </li>
        )
      )}
    </ul>
  );
}

interface OverlayProps {
  image: ImageData;
  name: string;
  expected: Found[];
  found: Found[];
  mask: { values: Float64Array; sizes: number[] } | null;
}

function Overlay({ image, name, expected, found, mask }: OverlayProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const { width, height } = image, own = canvas.current!;
    own.width = width;
    own.height = height;
    const context = own.getContext("2d")!;
    context.putImageData(image, 0, 0);
    if (mask === null) return;
    const [rows, columns] = mask.sizes, layer = new OffscreenCanvas(columns, rows);
    const tinted = new ImageData(maskPixels(mask.values, TINTS, OPACITY), columns, rows);
    layer.getContext("2d")!.putImageData(tinted, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(layer, 0, 0, width, height);
  }, [image, mask]);
  const { width, height } = image, line = width / 160;
  const rects = (list: Found[], kind: string) =>
    list.map(({ label, box, confidence }, i) => (
      <g key={`${kind} ${i}`} class={kind}>
        <rect
          class="halo"
          x={box.left}
          y={box.top}
          width={box.right - box.left}
          height={box.bottom - box.top}
          stroke-width={line * 2.4}
        />
        <rect
          x={box.left}
          y={box.top}
          width={box.right - box.left}
          height={box.bottom - box.top}
          stroke-width={line}
          stroke-dasharray={kind === "expected" ? `${line * 3} ${line * 2}` : undefined}
        />
        {kind === "found" && (
          <text x={box.left} y={Math.max(line * 7, box.top - line * 2)} font-size={line * 7} stroke-width={line * 1.6}>
            {label} {valueText(confidence)}
          </text>
        )}
      </g>
    ));
  return (
    <div class="scene-picture">
      <canvas ref={canvas} role="img" aria-label={name} class={width < 256 ? "pixelated" : undefined} />
      <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        {rects(expected, "expected")}
        {rects(found, "found")}
      </svg>
      {expected.length + found.length > 0 && (
        <p class="small muted">
          <span class="legend-line dashed" /> reference <span class="legend-line" /> detected
        </p>
      )}
    </div>
  );
}
