/** Tapes: the interpreter is what its listing says, and does what a tape asks on both machines. */
import { expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTape, interpreterOf, type Label, type Machine, type Tape } from "../../../src/workspace/sandbox/tape.ts";
import { newFolder } from "../../grounds.ts";
import { needs } from "../../needs.ts";

const listings = join(import.meta.dir, "../../../src/workspace/sandbox");
const prefixes = {
  x64: process.arch === "x64" ? "" : "x86_64-linux-gnu-",
  arm64: process.arch === "arm64" ? "" : "aarch64-linux-gnu-",
};
const emulators = { x64: ["qemu-x86_64-static", "qemu-x86_64"], arm64: ["qemu-aarch64-static", "qemu-aarch64"] };

/** How to start a program of this machine; null: it cannot be started here. */
function startFor(machine: Machine): readonly string[] | null {
  if (machine === process.arch) return [];
  const found = emulators[machine].flatMap((name) => Bun.which(name) ?? []);
  return found.length === 0 ? null : found.slice(0, 1);
}

function play(machine: Machine, fill: (tape: Tape) => void) {
  const tape = createTape(machine);
  fill(tape);
  const folder = newFolder("disk", "tape");
  const file = join(folder, "tape");
  writeFileSync(file, tape.assemble());
  chmodSync(file, 0o755);
  const command = [...(startFor(machine) ?? []), file];
  const done = Bun.spawnSync(["/bin/sh", "-c", 'exec "$@" 3>"$0"', join(folder, "report"), ...command]);
  const report = readFileSync(join(folder, "report"));
  return {
    exit: done.exitCode,
    said: done.stdout.toString(),
    failed: report.length === 16 ? [tape.noteAt(report.readBigUInt64LE(0)), report.readBigInt64LE(8)] : null,
  };
}

const say = (tape: Tape, text: string) => tape.call("write", [1, tape.bytes(Buffer.from(text)), text.length]);

for (const machine of ["x64", "arm64"] as const) {
  const assembler = `${prefixes[machine]}as`;
  needs(assembler).test(`${machine}: the machine code is what its listing assembles to`, () => {
    const folder = newFolder("disk", "tape");
    const [object, code] = [join(folder, "o"), join(folder, "code")];
    const made = [
      [assembler, "-o", object, join(listings, `interpreter-${machine}.S`)],
      [`${prefixes[machine]}objcopy`, "-O", "binary", "-j", ".text", object, code],
    ].map((command) => Bun.spawnSync(command).exitCode);
    expect(made).toEqual([0, 0]);
    expect(readFileSync(code).toString("hex")).toBe(Buffer.from(interpreterOf(machine)).toString("hex"));
  });

  const onMachine = needs({ name: `qemu for ${machine}`, isHere: startFor(machine) !== null }).test;

  onMachine(`${machine}: calls are made in order, and the last one ends the tape`, () => {
    const done = play(machine, (tape) => {
      say(tape, "one ");
      say(tape, "two");
      tape.call("exit_group", [7]);
    });
    expect(done).toEqual({ exit: 7, said: "one two", failed: null });
  });

  onMachine(`${machine}: a call that fails ends everything, and is named`, () => {
    const done = play(machine, (tape) => {
      tape.call("openat", [-100, tape.text("/no/such/file"), 0, 0], { note: "open it" });
      say(tape, "never");
    });
    expect(done).toEqual({ exit: 125, said: "", failed: ["open it", -2n] });
  });

  onMachine(`${machine}: after an error it goes on where it was told to`, () => {
    const done = play(machine, (tape) => {
      const after: Label = { record: null };
      tape.call("openat", [-100, tape.text("/no/such/file"), 0, 0], { onError: after });
      say(tape, "skipped");
      tape.mark(after);
      tape.call("openat", [-100, tape.text("/no/such/file"), 0, 0], { onError: "next" });
      say(tape, "went on");
      tape.call("exit_group", [0]);
    });
    expect(done).toEqual({ exit: 0, said: "went on", failed: null });
  });

  onMachine(`${machine}: a result becomes the argument of a later call`, () => {
    const done = play(machine, (tape) => {
      const file = tape.call("openat", [-100, tape.text("/dev/null"), 1, 0]);
      tape.call("dup3", [1, 9, 0]);
      tape.call("dup3", [file, 1, 0]);
      say(tape, "into nothing");
      tape.call("write", [9, tape.bytes(Buffer.from("seen")), 4]);
      tape.call("exit_group", [0]);
    });
    expect(done.said).toBe("seen");
  });

  onMachine(`${machine}: a parent waits for its child and ends as it ended`, () => {
    for (const [end, exit] of [
      [(tape: Tape) => tape.call("exit_group", [42]), 42],
      [(tape: Tape) => tape.call("kill", [0, 0]), 125],
    ] as const) {
      const done = play(machine, (tape) => {
        const parent: Label = { record: null };
        const child = tape.call("clone", [17, 0, 0, 0, 0], { onPositive: parent });
        say(tape, "child");
        end(tape);
        tape.call("openat", [-100, tape.text("/no/such/file"), 0, 0]);
        tape.mark(parent);
        tape.collect(child);
      });
      expect([done.exit, done.said]).toEqual([exit, "child"]);
    }
  });
}

test("a result that two calls want, a label without a place and a text with a zero byte are refused", () => {
  const twice = createTape("x64");
  const fd = twice.call("openat", [-100, twice.text("/"), 0, 0]);
  twice.call("close", [fd]);
  twice.call("close", [fd]);
  expect(() => twice.assemble()).toThrow("used twice");
  const lost = createTape("x64");
  lost.call("close", [3], { onError: { record: null } });
  expect(() => lost.assemble()).toThrow("never set");
  expect(() => createTape("x64").text("a\0b")).toThrow("zero byte");
});
