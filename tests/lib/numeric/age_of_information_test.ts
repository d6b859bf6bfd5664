import assert from "node:assert/strict";
import {
  ageInQueue,
  ageOfArrivals,
  ageOfIndependentLosses,
  repeatedAttempts,
  type ServiceTime,
} from "../../../lib/numeric/link/age_of_information.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

const near = (actual: number, expected: number, tolerance = 1e-12) =>
  assert.ok(Math.abs(actual - expected) <= tolerance * expected, `${actual} is not ${expected}`);

Deno.test("the age of a sequence is the area under its sawtooth", () => {
  // Arrivals at 0, 2 and 3 with delay 0.5: from 0.5 to 2.5 the age grows from 0.5 to 2.5, from 2.5 to 3.5 from 0.5 to 1.5.
  const age = ageOfArrivals([true, false, true, true], { period: 1, delay: 0.5 })!;
  near(age.average, (3 + 1) / 3);
  near(age.peak, 2);
  assert.equal(ageOfArrivals([false, true, false], { period: 1, delay: 0.5 }), undefined);
});

Deno.test("independent losses have the age of geometric gaps", () => {
  const draws = Generator.seeded(7).random(200_000), arrived = Array.from(draws, (value) => value < 0.3);
  const times = { period: 2, delay: 1 };
  const measured = ageOfArrivals(arrived, times)!, closed = ageOfIndependentLosses(0.3, times);
  near(measured.average, closed.average, 0.02);
  near(measured.peak, closed.peak, 0.02);
  near(closed.average, 1 + 2 * (1 / 0.3 - 0.5));
});

Deno.test("exponential service gives the M/M/1 age of Kaul, Yates and Gruteser, whose optimum is near a load of 0.53", () => {
  const exponential: ServiceTime = { mean: 1, meanSquare: 2, transform: (s) => 1 / (1 + s) };
  const average = (load: number) => ageInQueue(load, exponential).average;
  for (const load of [0.2, 0.53, 0.9]) near(average(load), 1 + 1 / load + load ** 2 / (1 - load));
  assert.ok(average(0.53) < average(0.5) && average(0.53) < average(0.56));
  // Peak of M/M/1: 1/λ + 1/(μ - λ) (Costa et al.).
  near(ageInQueue(0.5, exponential).peak, 2 + 2);
  assert.equal(ageInQueue(1, exponential).average, Infinity);
});

Deno.test("repeated attempts in a queue have the age of a simulated queue", () => {
  const rate = 0.3, duration = 1, success = 0.6, count = 400_000;
  const draws = Generator.seeded(11).random(count), attempts = Generator.seeded(12).random(8 * count);
  let arrival = 0, free = 0, last = 0, area = 0, peaks = 0, used = 0, previous = 0;
  for (const draw of draws) {
    arrival += -Math.log(1 - draw) / rate;
    let tries = 1;
    while (attempts[used++] >= success) tries++;
    const done = Math.max(arrival, free) + tries * duration;
    // Between two departures the age grows from that of the older update to the peak.
    const [from, to] = [last - previous, done - previous];
    area += (to ** 2 - from ** 2) / 2, peaks += to;
    free = done, last = done, previous = arrival;
  }
  const { average, peak } = ageInQueue(rate, repeatedAttempts(duration, success));
  near(area / last, average, 0.01);
  near(peaks / count, peak, 0.01);
});
