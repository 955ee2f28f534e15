/** The seccomp filter: system calls that a command may not make, whatever its rights. */
import { type Machine, numberOf } from "./tape.ts";

/** AUDIT_ARCH. A call of another architecture (int 0x80 with 32 bits) kills the process. */
const architectures = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const x32Calls = 0x40000000;

type Numbers = readonly [x64: number | null, arm64: number | null];

/** EPERM. What needs a capability that no command has (mounts, modules, reboot) the kernel refuses. */
const refused: Readonly<Record<string, Numbers>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  perf_event_open: [298, 241],
  unshare: [272, 97],
  setns: [308, 268],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  syslog: [103, 116],
  modify_ldt: [154, null],
  fanotify_init: [300, 262],
  mbind: [237, 235],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  set_mempolicy: [238, 237],
};

/** ENOSYS, so that programs use older calls: the filter cannot check what these would do. */
const unknown: Readonly<Record<string, Numbers>> = {
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  clone3: [435, 435],
  openat2: [437, 437],
};

/** F_SETLEASE: with a lease other programs would have to wait when they open the file. */
const setLease = 1024;
const renameat2 = { x64: 316, arm64: 276 } as const;
/** RENAME_WHITEOUT creates a device node, which only overlay layers should hold. */
const renameWhiteout = 4;
const truncate = { x64: 76, arm64: 45 } as const;
/** Calls that open files: positions of flags and mode. */
const opening: readonly (readonly [numbers: Numbers, flags: number, mode: number])[] = [
  [[257, 56], 2, 3],
  [[2, null], 1, 2],
];
/** O_TRUNC; the access modes for writing; O_CREAT and O_TMPFILE, without which the mode argument is unused. */
const openFlags = { truncate: 0o1000, write: 3, create: 0o20000100 } as const;
/** Position of the mode in chmod, fchmod, fchmodat, fchmodat2, creat, mknod, mknodat. */
const giving: readonly (readonly [numbers: Numbers, mode: number])[] = [
  [[90, null], 1],
  [[91, 52], 1],
  [[268, 53], 2],
  [[452, 452], 2],
  [[85, null], 1],
  [[133, null], 1],
  [[259, 33], 2],
];
/** S_ISUID, S_ISGID: whoever runs such a file later, outside, would get the rights of its owner. */
const takesIdentity = 0o6000;
/** All CLONE_NEW flags in the low word. */
const namespaceFlags = 0x7e020000;
/** TIOCSTI types on the user's terminal; TIOCLINUX and TIOCSETD control it. */
const refusedRequests = [0x5412, 0x541c, 0x5423] as const;

export const unixFamily = 1;

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. Never VSOCK, ALG and PACKET: no namespace confines them. */
export const socketFamilies = [unixFamily, 2, 10, 16] as const;

const EPERM = 1;
const EINVAL = 22;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const allow = 0x7fff0000;
const kill = 0x80000000;
const fail = (errno: number) => 0x00050000 | errno;

const load = 0x20;
const jumpEqual = 0x15;
const jumpAtLeast = 0x35;
const jumpAnyBit = 0x45;
const answer = 0x06;
const numberAt = 0;
const architectureAt = 4;
const argumentAt = (n: number) => 16 + 8 * n;

/** `held`, `not`: instructions to skip. */
type Instruction = readonly [operation: number, held: number, not: number, operand: number];

interface FilterOptions {
  readonly families: readonly number[];
  /** It sees only its own processes; otherwise it may not change limits of others, such as pai. */
  readonly isAlone: boolean;
  /** Blocks truncating files that may not be written: Landlock does so since version 3. */
  readonly keepsLength: boolean;
}

