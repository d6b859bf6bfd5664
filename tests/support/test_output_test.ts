import assert from "node:assert/strict";
import { TestOutput } from "./test_output.ts";

Deno.test("a test that runs for more than a minute is followed to its end, however its output is cut", () => {
  const text = `running 3 tests from ./a_test.ts
\x1b[0mquick ... \x1b[0m\x1b[32mok\x1b[0m (1ms)
slow ...'slow' has been running for over (1m0s)
 FAILED (1m3s)
with steps ...
  a step ... ok (0ms)
  a slow step ...'with steps' has been running for over (1m0s)
 ok (1m2s)
  another step ... FAILED (0ms)
`;
  for (const size of [1, 7, 1000]) {
    const output = new TestOutput();
    for (let at = 0; at < text.length; at += size) output.push(text.slice(at, at + size));
    assert.deepEqual(output.seen, { passed: 1, failed: 1, ignored: 0 });
    assert.deepEqual(output.failedTests, ["slow"]);
    assert.equal(output.running, "with steps");
    assert.ok(!output.complete);
    output.push("with steps ... ok (2ms)\n\nFAILED | 2 passed (1 step) | 1 failed | 4 ignored (1m4s)\n");
    assert.ok(output.complete);
    assert.deepEqual(output.closing, { passed: 2, failed: 1, ignored: 4 });
    assert.match(output.failureText, /^slow \.\.\.'slow' has been running[^]*FAILED \(1m3s\)/);
  }
});
