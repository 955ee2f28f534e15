/** Finds out whether a level works by running a tape of that level, instead of trusting what the kernel reports. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { namesOf } from "../../system/lookups.ts";
import { type Confinement, isIsolated } from "./confinement.ts";
import { launch, type SetupFailure } from "./launch.ts";
import { makeScratch } from "./layers.ts";
import type { Machine } from "./machine-code.ts";
import type { Label, Tape } from "./tape.ts";
import { enterProgram, writeConfinement } from "./write-tape.ts";

/** The level works, a step of its set-up failed, or something succeeded that must not. */
export type Probed =
  | { readonly verdict: "holds" }
  | { readonly verdict: "failed"; readonly failure: SetupFailure }
  | { readonly verdict: "leaks"; readonly what: string };

export interface ProbeOptions {
  readonly machine: Machine;
  readonly workspaceFd: number;
  /** Returns the command line of a program that starts the tape; null: none. */
  readonly through: ((confinement: Confinement) => readonly string[]) | null;
}

const currentFolder = -100;
const open = { write: 1, create: 0o100, closeOnExec: 0x80000 } as const;
const datagram = { family: 2, type: 2 } as const;
const leaks = new Map([
  [101, "a file outside could be written"],
  [102, "the network could be reached"],
  [103, "pai's own environment could be read"],
]);
const findInterface = 0x8933;

/** Sets a level up and tries to break out of it; takes as long as an empty command. */
export async function probe(confinement: Confinement, options: ProbeOptions): Promise<Probed> {
  // Not in pai's state folder, which is hidden from commands.
  const folder = makeScratch(tmpdir(), "probe");
  const [inside, outside] = [join(folder, "inside"), join(folder, "outside")];
  for (const each of [inside, outside, join(inside, "closed"), join(inside, "fixed"), join(inside, "fixed/kept")]) {
    mkdirSync(each);
  }
  writeFileSync(join(inside, "secret"), "");
  try {
    const tried: Confinement = {
      ...confinement,
      writable: [...confinement.writable, inside],
      hidden: [
        { path: join(inside, "secret"), isFolder: false },
        { path: join(inside, "closed"), isFolder: true },
      ],
      readOnly: [join(inside, "fixed/kept")],
      fixed: [join(inside, "fixed")],
    };
    const isContained = isIsolated(tried.way);
    const program = { folder: isContained ? tried.workspace : null, mergeOutput: true, keepLifeline: !isContained };
    const tape = writeConfinement(options.machine, tried, (made) => {
      enterProgram(made, program);
      addAttempts(made, tried, inside, outside);
    });
    const { child, output, finish } = launch(tape, {
      workspaceFd: options.workspaceFd,
      stdin: "ignore",
      stderr: options.through === null ? "ignore" : "pipe",
      lifeline: false,
      through: options.through?.(tried) ?? [],
    });
    const said = typeof child.stderr === "object" ? new Response(child.stderr).text() : "";
    await child.exited;
    output.close();
    const failure = finish();
    if (failure?.step === "bubblewrap") {
      return { verdict: "failed", failure: { ...failure, said: lastLine(await said) } };
    }
    if (failure !== null) return { verdict: "failed", failure };
    return judge(child.exitCode ?? 0, inside, outside);
  } catch (thrown) {
    const { code = "EIO", step = "start" } = thrown as NodeJS.ErrnoException & { readonly step?: string };
    return { verdict: "failed", failure: { step, errno: code } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function judge(exit: number, inside: string, outside: string): Probed {
  const leak = leaks.get(exit);
  if (leak !== undefined) return { verdict: "leaks", what: leak };
  if (exit !== 0) return { verdict: "failed", failure: { step: "the probe", errno: `${exit}` } };
  if (existsSync(join(outside, "file"))) return { verdict: "leaks", what: leaks.get(101) ?? "" };
  return existsSync(join(inside, "file"))
    ? { verdict: "holds" }
    : { verdict: "failed", failure: { step: "write in the workspace", errno: "ENOENT" } };
}

const maxSaid = 200;

/** The last line of bubblewrap's error output. */
const lastLine = (text: string): string =>
  (text.trim().split("\n").at(-1) ?? "").replace(/^bwrap: /, "").slice(0, maxSaid);

/** An ioctl request for a network interface of the host; null: there is only the loopback. */
function interfaceRequest(): Uint8Array | null {
  const name = namesOf("/sys/class/net").find((each) => each !== "lo" && each.length < 16);
  if (name === undefined) return null;
  const request = Buffer.alloc(40);
  request.write(name);
  return request;
}

function addAttempts(tape: Tape, { network }: Confinement, inside: string, outside: string): void {
  const create = open.write | open.create | open.closeOnExec;
  const exit = (code: number) => tape.call("exit_group", [code]);
  const [wrote, read]: [Label, Label] = [{ record: null }, { record: null }];
  tape.call("openat", [currentFolder, tape.text(join(outside, "file")), create, 0o600], {
    onError: "next",
    onPositive: wrote,
  });
  tape.call("openat", [currentFolder, tape.text(`/proc/${process.pid}/environ`), 0, 0], {
    onError: "next",
    onPositive: read,
  });
  tape.call("openat", [currentFolder, tape.text(join(inside, "file")), create, 0o600], {
    note: "write in the workspace",
  });
  const wire = interfaceRequest();
  if (!network) {
    const safe: Label = { record: null };
    const socket = tape.call("socket", [datagram.family, datagram.type, 0], { onError: safe });
    // Sends nothing: if an interface of the host can be addressed, its network can be reached.
    if (wire === null) exit(0);
    else tape.call("ioctl", [socket, findInterface, tape.bytes(wire)], { onError: safe });
    exit(102);
    tape.mark(safe);
  }
  exit(0);
  tape.mark(wrote);
  exit(101);
  tape.mark(read);
  exit(103);
}