/** Classic BPF, eight bytes an instruction. */
export function writeFilter(machine: Machine, { families, isAlone, keepsLength }: FilterOptions): Uint8Array {
  const of = ([x64, arm64]: Numbers) => (machine === "x64" ? x64 : arm64);
  const answerAll = (table: Readonly<Record<string, Numbers>>, with_: number): readonly Instruction[] =>
    Object.values(table).flatMap((numbers) => {
      const number = of(numbers);
      return number === null ? [] : [when(number, 1), [answer, 0, 0, with_] as const];
    });
  return encode([
    [load, 0, 0, architectureAt],
    [jumpEqual, 1, 0, architectures[machine]],
    [answer, 0, 0, kill],
    [load, 0, 0, numberAt],
    ...(machine === "x64" ? refuseX32 : []),
    // The most frequent calls come first.
    ...opening.flatMap(([numbers, flags, mode]) => {
      const number = of(numbers);
      return number === null ? [] : block(number, judgeOpening(flags, mode, keepsLength));
    }),
    ...answerAll(refused, fail(EPERM)),
    ...answerAll(unknown, fail(ENOSYS)),
    ...block(numberOf("clone", machine), [
      [load, 0, 0, argumentAt(0)],
      [jumpAnyBit, 0, 1, namespaceFlags],
      [answer, 0, 0, fail(EPERM)],
      [answer, 0, 0, allow],
    ]),
    ...(keepsLength ? ([when(truncate[machine], 1), [answer, 0, 0, fail(EPERM)]] as const) : []),
    ...giving.flatMap(([numbers, mode]) => {
      const number = of(numbers);
      return number === null ? [] : block(number, [...refuseIdentity(mode), [answer, 0, 0, allow]]);
    }),
    ...(isAlone ? [] : block(numberOf("prlimit64", machine), choose(0, [0], allow, fail(EPERM)))),
    ...block(renameat2[machine], [
      [load, 0, 0, argumentAt(4)],
      [jumpAnyBit, 0, 1, renameWhiteout],
      [answer, 0, 0, fail(EINVAL)],
      [answer, 0, 0, allow],
    ]),
    ...block(numberOf("fcntl", machine), choose(1, [setLease], fail(EPERM), allow)),
    ...block(numberOf("ioctl", machine), choose(1, refusedRequests, fail(EPERM), allow)),
    ...block(numberOf("socket", machine), choose(0, families, allow, fail(EAFNOSUPPORT))),
    [answer, 0, 0, allow],
  ]);
}

const refuseX32: readonly Instruction[] = [
  [jumpAtLeast, 0, 1, x32Calls],
  [answer, 0, 0, kill],
];

/** Landlock judges opening for writing; this refuses O_TRUNC without it. */
const judgeOpening = (flags: number, mode: number, keepsLength: boolean): readonly Instruction[] => {
  const given = refuseIdentity(mode);
  return [
    [load, 0, 0, argumentAt(flags)],
    [jumpAnyBit, 0, given.length, openFlags.create],
    ...given,
    [load, 0, 0, argumentAt(flags)],
    ...(keepsLength ? refuseEmptying : []),
    [answer, 0, 0, allow],
  ];
};

const refuseEmptying: readonly Instruction[] = [
  [jumpAnyBit, 0, 2, openFlags.truncate],
  [jumpAnyBit, 1, 0, openFlags.write],
  [answer, 0, 0, fail(EPERM)],
];

/** Continues after itself if the mode has neither S_ISUID nor S_ISGID. */
const refuseIdentity = (mode: number): readonly Instruction[] => [
  [load, 0, 0, argumentAt(mode)],
  [jumpAnyBit, 0, 1, takesIdentity],
  [answer, 0, 0, fail(EPERM)],
];

const when = (number: number, length: number): Instruction => [jumpEqual, 0, length, number];

const block = (number: number, body: readonly Instruction[]): readonly Instruction[] => [
  when(number, body.length),
  ...body,
];

/** By the low word of an argument. */
function choose(argument: number, values: readonly number[], listed: number, other: number): readonly Instruction[] {
  return [
    [load, 0, 0, argumentAt(argument)],
    ...values.map((value, n): Instruction => [jumpEqual, values.length - n, 0, value]),
    [answer, 0, 0, other],
    [answer, 0, 0, listed],
  ];
}

function encode(instructions: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(8 * instructions.length);
  for (const [n, [operation, held, not, operand]] of instructions.entries()) {
    bytes.writeUInt16LE(operation, 8 * n);
    bytes.writeUInt8(held, 8 * n + 2);
    bytes.writeUInt8(not, 8 * n + 3);
    bytes.writeUInt32LE(operand >>> 0, 8 * n + 4);
  }
  return bytes;
}
