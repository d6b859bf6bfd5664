/**
 * Positions in the plane from ranges to anchors, r_i = |p - a_i| + noise.
 *
 * Subtracting the first squared equation from the others gives a linear system (below). Its least-squares solution is
 * only an initial value: it weights all differences equally and adds the noise of r_0 to all. Gauss-Newton steps on r_i
 * - |p - a_i| reach the maximum of the likelihood.
 *
 *     2(a_i - a_0)·p = |a_i|² - |a_0|² - r_i² + r_0²,   i = 1 … n - 1
 *
 * Blocked lines of sight lengthen ranges and never shorten them. The robust estimate minimises Σ ρ(r_i - |p - a_i|) with
 * ρ(e) = min(e², c²) for e > 0, else e²: a link more than c too long counts as blocked.
 *
 * Shapes: anchors [n, 2] row-major, ranges [n]; metres.
 *
 * Sources: Smith and Abel, "Closed-form least-squares source location estimation from range-difference measurements", IEEE
 * Trans. ASSP 35, 1987; Torrieri, "Statistical theory of passive location systems", IEEE Trans. AES 20, 1984 (bound);
 * Rousseeuw and Leroy, Robust Regression and Outlier Detection, 1987, ch. 5 (starts from the smallest subsets); Guvenc and
 * Chong, "A survey on TOA based wireless localization and NLOS mitigation techniques", IEEE Commun. Surveys Tuts. 11(3), 2009.
 */

export type Point = [x: number, y: number];

/** Sums of a linear system MᵀM p = Mᵀb in two unknowns. */
interface Normal {
  xx: number;
  xy: number;
  yy: number;
  x: number;
  y: number;
}

/** Relative determinant up to which the system is singular: anchors on a line. */
const COLLINEAR = 1e-12;

/**
 * Least squares of the linear system.
 * @returns null for fewer than three anchors, or anchors on one line: the position is then ambiguous
 */
export function linearTrilateration(anchors: Float64Array, ranges: Float64Array): Point | null {
  const normal = linearSystem(anchors, ranges);
  return isSingular(normal) ? null : solved(normal);
}

/**
 * Least squares of the linear system with the penalty `weight`·|p - centroid|² towards the anchors' centroid; one
 * solution for any anchors.
 */
export function regularizedTrilateration(anchors: Float64Array, ranges: Float64Array, weight = 0.1): Point {
  const { xx, xy, yy, x, y } = linearSystem(anchors, ranges), [cx, cy] = centroid(anchors);
  return solved({ xx: xx + weight, xy, yy: yy + weight, x: x + weight * cx, y: y + weight * cy });
}

/**
 * Refinement by Gauss-Newton: at most 20 steps, until one is shorter than 1e-9 m.
 * @param cut ranges that are longer than the distance by this or more, metres, have no weight in a step
 */
export function refinePosition(anchors: Float64Array, ranges: Float64Array, start: Point, cut = Infinity): Point {
  let [x, y] = start;
  for (let step = 0; step < 20; step++) {
    const normal: Normal = { xx: 0, xy: 0, yy: 0, x: 0, y: 0 };
    for (let i = 0; i < ranges.length; i++) {
      const dx = x - anchors[2 * i], dy = y - anchors[2 * i + 1], distance = Math.hypot(dx, dy);
      // At an anchor the range has no gradient, so it is skipped.
      const excess = ranges[i] - distance;
      if (distance > 0 && excess < cut) addRow(normal, dx / distance, dy / distance, excess);
    }
    if (isSingular(normal)) break;
    const [sx, sy] = solved(normal);
    x += sx;
    y += sy;
    if (Math.hypot(sx, sy) < 1e-9) break;
  }
  return [x, y];
}

/**
 * The robust estimate: the least Σ ρ that Gauss-Newton steps reach from the linear solution of every three anchors, and of all.
 * Its cost grows with the cube of the number of anchors.
 * @param cut c, metres
 * @returns null for fewer than three anchors, or anchors on one line
 */
