/**
 * A filter of system calls for a process that runs code of others, as a program of the kernel's packet filter
 * (seccomp(2), bpf): what the namespaces leave open, above all new processes, sockets and memory that no limit counts.
 * Refused calls fail with EPERM; `clone3` fails with ENOSYS, so that the C library takes `clone`, whose flags can be read:
 * threads are allowed, processes are not.
 */

interface Architecture {
  /** AUDIT_ARCH_* */
  audit: number;
  clone: number;
  denied: readonly number[];
}

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** io_uring, the newer calls for mounts, and pidfd_getfd have one number on all architectures. */
const COMMON = [...range(425, 433), 438, 442];
const CLONE3 = 435;

const ARCHITECTURES: Readonly<Partial<Record<typeof Deno.build.arch, Architecture>>> = {
  x86_64: {
    audit: 0xc000003e,
    clone: 56,
    // fork, vfork, socket, socketpair stays; ptrace, personality, roots, accounting, mounts, swap, reboot, ports, modules,
    // quotas, kexec, keys, unshare, perf, handles, setns, process_vm, bpf, userfaultfd; shmget, msgget, memfd_create.
    denied: [
      ...[57, 58, 41, 101, 135, 155, 161, 163, 165, 166, 167, 168, 169, 172, 173, 175, 176, 179, 246],
      ...[248, 249, 250, 272, 298, 303, 304, 308, 310, 311, 313, 320, 321, 323, 29, 68, 319],
      ...COMMON,
    ],
  },
  aarch64: {
    audit: 0xc00000b7,
    clone: 220,
    denied: [
      ...[198, 117, 92, 41, 51, 89, 40, 39, 224, 225, 142, 105, 106, 273, 60, 104, 294, 217, 218, 219, 97, 241],
      ...[264, 265, 268, 270, 271, 280, 282, 194, 186, 279],
      ...COMMON,
    ],
  },
};

/** Codes of instructions: load a word, jump if equal, greater or equal, any bit set, return. */
const LOAD = 0x20, EQUAL = 0x15, AT_LEAST = 0x35, ANY_BIT = 0x45, RETURN = 0x06;
/** Offsets in the data of a call: its number, its architecture, the low word of its first argument. */
const NUMBER = 0, ARCHITECTURE = 4, FIRST_ARGUMENT = 16;
const ALLOW = 0x7fff0000, KILL_PROCESS = 0x80000000, NOT_PERMITTED = 0x50001, NO_SUCH_CALL = 0x50026;
/** Numbers of the x32 interface begin here. */
const X32 = 0x40000000;
const CLONE_THREAD = 0x10000;

/**
 * The filter as hexadecimal digits of its instructions, 8 bytes each; empty for an architecture without one.
 * @param arch as in `Deno.build.arch`
 */
export function filterOf(arch: typeof Deno.build.arch = Deno.build.arch): string {
  const known = ARCHITECTURES[arch];
  if (known === undefined) return "";
  const { audit, clone, denied } = known;
  const program: [code: number, ifTrue: number, ifFalse: number, value: number][] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [EQUAL, 1, 0, audit],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, NUMBER],
    ...(arch === "x86_64" ? [[AT_LEAST, 0, 1, X32], [RETURN, 0, 0, NOT_PERMITTED]] as typeof program : []),
    [EQUAL, 0, 1, CLONE3],
    [RETURN, 0, 0, NO_SUCH_CALL],
    [EQUAL, 0, 4, clone],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    [ANY_BIT, 0, 1, CLONE_THREAD],
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, NOT_PERMITTED],
    ...denied.map((number, index): typeof program[number] => [EQUAL, denied.length - index, 0, number]),
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, NOT_PERMITTED],
  ];
  const view = new DataView(new ArrayBuffer(8 * program.length));
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    view.setUint16(8 * index, code, true);
    view.setUint8(8 * index + 2, ifTrue);
    view.setUint8(8 * index + 3, ifFalse);
    view.setUint32(8 * index + 4, value, true);
  });
  return new Uint8Array(view.buffer).toHex();
}
