/** A tape: a program that only makes system calls in turn. It is written here and executed by the interpreter. */

import { readdirSync } from "node:fs";
import { closesRanges } from "./memory-file.ts";

/** Machines that have a tape interpreter, as in `process.arch`. */
export type Machine = "x64" | "arm64";

/** Assembled from interpreter-x64.S and interpreter-arm64.S beside this file. */
const code = {
  x64: [
    "41bc00000010498b0424498b7c24084885c07877498b742410498b5424184d8b5424204d8b4424284d8b4c24300f0549",
    "8b5c24384885db7403488903483d01f0ffff73154885c0740a498b5c24484885db75104983c450ebad498b5c24404885",
    "db74054989dceb9e504154ba100000004889e6bf03000000b8010000000f05bf7d000000b8e70000000f0589fb5048c7",
    "c7ffffffff4889e631d24531d2b83d0000000f054883f8f674d539d875e08b04240fb6fc83e07f74cb8db880000000eb",
    "c3",
  ],
  arm64: [
    "1300a2d2680240a96803f8b7610a41a9631242a9652643a9010000d4490000b4200100f96a2e44a91ffc3fb1a2000054",
    "400000b4ab0000b573420191f2ffff178a0000b4eb030aaaf3030baaeeffff17f303bfa9600080d2e1030091020280d2",
    "080880d2010000d4a00f80d2c80b80d2010000d4f403002aff4300d100008092e1030091020080d2030080d2882080d2",
    "010000d41f2800b180feff541f00146be1feff54e90340b9203d085329190072e0fdff5420010211edffff17",
  ],
} as const;

export const interpreterOf = (machine: Machine): Uint8Array => Buffer.from(code[machine].join(""), "hex");

export const runsTapes = (): boolean => process.arch in code;

export interface TapePlace {
  readonly offset: number;
}

/** May be an argument of one later call. */
export interface TapeResult {
  readonly record: number;
}

/** A jump target, set by `mark`. */
export interface Label {
  record: number | null;
}

type Argument = number | bigint | TapePlace | TapeResult;

export interface CallOptions {
  /** In messages; left out: the name of the call. */
  readonly note?: string;
  /** Left out: stop, without running the program. */
  readonly onError?: Label | "next";
  readonly onPositive?: Label;
  /** In the data, for the result. */
  readonly storeAt?: number;
}

export type Tape = ReturnType<typeof createTape>;

interface Record {
  readonly number: number;
  readonly args: readonly Argument[];
  readonly options: CallOptions;
  readonly note: string;
}

const recordBytes = 80;
const storeOffset = 56;
const argumentOffset = (n: number) => 8 + 8 * n;

const isResult = (value: Argument): value is TapeResult => typeof value === "object" && "record" in value;

export function createTape(machine = process.arch as Machine) {
  const records: Record[] = [];
  const chunks: Buffer[] = [];
  let size = 0;
  const bytes = (content: Uint8Array): TapePlace => {
    const padded = Buffer.alloc((content.length + 7) & ~7);
    padded.set(content);
    chunks.push(padded);
    size += padded.length;
    return { offset: size - padded.length };
  };
  const pointers: { readonly at: number; readonly to: TapePlace }[] = [];
  const pointAt = (block: TapePlace, offset: number, to: TapePlace): void => {
    pointers.push({ at: block.offset + offset, to });
  };
  return {
    machine,
    bytes,
    /** With a final zero byte. Throws if the text contains one. */
    text(text: string): TapePlace {
      if (text.includes("\0")) throw new Error("a text of a tape holds a zero byte");
      return bytes(Buffer.from(`${text}\0`));
    },
    /** Of eight bytes. */
    words(...values: readonly (number | bigint)[]): TapePlace {
      const all = Buffer.alloc(8 * values.length);
      for (const [n, value] of values.entries()) all.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 8 * n);
      return bytes(all);
    },
    /** Addresses, with a final zero. */
    list(places: readonly TapePlace[]): TapePlace {
      const block = bytes(Buffer.alloc(8 * (places.length + 1)));
      for (const [n, to] of places.entries()) pointAt(block, 8 * n, to);
      return block;
    },
    pointAt,
    call(name: CallName, args: readonly Argument[], options: CallOptions = {}): TapeResult {
      records.push({ number: numberOf(name, machine), args, options, note: options.note ?? name });
      return { record: records.length - 1 };
    },
    /** Waits for a process, reaps all others, and exits like it: with its status, or 128 + its signal. */
    collect(process: TapeResult): void {
      records.push({ number: -1, args: [process], options: {}, note: "wait" });
    },
    mark(label: Label): void {
      label.record = records.length;
    },
    assemble(): Uint8Array {
      const dataStart = records.length * recordBytes;
      const image = Buffer.alloc(dataStart + size);
      image.set(Buffer.concat(chunks), dataStart);
      const addressOf = ({ offset }: TapePlace) => BigInt(dataAddress + dataStart + offset);
      for (const { at, to } of pointers) image.writeBigUInt64LE(addressOf(to), dataStart + at);
      writeRecords(image, records, addressOf);
      return writeElf(machine, image);
    },
    noteAt: (address: bigint): string =>
      records[(Number(address) - dataAddress) / recordBytes]?.note ?? "an unknown step",
  };
}

