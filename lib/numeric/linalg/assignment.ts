/**
 * Optimal assignment of rows to columns: each row of the smaller side gets a column of its own, and the sum of the costs is the
 * least possible. Shortest augmenting paths with dual variables, O(n²m).
 *
 * Source: Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics Quarterly 2, 1955.
 */

/**
 * @param cost row-major, rows × columns, finite
 * @returns the column of each row, -1 for the rows that are left when there are more rows than columns
 * @throws RangeError when the length is not rows · columns
 */
export function assign(cost: ArrayLike<number>, rows: number, columns: number): Int32Array {
  if (cost.length !== rows * columns) {
    throw new RangeError(`Cannot assign ${rows} rows to ${columns} columns with ${cost.length} costs`);
  }
  if (rows <= columns) return assignRows((row, column) => cost[row * columns + column], rows, columns);
  const result = new Int32Array(rows).fill(-1);
  assignRows((column, row) => cost[row * columns + column], columns, rows).forEach((row, column) =>
    result[row] = column
  );
  return result;
}

/** At most as many rows as columns. */
function assignRows(costAt: (row: number, column: number) => number, rows: number, columns: number): Int32Array {
  const NONE = -1;
  const rowPrice = new Float64Array(rows), columnPrice = new Float64Array(columns);
  /** The row of a column. */
  const owner = new Int32Array(columns).fill(NONE);
  for (let start = 0; start < rows; start++) {
    const distance = new Float64Array(columns).fill(Infinity), before = new Int32Array(columns).fill(NONE);
    const done = new Uint8Array(columns);
    let row = start, at = NONE;
    // A shortest path over reduced costs from the new row to a free column.
    do {
      let next = NONE;
      for (let column = 0; column < columns; column++) {
        if (done[column]) continue;
        const reached = at === NONE ? 0 : distance[at];
        const reduced = reached + costAt(row, column) - rowPrice[row] - columnPrice[column];
        if (reduced < distance[column]) {
          distance[column] = reduced;
          before[column] = at;
        }
        if (next === NONE || distance[column] < distance[next]) next = column;
      }
      at = next;
      done[at] = 1;
      row = owner[at];
    } while (row !== NONE);
    const length = distance[at];
    rowPrice[start] += length;
    for (let column = 0; column < columns; column++) {
      if (!done[column] || column === at) continue;
      rowPrice[owner[column]] += length - distance[column];
      columnPrice[column] -= length - distance[column];
    }
    // Every column of the path passes to the row before it.
    for (; at !== NONE; at = before[at]) owner[at] = before[at] === NONE ? start : owner[before[at]];
  }
  const result = new Int32Array(rows).fill(NONE);
  owner.forEach((row, column) => row !== NONE && (result[row] = column));
  return result;
}
