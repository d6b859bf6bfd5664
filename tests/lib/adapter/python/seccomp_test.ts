/** The filter of system calls, run by an interpreter of its instructions: what is allowed, refused and fatal. */
import assert from "node:assert/strict";
import { filterOf } from "../../../../lib/adapter/python/seccomp.ts";

interface Call {
  number: number;
  audit: number;
  argument?: number;
}

const ALLOW = 0x7fff0000, NOT_PERMITTED = 0x50001, NO_SUCH_CALL = 0x50026, KILL = 0x80000000;
const X86 = 0xc000003e, ARM = 0xc00000b7;

/** The action of a filter for a call, as the kernel computes it. */
function actionOf(program: string, { number, audit, argument = 0 }: Call): number {
  const view = new DataView(Uint8Array.fromHex(program).buffer);
  const data = new Map([[0, number], [4, audit], [16, argument]]);
  let accumulator = 0;
  for (let at = 0; at < view.byteLength / 8; at++) {
    const code = view.getUint16(8 * at, true), value = view.getUint32(8 * at + 4, true);
    const jump = (condition: boolean) => at += view.getUint8(8 * at + (condition ? 2 : 3));
    if (code === 0x20) accumulator = data.get(value)!;
    else if (code === 0x06) return value;
    else if (code === 0x15) jump(accumulator === value);
    else if (code === 0x35) jump(accumulator >= value);
    else if (code === 0x45) jump((accumulator & value) !== 0);
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the program has no end");
}

Deno.test("the filter refuses processes, sockets and hidden memory, and lets a computation go on", () => {
  const x86 = (number: number, argument = 0) => actionOf(filterOf("x86_64"), { number, audit: X86, argument });
  const arm = (number: number, argument = 0) => actionOf(filterOf("aarch64"), { number, audit: ARM, argument });
  // read, write, mmap, futex, exit_group; openat, getrandom.
  for (const number of [0, 1, 9, 202, 231, 257, 318]) assert.equal(x86(number), ALLOW, String(number));
  for (const number of [63, 64, 222, 98, 94, 56, 278]) assert.equal(arm(number), ALLOW, String(number));
  // fork, vfork, socket, ptrace, mount, unshare, bpf, io_uring_setup, memfd_create, shmget.
  for (const number of [57, 58, 41, 101, 165, 272, 321, 425, 319, 29]) assert.equal(x86(number), NOT_PERMITTED);
  for (const number of [198, 117, 40, 97, 280, 425, 279, 194]) assert.equal(arm(number), NOT_PERMITTED);
  const thread = 0x3d0f00, child = 0x1200011;
  assert.deepEqual([x86(56, thread), x86(56, child)], [ALLOW, NOT_PERMITTED]);
  assert.deepEqual([arm(220, thread), arm(220, child)], [ALLOW, NOT_PERMITTED]);
  assert.deepEqual([x86(435), arm(435)], [NO_SUCH_CALL, NO_SUCH_CALL]);
  // Numbers of other interfaces of the processor.
  assert.equal(x86(0x40000000 + 57), NOT_PERMITTED);
  assert.equal(actionOf(filterOf("x86_64"), { number: 2, audit: 0x40000003 }), KILL);
  assert.equal(actionOf(filterOf("aarch64"), { number: 2, audit: X86 }), KILL);
});
