/** The pass of a satellite against closed forms of orbital geometry. */
import assert from "node:assert/strict";
import {
  ANGULAR_SPEED,
  beamPosition,
  centralAngle,
  EARTH_RADIUS,
  HALF_PASS,
  ORBIT_HEIGHT,
  PASS_SECONDS,
  satelliteState,
  secondsToHandover,
  servingBeam,
} from "../../../lib/numeric/channel/leo_pass.ts";

const near = (found: number, expected: number, tolerance = 1e-9) =>
  assert.ok(Math.abs(found - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${found} is not ${expected}`);

Deno.test("the satellite in the zenith is as far as it is high, and does not approach", () => {
  const { slantRange, elevationDeg, doppler } = satelliteState(0, 0);
  near(slantRange, ORBIT_HEIGHT);
  near(elevationDeg, 90, 1e-6);
  assert.ok(Object.is(doppler, 0));
});

Deno.test("on the horizon of a pass through the zenith it comes and goes with the largest Doppler", () => {
  const horizon = centralAngle(0);
  near(horizon, Math.acos(EARTH_RADIUS / (EARTH_RADIUS + ORBIT_HEIGHT)));
  const coming = satelliteState(-horizon, 0), going = satelliteState(horizon, 0);
  near(coming.doppler, 1);
  near(going.doppler, -1);
  near(coming.elevationDeg, 0, 1e-6);
  // Pythagoras on the tangent to the Earth.
  near(coming.slantRange, Math.sqrt(ORBIT_HEIGHT ** 2 + 2 * EARTH_RADIUS * ORBIT_HEIGHT));
  for (let psi = -horizon; psi <= horizon; psi += 0.01) {
    assert.ok(Math.abs(satelliteState(psi, 0).doppler) <= 1 + 1e-12);
  }
});

Deno.test("the visible arc and the time on it are those of 600 km and 10°", () => {
  near(HALF_PASS * 180 / Math.PI, 15.836, 5e-5);
  near(satelliteState(HALF_PASS, 0).elevationDeg, 10);
  // TR 38.811 (6.6-3): d = sqrt(R²·sin²e + h² + 2hR) - R·sin e; TR 38.821 says 1932.24 km for a slightly larger Earth.
  const sine = EARTH_RADIUS * Math.sin(10 * Math.PI / 180), { slantRange } = satelliteState(HALF_PASS, 0);
  near(slantRange, Math.sqrt(sine ** 2 + ORBIT_HEIGHT ** 2 + 2 * ORBIT_HEIGHT * EARTH_RADIUS) - sine);
  near(slantRange / 1000, 1932.24, 1e-3);
  // Once around in 96.5 minutes.
  near(2 * Math.PI / ANGULAR_SPEED / 60, 96.54, 1e-3);
  near(PASS_SECONDS, 2 * 15.836 / 360 * 2 * Math.PI / ANGULAR_SPEED, 1e-4);
});

Deno.test("a pass beside the zenith peaks at its peak elevation", () => {
  for (const peak of [30, 45, 80, 90]) near(satelliteState(0, centralAngle(peak)).elevationDeg, peak, 1e-6);
});

Deno.test("Doppler is the slope of the slant range", () => {
  const chi = centralAngle(40), step = 1e-3;
  for (const psi of [-0.25, -0.1, 0.05, 0.2]) {
    const at = (time: number) => satelliteState(psi + ANGULAR_SPEED * time, chi).slantRange;
    const slope = (at(step) - at(-step)) / (2 * step);
    near(satelliteState(psi, chi).doppler, -slope / (ANGULAR_SPEED * EARTH_RADIUS), 1e-6);
  }
});

Deno.test("beams part the pass evenly, and a handover comes where the next one begins", () => {
  near(beamPosition(-HALF_PASS, 9), -0.5);
  near(beamPosition(0, 9), 4);
  near(beamPosition(HALF_PASS, 9), 8.5);
  assert.deepEqual([-3, -0.5, 0.49, 0.5, 7.5, 8.5, 20].map((b) => servingBeam(b, 9)), [0, 0, 0, 1, 8, 8, 8]);
  near(secondsToHandover(-HALF_PASS, 9), PASS_SECONDS / 9);
  assert.equal(secondsToHandover(HALF_PASS * 0.99, 9), Infinity);
  const psi = -0.11, seconds = secondsToHandover(psi, 9);
  const before = servingBeam(beamPosition(psi + ANGULAR_SPEED * (seconds - 1e-6), 9), 9);
  assert.equal(servingBeam(beamPosition(psi + ANGULAR_SPEED * (seconds + 1e-6), 9), 9), before + 1);
});
