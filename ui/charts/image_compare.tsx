/** Compares two images: side by side, split, alternating, or by their difference. */
import { valueText } from "../runs/metrics.ts";
import { Select, Toggle, Wait } from "../parts.tsx";
import { useEffect, useRef, useState } from "../preact.ts";
import { useLoaded } from "../state/fetched.ts";
import { imageAddress } from "../state/files.ts";
import { difference, psnr } from "./pixels.ts";
import { readPixels } from "./read_pixels.ts";

interface ImageSide {
  path: string;
  label: string;
}

const MODES = ["side by side", "split", "flicker", "difference"] as const;
type Mode = typeof MODES[number];
const FLICKER_MS = 600;
const SPLIT_STEP = 0.02;

const clamp = (share: number) => Math.min(1, Math.max(0, share));

interface Sides {
  left: ImageSide;
  right: ImageSide;
}

export function ImageCompare({ left, right, ids }: Sides & { ids: string[] }) {
  const [mode, setMode] = useState<Mode>("side by side"), [index, setIndex] = useState(0);
  const { value, ...wait } = useLoaded(
    (signal) => Promise.all([left, right].map(({ path }) => readPixels(imageAddress(path, index), signal))),
    `${left.path} ${right.path} ${index}`,
  );
  const images = value === null ? null : { a: value[0], b: value[1] };
  return (
    <figure class="chart image-compare">
      <div class="row">
        <Toggle label="Form of the comparison" value={mode} options={MODES} onChoose={setMode} />
        {ids.length > 1 && (
          <Select
            label="Image"
            value={String(index)}
            options={ids.map((id, at) => [String(at), id] as const)}
            onChoose={(at) => setIndex(Number(at))}
          />
        )}
      </div>
      {images === null ? <Wait of={wait} what="the images" /> : mode === "side by side"
        ? (
          <div class="pictures">
            <Painted image={images.a} label={`${left.label}, ${ids[index]}`} />
            <Painted image={images.b} label={`${right.label}, ${ids[index]}`} />
          </div>
        )
        : !sameSize(images)
        ? <p class="notice" data-tone="warn">The images differ in size: only side by side is possible.</p>
        : mode === "difference"
        ? <Difference {...images} left={left} right={right} />
        : mode === "flicker"
        ? <Flicker {...images} left={left} right={right} />
        : <Split {...images} left={left} right={right} />}
      {images !== null && (
        <figcaption>
          {ids[index]}: <Quality {...images} left={left} right={right} />
        </figcaption>
      )}
    </figure>
  );
}

interface Pair {
  a: ImageData;
  b: ImageData;
}

const sameSize = ({ a, b }: Pair) => a.width === b.width && a.height === b.height;

function Quality({ a, b, left, right }: Pair & Sides) {
  if (!sameSize({ a, b })) return <>no PSNR of images that differ in size</>;
  const ratio = psnr(a.data, b.data);
  if (ratio === Infinity) return <>the images are equal</>;
  return (
    <>
      PSNR <strong data-psnr={String(ratio)}>{valueText(ratio)} dB</strong> between {left.label} and {right.label}
    </>
  );
}

function Difference({ a, b, left, right }: Pair & Sides) {
  const [gain, setGain] = useState(4);
  return (
    <>
      <label class="row">
        Gain × {gain}
        <input
          type="range"
          min={1}
          max={32}
          value={gain}
          onInput={(event) => setGain(Number(event.currentTarget.value))}
        />
      </label>
      <Painted
        image={new ImageData(difference(a.data, b.data, gain), a.width, a.height)}
        label={`Difference of ${left.label} and ${right.label}, ${gain} times`}
      />
    </>
  );
}

/** Alternates between both images; with reduced motion, by a button or the space bar. */
function Flicker({ a, b, left, right }: Pair & Sides) {
  const [second, setSecond] = useState(false), swap = () => setSecond((shown) => !shown);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  useEffect(() => {
    if (still) return;
    const timer = setInterval(swap, FLICKER_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div
      tabIndex={0}
      role="group"
      aria-label="Images in turns; the space bar changes"
      onKeyDown={(event) => {
        if (event.key !== " ") return;
        event.preventDefault();
        swap();
      }}
    >
      {still && <button type="button" onClick={swap}>Show the other</button>}
      <Painted image={second ? b : a} label={second ? right.label : left.label} />
    </div>
  );
}

function Split({ a, b, left, right }: Pair & Sides) {
  const [split, setSplit] = useState(0.5);
  return (
    <div
      class="split"
      tabIndex={0}
      role="slider"
      aria-label={`Split between ${left.label} and ${right.label}`}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(split * 100)}
      aria-valuetext={`${Math.round(split * 100)} % ${left.label}`}
      onKeyDown={(event) => {
        const next = { ArrowLeft: split - SPLIT_STEP, ArrowRight: split + SPLIT_STEP, Home: 0, End: 1 }[event.key];
        if (next === undefined) return;
        event.preventDefault();
        setSplit(clamp(next));
      }}
      onPointerMove={(event) => {
        if (event.buttons === 0 && event.pointerType !== "touch") return;
        const box = event.currentTarget.getBoundingClientRect();
        setSplit(clamp((event.clientX - box.left) / box.width));
      }}
    >
      <Painted image={joined(a, b, split)} label={`Left ${left.label}, right ${right.label}`} />
    </div>
  );
}

/** The first image left of the split and the second right of it, separated by a line. */
function joined(a: ImageData, b: ImageData, split: number): ImageData {
  const out = new ImageData(new Uint8ClampedArray(b.data), b.width, b.height);
  const cut = Math.round(split * a.width);
  for (let y = 0; y < a.height; y++) {
    const row = y * a.width * 4;
    out.data.set(a.data.subarray(row, row + cut * 4), row);
    if (cut > 0 && cut < a.width) out.data.set([255, 255, 255, 255], row + cut * 4);
  }
  return out;
}

/** An image; a small one is enlarged without smoothing. */
export function Painted({ image, label }: { image: ImageData; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    canvas.current!.getContext("2d")!.putImageData(image, 0, 0);
  }, [image]);
  return (
    <div class="painted">
      <canvas
        ref={canvas}
        width={image.width}
        height={image.height}
        role="img"
        aria-label={label}
        class={image.width < 160 ? "pixelated" : undefined}
      />
      <span class="small muted">{label}</span>
    </div>
  );
}
