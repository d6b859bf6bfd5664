/** Names of error-rate metrics under a label. */

/**
 * The rate is `channel.<label>`. Counts share the label's stem, the label without its final `ber` or `bler`: `ber` gives
 * `channel.error_count`, `payload.ber` gives `channel.payload.error_count`. A label without that ending is itself the
 * stem: `link` gives `channel.link.error_count`.
 */
export function errorRateNames(label: string, ending: "ber" | "bler", events: string, trials: string) {
  const stem = label.endsWith(ending) ? label.slice(0, -ending.length) : `${label}.`;
  return { rate: `channel.${label}`, events: `channel.${stem}${events}`, trials: `channel.${stem}${trials}` };
}

/** A report's metrics: the rate is left out when nothing was compared. */
export function errorRateMetrics(names: ReturnType<typeof errorRateNames>, events: number, trials: number) {
  return {
    ...(trials === 0 ? {} : { [names.rate]: events / trials }),
    [names.events]: BigInt(events),
    [names.trials]: BigInt(trials),
  };
}