export function robustTrilateration(anchors: Float64Array, ranges: Float64Array, cut: number): Point | null {
  let best = linearTrilateration(anchors, ranges), least = Infinity;
  const count = ranges.length;
  const consider = (start: Point | null) => {
    if (start === null) return;
    const point = refinePosition(anchors, ranges, start, cut);
    let loss = 0;
    for (let i = 0; i < count; i++) {
      const excess = ranges[i] - Math.hypot(point[0] - anchors[2 * i], point[1] - anchors[2 * i + 1]);
      loss += Math.min(excess, cut) ** 2;
    }
    if (loss < least) [best, least] = [point, loss];
  };
  consider(best);
  for (let i = 0; i < count; i++) {
    for (let j = i + 1; j < count; j++) {
      for (let k = j + 1; k < count; k++) {
        const own = Float64Array.from([i, j, k].flatMap((a) => [anchors[2 * a], anchors[2 * a + 1]]));
        consider(linearTrilateration(own, Float64Array.of(ranges[i], ranges[j], ranges[k])));
      }
    }
  }
  return best;
}

/**
 * The Cramér-Rao bound of E|p̂ - p|² for independent normal errors of the ranges, σ²·trace((Σ u_i·u_iᵀ)⁻¹) with u_i the
 * unit vector from anchor i; Infinity if the anchors do not determine the position.
 */
export function rangeCramerRao(anchors: Float64Array, position: Point, sigma: number): number {
  const normal: Normal = { xx: 0, xy: 0, yy: 0, x: 0, y: 0 };
  for (let i = 0; i < anchors.length; i += 2) {
    const dx = position[0] - anchors[i], dy = position[1] - anchors[i + 1], distance = Math.hypot(dx, dy);
    if (distance > 0) addRow(normal, dx / distance, dy / distance, 0);
  }
  if (isSingular(normal)) return Infinity;
  const { xx, xy, yy } = normal;
  return sigma * sigma * (xx + yy) / (xx * yy - xy * xy);
}

/** Anchors on the outline of a square of a given side, from the corner (0, 0) counter-clockwise at equal steps. */
export function perimeterAnchors(count: number, side: number): Float64Array<ArrayBuffer> {
  const anchors = new Float64Array(2 * count);
  for (let i = 0; i < count; i++) {
    const along = 4 * i / count, edge = Math.floor(along), rest = (along - edge) * side;
    const [x, y] = [[rest, 0], [side, rest], [side - rest, side], [0, side - rest]][edge];
    anchors[2 * i] = x;
    anchors[2 * i + 1] = y;
  }
  return anchors;
}

function linearSystem(anchors: Float64Array, ranges: Float64Array): Normal {
  const normal: Normal = { xx: 0, xy: 0, yy: 0, x: 0, y: 0 };
  const x0 = anchors[0], y0 = anchors[1], r0 = ranges[0];
  for (let i = 1; i < ranges.length; i++) {
    const x = anchors[2 * i], y = anchors[2 * i + 1], r = ranges[i];
    addRow(normal, 2 * (x - x0), 2 * (y - y0), x * x + y * y - x0 * x0 - y0 * y0 - r * r + r0 * r0);
  }
  return normal;
}

function addRow(normal: Normal, mx: number, my: number, b: number): void {
  normal.xx += mx * mx;
  normal.xy += mx * my;
  normal.yy += my * my;
  normal.x += mx * b;
  normal.y += my * b;
}

function isSingular({ xx, xy, yy }: Normal): boolean {
  return !(xx * yy - xy * xy > COLLINEAR * (xx + yy) ** 2);
}

function solved({ xx, xy, yy, x, y }: Normal): Point {
  const determinant = xx * yy - xy * xy;
  return [(yy * x - xy * y) / determinant, (xx * y - xy * x) / determinant];
}

function centroid(anchors: Float64Array): Point {
  let x = 0, y = 0;
  for (let i = 0; i < anchors.length; i += 2) {
    x += anchors[i];
    y += anchors[i + 1];
  }
  return [2 * x / anchors.length, 2 * y / anchors.length];
}
