/** The runtimes of learned codecs beside the sandbox: one contract for all, and a reason where one cannot run. */
import assert from "node:assert/strict";
import runtimes from "../../../ops/codeclib/codeclib_runtimes.ts";
import { acceleratorLack } from "../../../lib/onnx/accelerator.ts";

const ROLES = ["encode", "decode", "entropy_encode", "entropy_decode"];
const find = (id: string) => runtimes.find((operation) => operation.id === `model.codeclib_${id}`)!;
const [ONNX, CPP, OPENVINO, AOTI] = ["onnx", "onnx_cpp", "openvino", "aoti"]
  .map((runtime) => ROLES.map((role) => find(`${runtime}_${role}`)));

Deno.test("every runtime has the ports and metadata of the sandbox", () => {
  for (const runtime of [CPP, OPENVINO]) {
    runtime.forEach(({ contract }, role) => {
      const { contract: wanted } = ONNX[role];
      for (const key of ["input_kinds", "output_kinds", "input_metadata_requirements"] as const) {
        assert.deepEqual(contract[key], wanted[key], contract.id);
      }
    });
  }
  AOTI.forEach(({ contract }, role) => assert.deepEqual(contract.output_kinds, ONNX[role].contract.output_kinds));
});

Deno.test("networks on OpenVINO and compiled ones are listed as planned, with the reason, and refuse to run", () => {
  for (const { definition, contract } of [...OPENVINO, ...AOTI, find("export_aoti")]) {
    for (const { status, notes } of contract.materializations) {
      assert.equal(status, "planned");
      assert.match(String(notes), /^(The package openvino-node contains no runtime|A compiled bundle is machine code)/);
    }
    // A context is never read.
    assert.throws(() => definition.run({} as never), { code: "materialization_unavailable" });
  }
});

Deno.test("the native runtime is a requirement of its operations alone, and only its own library is loaded", () => {
  for (const { definition, contract } of CPP) {
    assert.deepEqual(definition.requires?.({} as never), [{ kind: "runtime", id: "onnxruntime-node" }]);
    assert.equal(definition.params.safeParse({ library_path: "/lib/other.so" }).success, false, contract.id);
    assert.ok(contract.materializations.every(({ status }) => status === "implemented"));
  }
  for (const { definition } of ONNX) assert.equal(definition.requires, undefined);
  const lack = acceleratorLack();
  if (lack !== null) assert.match(lack.reason, /not on this machine|may not be loaded/);
});
