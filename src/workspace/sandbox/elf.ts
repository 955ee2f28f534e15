/** Writes a static ELF program: the interpreter, followed by its data. */
import { interpreterOf, type Machine } from "./machine-code.ts";

const textAddress = 0x400000;
/** Address of the data in the running program; the interpreter has it built in. */
export const dataAddress = 0x10000000;

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
export function writeElf(machine: Machine, data: Uint8Array): Uint8Array {
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
