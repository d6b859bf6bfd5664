/**
 * Age of information: the time since the generation of the newest update that has arrived. It grows with slope 1 and falls, at
 * an arrival, to the delay of that update; the peak age is its value just before a fall.
 *
 * Sources: Kaul, Yates, Gruteser, "Real-time status: how often should one update?", INFOCOM 2012; Costa, Codreanu, Ephremides,
 * "On the age of information in status update systems with packet management", IEEE Trans. Inf. Theory 62(4), 2016.
 */

export interface Age {
  average: number;
  peak: number;
}

/**
 * Age of updates at times 0, T, 2T …, each of which arrives after `delay` or is lost, between the first and the last arrival:
 * with distances X between arrivals, average delay + ΣX² / 2ΣX and peak delay + mean X. Undefined with fewer than two arrivals.
 */
export function ageOfArrivals(
  arrived: readonly boolean[],
  { period, delay }: { period: number; delay: number },
): Age | undefined {
  const times = arrived.flatMap((ok, index) => ok ? [index * period] : []);
  if (times.length < 2) return undefined;
  const gaps = times.slice(1).map((time, index) => time - times[index]);
  const sum = gaps.reduce((total, gap) => total + gap, 0), squares = gaps.reduce((total, gap) => total + gap ** 2, 0);
  return { average: delay + squares / (2 * sum), peak: delay + sum / gaps.length };
}

/** Age of the same updates when each arrives by itself with probability p: delay + T (1/p - 1/2), peak delay + T/p. */
export function ageOfIndependentLosses(probability: number, { period, delay }: { period: number; delay: number }): Age {
  return { average: delay + period * (1 / probability - 0.5), peak: delay + period / probability };
}

/** A service time: its mean, its mean square, and its Laplace transform E exp(-sX). */
export interface ServiceTime {
  mean: number;
  meanSquare: number;
  transform(s: number): number;
}

/** Attempts of a fixed duration until one succeeds with probability p: an M/D/1 queue for p = 1. */
export function repeatedAttempts(duration: number, probability: number): ServiceTime {
  return {
    mean: duration / probability,
    meanSquare: duration ** 2 * (2 - probability) / probability ** 2,
    transform(s) {
      const factor = Math.exp(-s * duration);
      return probability * factor / (1 - (1 - probability) * factor);
    },
  };
}

/**
 * Age of updates at Poisson times that wait in a queue, first come, first served (M/G/1). With W = E[X] + λE[X²] / 2(1 - ρ) the
 * time in the system, the average is W + (1 - ρ) / (λ E exp(-λX)) and the peak W + 1/λ; infinite from ρ = λE[X] = 1 on.
 * For exponential service it is 1/μ (1 + 1/ρ + ρ² / (1 - ρ)) (Kaul et al., equation 17).
 * Source: Inoue, Masuyama, Takine, Tanaka, "A general formula for the stationary distribution of the age of information and
 * its application to single-server queues", IEEE Trans. Inf. Theory 65(12), 2019.
 */
export function ageInQueue(rate: number, service: ServiceTime): Age {
  const load = rate * service.mean;
  if (load >= 1) return { average: Infinity, peak: Infinity };
  const system = service.mean + rate * service.meanSquare / (2 * (1 - load));
  return { average: system + (1 - load) / (rate * service.transform(rate)), peak: system + 1 / rate };
}
