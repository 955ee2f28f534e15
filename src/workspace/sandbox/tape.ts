/** A program that only makes system calls, one after another: written here, performed by the interpreter. */

import { type CallName, numberOf } from "./call-numbers.ts";
import { dataAddress, writeElf } from "./elf.ts";
import type { Machine } from "./machine-code.ts";

/** Bytes in the data of the tape. */
export interface Place {
  readonly offset: number;
}

/** What a call will answer; may be an argument of one later call. */
export interface Result {
  readonly record: number;
}

/** A record to go on with, set by `mark`. */
export interface Label {
  record: number | null;
}

type Argument = number | bigint | Place | Result;

export interface CallOptions {
  /** What messages call it; the name of the call when it is left out. */
  readonly note?: string;
  /** After an error: go on there, or with the next record. Left out: give up, nothing is run. */
  readonly onError?: Label | "next";
  /** After a result above zero: go on there. */
  readonly onPositive?: Label;
  /** Where in the data the result is stored too. */
  readonly storeAt?: number;
}

export interface Tape {
  readonly machine: Machine;
  bytes(content: Uint8Array): Place;
  /** Ends in a zero byte. Throws for a text that holds one. */
  text(text: string): Place;
  /** Words of eight bytes. */
  words(...values: readonly (number | bigint)[]): Place;
  /** Addresses of these places, then a zero. */
  list(places: readonly Place[]): Place;
  /** Stores the address of a place `offset` bytes into a block. */
  pointAt(block: Place, offset: number, to: Place): void;
  call(name: CallName, args: readonly Argument[], options?: CallOptions): Result;
  /** Waits for a process, collects all others that end, and ends as it ended: its status, or 128 + its signal. */
  collect(process: Result): void;
  mark(label: Label): void;
  /** The program file. */
  assemble(): Uint8Array;
  /** The note of the record at an address, as the interpreter reports one that failed. */
  noteAt(address: bigint): string;
}

interface Record {
  readonly number: number;
  readonly args: readonly Argument[];
  readonly options: CallOptions;
  readonly note: string;
}

const recordBytes = 80;
const storeOffset = 56;
const argumentOffset = (n: number) => 8 + 8 * n;

const isResult = (value: Argument): value is Result => typeof value === "object" && "record" in value;

/** The data of a tape: what records point at. */
function createData() {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    get size() {
      return size;
    },
    add(content: Uint8Array): Place {
      const padded = Buffer.alloc((content.length + 7) & ~7);
      padded.set(content);
      chunks.push(padded);
      size += padded.length;
      return { offset: size - padded.length };
    },
    whole: () => Buffer.concat(chunks),
  };
}

export function createTape(machine: Machine): Tape {
  const records: Record[] = [];
  const data = createData();
  const pointers: { readonly at: number; readonly to: Place }[] = [];
  const tape: Tape = {
    machine,
    bytes: data.add,
    text(text) {
      if (text.includes("\0")) throw new Error("a text of a tape holds a zero byte");
      return data.add(Buffer.from(`${text}\0`));
    },
    words(...values) {
      const bytes = Buffer.alloc(8 * values.length);
      for (const [n, value] of values.entries()) bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 8 * n);
      return data.add(bytes);
    },
    list(places) {
      const block = data.add(Buffer.alloc(8 * (places.length + 1)));
      for (const [n, to] of places.entries()) tape.pointAt(block, 8 * n, to);
      return block;
    },
    pointAt(block, offset, to) {
      pointers.push({ at: block.offset + offset, to });
    },
    call(name, args, options = {}) {
      records.push({ number: numberOf(name, machine), args, options, note: options.note ?? name });
      return { record: records.length - 1 };
    },
    collect(process) {
      records.push({ number: -1, args: [process], options: {}, note: "wait" });
    },
    mark(label) {
      label.record = records.length;
    },
    assemble() {
      const dataStart = records.length * recordBytes;
      const image = Buffer.alloc(dataStart + data.size);
      image.set(data.whole(), dataStart);
      const addressOf = ({ offset }: Place) => BigInt(dataAddress + dataStart + offset);
      for (const { at, to } of pointers) image.writeBigUInt64LE(addressOf(to), dataStart + at);
      writeRecords(image, records, addressOf);
      return writeElf(machine, image);
    },
    noteAt: (address) => records[(Number(address) - dataAddress) / recordBytes]?.note ?? "an unknown step",
  };
  return tape;
}

function writeRecords(image: Buffer, records: readonly Record[], addressOf: (place: Place) => bigint): void {
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
    for (const [k, value] of args.entries()) {
      image.writeBigUInt64LE(BigInt.asUintN(64, wordOf(value)), at + argumentOffset(k));
    }
    const stored = options.storeAt === undefined ? users.get(n) : addressOf({ offset: options.storeAt });
    image.writeBigUInt64LE(BigInt(stored ?? 0), at + storeOffset);
    image.writeBigUInt64LE(labelOf(options.onError, n), at + storeOffset + 8);
    image.writeBigUInt64LE(labelOf(options.onPositive, n), at + storeOffset + 16);
  }
}

/** By record: the address of the argument that its result becomes. */
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
