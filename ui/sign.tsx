/** Signs of states and buttons, drawn: the bundled fonts have none of them. */

/** Outlines in a square of 10 by the sign. */
const OUTLINES: Readonly<Record<string, string>> = {
  "✓": "M.8 5.4 2.1 4.1 3.9 5.9 8.1 1.6 9.4 2.9 3.9 8.5Z",
  "✕": "M1.2 2.4 2.4 1.2 5 3.8 7.6 1.2 8.8 2.4 6.2 5 8.8 7.6 7.6 8.8 5 6.2 2.4 8.8 1.2 7.6 3.8 5Z",
  "■": "M1.5 1.5H8.5V8.5H1.5Z",
  "▶": "M2 1 9 5 2 9Z",
  "▲": "M5 1 9.4 8.8H.6Z",
  "○": "M5 1a4 4 0 1 0 0 8a4 4 0 1 0 0-8Zm0 1.4a2.6 2.6 0 1 1 0 5.2a2.6 2.6 0 1 1 0-5.2Z",
  "◆": "M5 .6 9.4 5 5 9.4 .6 5Z",
};

/** A sign beside text, in its size and colour; a letter stays text. */
export const Sign = ({ of }: { of: string }) =>
  of in OUTLINES
    ? (
      <svg class="sign" data-sign={of} viewBox="0 0 10 10" aria-hidden="true">
        <path d={OUTLINES[of]} fill-rule="evenodd" />
      </svg>
    )
    : <>{of}</>;

interface DrawnSign {
  of: string;
  /** Left edge, baseline and height in units of the drawing. */
  x: number;
  y: number;
  size: number;
}

/** A sign in a drawing. */
export const DrawnSign = ({ of, x, y, size }: DrawnSign) =>
  of in OUTLINES
    ? (
      <path
        class="state"
        data-sign={of}
        d={OUTLINES[of]}
        fill-rule="evenodd"
        transform={`translate(${x} ${y - size}) scale(${size / 10})`}
      />
    )
    : <text class="state" font-size={size} x={x} y={y}>{of}</text>;
