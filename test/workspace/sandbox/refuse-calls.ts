/** Runs a program for which system calls fail, as on other machines: `refuse-calls.ts '[{"call":444,"errno":38}]' PROGRAM…`. */
import { ptr } from "bun:ffi";
import { openLibc } from "../../../src/system/libc.ts";

/** A call that fails; with `flags` only where its third argument is that. */
export interface Refused {
  readonly call: number;
  readonly errno: number;
  readonly flags?: number;
}

/** Instructions of a filter. */
const code = { load: 0x20, skipUnless: 0x15, answer: 0x06 } as const;
const answers = { allow: 0x7fff0000, fail: 0x50000 } as const;
/** Where a filter finds the number of a call and its third argument. */
const offsets = { number: 0, third: 32 } as const;
const noNewPrivileges = 38;
const seccomp = process.arch === "x64" ? 317 : 277;
const setFilter = 1;
const forAllThreads = 1;

function writeFilter(all: readonly Refused[]): Buffer {
  const step = (operation: number, skipped: number, value: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt16LE(operation);
    bytes[3] = skipped;
    bytes.writeUInt32LE(value, 4);
    return bytes;
  };
  const refuse = ({ call, errno, flags }: Refused) => {
    const fail = [step(code.answer, 0, answers.fail | errno)];
    const rest =
      flags === undefined ? fail : [step(code.load, 0, offsets.third), step(code.skipUnless, 1, flags), ...fail];
    return [step(code.load, 0, offsets.number), step(code.skipUnless, rest.length, call), ...rest];
  };
  return Buffer.concat([...all.flatMap(refuse), step(code.answer, 0, answers.allow)]);
}

function install(filter: Buffer): void {
  const libc = openLibc({
    prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
    syscall: { args: ["i64", "u64", "u64", "buffer"], returns: "i64" },
  });
  const program = Buffer.alloc(16);
  program.writeUInt16LE(filter.length / 8);
  program.writeBigUInt64LE(BigInt(ptr(filter)), 8);
  libc?.functions.prctl(noNewPrivileges, 1, 0, 0, 0);
  if (libc?.functions.syscall(seccomp, setFilter, forAllThreads, program) !== 0n) throw new Error("no filter was set");
}

if (import.meta.main) {
  const [refused = "[]", ...program] = process.argv.slice(2);
  install(writeFilter(JSON.parse(refused)));
  process.exit(Bun.spawnSync(program, { stdio: ["ignore", "inherit", "inherit"] }).exitCode);
}
