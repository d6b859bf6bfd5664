/** Numbers for /metrics, in the text form that Prometheus reads. */

/** Upper bounds of the buckets of request durations, in seconds. */
const BUCKETS = [0.001, 0.005, 0.02, 0.05, 0.1, 0.5, 1, 5, 30, 60];

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export class Counters {
  readonly #requests = new Map<string, number>();
  readonly #buckets = new Array<number>(BUCKETS.length + 1).fill(0);
  #durationSum = 0;
  readonly #startedAt = performance.now();

  /** Counts a request that was answered. */
  request(method: string, route: string, status: number, seconds: number): void {
    // A client may make up methods; the number of counters is bounded.
    const key = labels({ method: METHODS.has(method) ? method : "other", route, status: String(status) });
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    this.#buckets[bucket < 0 ? BUCKETS.length : bucket]++;
    this.#durationSum += seconds;
  }

  /**
   * The text for `/metrics`.
   * @param gauges name to help text and values by label
   */
  text(gauges: Record<string, { help: string; values: [Record<string, string>, number][] }>): string {
    const lines = [
      "# HELP svc_http_requests_total Requests that were answered",
      "# TYPE svc_http_requests_total counter",
      ...[...this.#requests].sort().map(([key, count]) => `svc_http_requests_total${key} ${count}`),
      "# HELP svc_http_request_duration_seconds How long answers took, streams left out",
      "# TYPE svc_http_request_duration_seconds histogram",
    ];
    let total = 0;
    for (const [index, count] of this.#buckets.entries()) {
      total += count;
      const bound = index < BUCKETS.length ? String(BUCKETS[index]) : "+Inf";
      lines.push(`svc_http_request_duration_seconds_bucket{le="${bound}"} ${total}`);
    }
    lines.push(
      `svc_http_request_duration_seconds_sum ${this.#durationSum}`,
      `svc_http_request_duration_seconds_count ${total}`,
      "# HELP svc_uptime_seconds Seconds since the server started",
      "# TYPE svc_uptime_seconds gauge",
      `svc_uptime_seconds ${(performance.now() - this.#startedAt) / 1000}`,
    );
    for (const [name, { help, values }] of Object.entries(gauges)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`);
      for (const [key, value] of values) lines.push(`${name}${labels(key)} ${value}`);
    }
    return lines.join("\n") + "\n";
  }
}

function labels(values: Record<string, string>): string {
  const parts = Object.entries(values).map(([name, value]) =>
    `${name}="${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`
  );
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}
