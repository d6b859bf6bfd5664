/** Two pictures of one scene: side by side, split, by turns, or their difference. */
import { useEffect, useRef, useState } from "../preact.ts";
import { imageAddress } from "../runs/fetch_artifact.ts";
import { difference, psnr } from "./pixels.ts";
import { readPixels } from "./read_pixels.ts";

export interface ImageSide {
  path: string;
  label: string;
}

const MODES = ["side by side", "split", "flicker", "difference"] as const;
type Mode = typeof MODES[number];
const FLICKER_MS = 600;
const SPLIT_STEP = 0.02;

export function ImageCompare({ left, right, ids }: { left: ImageSide; right: ImageSide; ids: string[] }) {
  const [mode, setMode] = useState<Mode>("side by side"), [index, setIndex] = useState(0);
  const [gain, setGain] = useState(4), [split, setSplit] = useState(0.5), [second, setSecond] = useState(false);
  const a = usePixels(left.path, index), b = usePixels(right.path, index);
  const problem = a.problem ?? b.problem;
  const fits = a.image !== null && b.image !== null && a.image.width === b.image.width &&
    a.image.height === b.image.height;
  const ratio = fits ? psnr(a.image!.data, b.image!.data) : null;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  useEffect(() => {
    if (mode !== "flicker" || still) return;
    const timer = setInterval(() => setSecond((shown) => !shown), FLICKER_MS);
    return () => clearInterval(timer);
  }, [mode]);
  const onKey = (event: KeyboardEvent) => {
    if (mode === "split") {
      const next = {
        ArrowLeft: split - SPLIT_STEP,
        ArrowRight: split + SPLIT_STEP,
        Home: 0,
        End: 1,
      }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      setSplit(Math.min(1, Math.max(0, next)));
    } else if (mode === "flicker" && event.key === " ") {
      event.preventDefault();
      setSecond(!second);
    }
  };
  return (
    <figure class="chart image-compare">
      <div class="row">
        <div class="row" role="group" aria-label="How to compare">
          {MODES.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={mode === name}
              onClick={() => setMode(name)}
            >
              {name}
            </button>
          ))}
        </div>
        {ids.length > 1 && (
          <label class="row">
            Picture
            <select value={String(index)} onChange={(event) => setIndex(Number(event.currentTarget.value))}>
              {ids.map((id, at) => <option key={id} value={String(at)}>{id}</option>)}
            </select>
          </label>
        )}
        {mode === "difference" && (
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
        )}
        {mode === "flicker" && still && (
          <button type="button" onClick={() => setSecond(!second)}>
            Show the other
          </button>
        )}
      </div>
      {problem !== null
        ? <p class="notice" data-tone="warn">{problem}</p>
        : a.image === null || b.image === null
        ? <p class="muted" aria-busy="true">Reading the pictures</p>
        : mode === "side by side"
        ? (
          <div class="pictures">
            <Painted image={a.image} label={`${left.label}, ${ids[index]}`} />
            <Painted image={b.image} label={`${right.label}, ${ids[index]}`} />
          </div>
        )
        : !fits
        ? <p class="notice" data-tone="warn">The pictures differ in size: they can only be seen side by side.</p>
        : mode === "difference"
        ? (
          <Painted
            image={new ImageData(difference(a.image.data, b.image.data, gain), a.image.width, a.image.height)}
            label={`Difference of ${left.label} and ${right.label}, ${gain} times`}
          />
        )
        : mode === "flicker"
        ? (
          <div tabIndex={0} role="group" aria-label="Pictures by turns; the space bar changes" onKeyDown={onKey}>
            <Painted image={second ? b.image : a.image} label={second ? right.label : left.label} />
          </div>
        )
        : (
          <div
            class="split"
            tabIndex={0}
            role="slider"
            aria-label={`Split between ${left.label} and ${right.label}`}
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={Math.round(split * 100)}
            aria-valuetext={`${Math.round(split * 100)} % ${left.label}`}
            onKeyDown={onKey}
            onPointerMove={(event) => {
              if (event.buttons === 0 && event.pointerType !== "touch") return;
              const box = event.currentTarget.getBoundingClientRect();
              setSplit(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)));
            }}
          >
            <Painted image={joined(a.image, b.image, split)} label={`Left ${left.label}, right ${right.label}`} />
          </div>
        )}
      <figcaption>
        {ids[index]}: {ratio === null
          ? "no measure of pictures that differ in size"
          : ratio === Infinity
          ? "the pictures are equal"
          : (
            <>
              PSNR <strong data-psnr={String(ratio)}>{ratio.toFixed(2)} dB</strong> between {left.label} and{" "}
              {right.label}
            </>
          )}
      </figcaption>
    </figure>
  );
}

/** The first picture left of the split, the second right of it, and a line between. */
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

/** Pixels, enlarged without smoothing where they are few. */
function Painted({ image, label }: { image: ImageData; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    canvas.current!.width = image.width;
    canvas.current!.height = image.height;
    canvas.current!.getContext("2d")!.putImageData(image, 0, 0);
  }, [image]);
  return (
    <div class="painted">
      <canvas ref={canvas} role="img" aria-label={label} class={image.width < 160 ? "pixelated" : undefined} />
      <span class="small muted">{label}</span>
    </div>
  );
}

function usePixels(path: string, index: number): { image: ImageData | null; problem: string | null } {
  const key = `${path} ${index}`;
  const [state, setState] = useState<{ key: string; image: ImageData | null; problem: string | null }>({
    key,
    image: null,
    problem: null,
  });
  useEffect(() => {
    const stop = new AbortController();
    readPixels(imageAddress(path, index), stop.signal).then(
      (image) => !stop.signal.aborted && setState({ key, image, problem: null }),
      (error) => !stop.signal.aborted && setState({ key, image: null, problem: (error as Error).message }),
    );
    return () => stop.abort();
  }, [key]);
  return state.key === key ? state : { image: null, problem: null };
}
