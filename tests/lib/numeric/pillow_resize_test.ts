import assert from "node:assert/strict";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { type Resampling, resizeLikePillow } from "../../../lib/numeric/image/pillow_resize.ts";

/** A picture of a formula, so that nothing but the results needs storing. */
function picture(width: number, height: number) {
  const data = new Uint8Array(width * height * 3);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < 3; c++) data[at++] = ((x * x * 7 + y * 13 * (c + 1) + x * y * 3) >> 1) % 256;
    }
  }
  return { width, height, channels: 3, data };
}

/** Filter, source and target size, SHA-256 of the samples and the first pixel: Pillow 9.4.0, Image.resize. */
const PILLOW: [Resampling, [number, number], [number, number], string, number[]][] = [
  ["bicubic", [37, 29], [16, 12], "f051efd0a53da569d364f1987f2412690521fe2013033ed20c15d626c959eaae", [7, 13, 17]],
  ["bicubic", [20, 14], [33, 50], "4969ea98d720541ce1f86c15615a5a000b9b6e9ab63eff65c240eade1f911e02", [0, 0, 0]],
  ["bicubic", [40, 40], [40, 9], "f8775c9dc747c7084c033d4289e49b40ead65765485d8c0098c796b77b2cd1a3", [12, 24, 35]],
  ["bicubic", [100, 64], [7, 5], "733fce3dc1675e147885f0adff43509343b7a69a31f8687060cade93e2382cd7", [116, 123, 126]],
  ["bilinear", [37, 29], [16, 12], "97a9f94eda87e05a86fdfd23d57b030e70199c73537d71186f1ad679b4c8ebbf", [11, 18, 24]],
  ["bilinear", [20, 14], [33, 50], "5aa53153eb33ba3e1c8d9688aa02988dc57d3af8d555a469771f604e70b8e2ca", [0, 0, 0]],
  ["bilinear", [40, 40], [40, 9], "8eb0553ce1c11fd96db4fdaf74d4c17281c2b32ce54233ab01aa91b305ecf585", [14, 28, 42]],
  ["bilinear", [100, 64], [7, 5], "a663f0d9ef660dbd77b8c7437d92b8e57707cf63fa5cfefa25d1c0834a024e90", [118, 124, 127]],
  ["lanczos", [37, 29], [16, 12], "5386d477a58baaf5fffa4a95e88e5df3c228ed392a1538263e2a62c1e04b3156", [7, 12, 17]],
  ["lanczos", [20, 14], [33, 50], "f9c925a28aaa364e9e73faae4e8a12cc86ec909c3dc2b37592a0f695700dcf4a", [0, 0, 0]],
  ["lanczos", [40, 40], [40, 9], "d2055f78a2bfb083e62793fa0e92460bc11619d81fbaf39b258c039f01e06f38", [11, 23, 33]],
  ["lanczos", [100, 64], [7, 5], "91aa891cb6d4e99574cc9710257736d06b7f5454ee6c51fe310522ab11049a9e", [115, 123, 125]],
  ["nearest", [37, 29], [16, 12], "6a9c4f62547d5a3ea3cdd502fc7692b058da0359f97c03f78c46fdae00715a41", [11, 18, 24]],
  ["nearest", [20, 14], [33, 50], "f775cd20eb63191b4e29f545c1cc873dbd4903c98d706ffa9734c238f2c41bab", [0, 0, 0]],
  ["nearest", [40, 40], [40, 9], "00d29ee681bd396d13ab9ae22aab7696102c8508d1791d87097bb449d3e27dd8", [13, 26, 39]],
  ["nearest", [100, 64], [7, 5], "285d87e967438cecb8217ad78eca34a609802545bdaa3756c31e1406b5e7cf4b", [17, 56, 95]],
];

for (const [filter, [width, height], [toWidth, toHeight], sha256, first] of PILLOW) {
  Deno.test(`${filter}, ${width} x ${height} to ${toWidth} x ${toHeight}: the samples of Pillow`, () => {
    const resized = resizeLikePillow(picture(width, height), toWidth, toHeight, filter);
    assert.deepEqual([...resized.data.subarray(0, 3)], first);
    assert.equal(sha256Hex(resized.data), sha256);
  });
}