function writeRecords(image: Buffer, records: readonly Record[], addressOf: (place: TapePlace) => bigint): void {
  const wordOf = (value: Argument): bigint => {
    if (typeof value !== "object") return BigInt(value);
    return isResult(value) ? 0n : addressOf(value);
  };
  const labelOf = (label: Label | "next" | undefined, n: number): bigint => {
    if (label === undefined) return 0n;
    const record = label === "next" ? n + 1 : label.record;
    if (record === null) throw new Error("a label of a tape was never set");
    return BigInt(dataAddress + record * recordBytes);
  };
  const users = findUsers(records);
  for (const [n, { number, args, options }] of records.entries()) {
    const at = n * recordBytes;
    image.writeBigInt64LE(BigInt(number), at);
    for (const [k, value] of args.entries())
      image.writeBigUInt64LE(BigInt.asUintN(64, wordOf(value)), at + argumentOffset(k));
    const stored = options.storeAt === undefined ? users.get(n) : addressOf({ offset: options.storeAt });
    image.writeBigUInt64LE(BigInt(stored ?? 0), at + storeOffset);
    image.writeBigUInt64LE(labelOf(options.onError, n), at + storeOffset + 8);
    image.writeBigUInt64LE(labelOf(options.onPositive, n), at + storeOffset + 16);
  }
}

/** The address of the argument that receives a record's result. */
function findUsers(records: readonly Record[]): ReadonlyMap<number, number> {
  const users = new Map<number, number>();
  for (const [n, { args, note }] of records.entries()) {
    for (const [k, value] of args.entries()) {
      if (!isResult(value)) continue;
      if (users.has(value.record)) throw new Error(`${note}: a result is used twice`);
      users.set(value.record, dataAddress + n * recordBytes + argumentOffset(k));
    }
  }
  return users;
}

const numbers = {
  write: [1, 64],
  close: [3, 57],
  rt_sigprocmask: [14, 135],
  ioctl: [16, 29],
  socket: [41, 198],
  clone: [56, 220],
  execve: [59, 221],
  kill: [62, 129],
  fcntl: [72, 25],
  fchdir: [81, 50],
  chdir: [80, 49],
  capset: [126, 91],
  prctl: [157, 167],
  mount: [165, 40],
  sethostname: [170, 161],
  exit_group: [231, 94],
  openat: [257, 56],
  mkdirat: [258, 34],
  mknodat: [259, 33],
  symlinkat: [266, 36],
  unshare: [272, 97],
  dup3: [292, 24],
  prlimit64: [302, 261],
  seccomp: [317, 277],
  open_tree: [428, 428],
  move_mount: [429, 429],
  close_range: [436, 436],
  mount_setattr: [442, 442],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
} as const;

type CallName = keyof typeof numbers;

export const numberOf = (name: CallName, machine: Machine): number => numbers[name][machine === "x64" ? 0 : 1];

/** Relative paths of a call begin at the folder that the tape is in. */
export const currentFolder = -100;
export const openFlags = { write: 1, create: 0o100, closeOnExec: 0x80000 } as const;
/** Of IPv4. */
export const datagram = { family: 2, type: 2 } as const;

export function writeText(tape: Tape, path: string, text: string, options: CallOptions): void {
  const file = tape.call("openat", [currentFolder, tape.text(path), openFlags.write, 0], options);
  tape.call("write", [file, tape.bytes(Buffer.from(text)), text.length], options);
}

const last = 0xffffffff;
/** For descriptors that the tape, or what starts it, opens in between. */
const margin = 64;

export function closeFrom(tape: Tape, first: number, note: string): void {
  if (closesRanges()) return void tape.call("close_range", [first, last, 0], { note });
  // A child can have inherited only descriptors that are open in this process; errors for the others are ignored.
  const highest = highestOpen() + margin;
  for (let each = first; each <= highest; each += 1) tape.call("close", [each], { onError: "next", note });
}

/** Throws where they cannot be listed, since none may stay open unnoticed. */
const highestOpen = (): number => Math.max(...readdirSync("/proc/self/fd").map(Number));

const textAddress = 0x400000;
/** Address of the data in the running program; the interpreter has it built in. */
const dataAddress = 0x10000000;

const headerBytes = 64;
const segmentBytes = 56;
const pageBytes = 4096;
const segments = { load: 1, stack: 0x6474e551 } as const;
const access = { execute: 1, write: 2, read: 4 } as const;
const machines = { x64: 62, arm64: 183 } as const;

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

/** `data` is loaded at `dataAddress`. No part is writable and executable at once. */
function writeElf(machine: Machine, data: Uint8Array): Uint8Array {
  const code = interpreterOf(machine);
  const start = headerBytes + 3 * segmentBytes;
  const parts: readonly Segment[] = [
    {
      type: segments.load,
      flags: access.read | access.execute,
      offset: 0,
      address: textAddress,
      size: start + code.length,
    },
    {
      type: segments.load,
      flags: access.read | access.write,
      offset: pageBytes,
      address: dataAddress,
      size: data.length,
    },
    { type: segments.stack, flags: access.read | access.write, offset: 0, address: 0, size: 0 },
  ];
  const file = Buffer.alloc(pageBytes + data.length);
  file.write("\x7fELF\x02\x01\x01", 0, "latin1");
  file.writeUInt16LE(2, 16);
  file.writeUInt16LE(machines[machine], 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BigInt(textAddress + start), 24);
  file.writeBigUInt64LE(BigInt(headerBytes), 32);
  file.writeUInt16LE(headerBytes, 52);
  file.writeUInt16LE(segmentBytes, 54);
  file.writeUInt16LE(parts.length, 56);
  for (const [n, part] of parts.entries()) writeSegment(file, headerBytes + n * segmentBytes, part);
  file.set(code, start);
  file.set(data, pageBytes);
  return file;
}

function writeSegment(file: Buffer, at: number, { type, flags, offset, address, size }: Segment): void {
  file.writeUInt32LE(type, at);
  file.writeUInt32LE(flags, at + 4);
  const words = [offset, address, address, size, size, type === segments.load ? pageBytes : 16];
  for (const [n, word] of words.entries()) file.writeBigUInt64LE(BigInt(word), at + 8 + 8 * n);
}
