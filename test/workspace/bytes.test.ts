/** From the action to the disk and back: nothing outside the passage changes, and undo restores every byte, mode and time. */
import { expect, test } from "bun:test";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { modify } from "../../src/actions/change.ts";
import type { Stage, View } from "../../src/core/ports.ts";
import type { Complaint, Proposal } from "../../src/core/proposal.ts";
import { openBare } from "./bare.ts";
import { makePlace, treeOf } from "./tree.ts";

async function open() {
  const made = makePlace();
  const opened = await openBare(made.work, made.state);
  return { ...made, ...opened };
}

/** What else stands in the folder and must not notice anything. */
function surround(work: string): void {
  mkdirSync(join(work, "empty"), { mode: 0o750 });
  mkdirSync(join(work, "other"));
  writeFileSync(join(work, "other/file"), "x\r\ny");
  chmodSync(join(work, "other/file"), 0o604);
  symlinkSync("other/file", join(work, "link"));
  symlinkSync("/nowhere", join(work, "dangling"));
  for (const path of ["other/file", "empty"]) utimesSync(join(work, path), 1_000_000, 1_234_567.891);
}

/** The tree with the times of all that no action names. */
const whole = (work: string) => [
  treeOf(work),
  ["other/file", "empty", "link", "dangling"].map((path) => lstatSync(join(work, path)).mtimeMs),
  readdirSync(work).sort(),
];

const staged = (view: View, shown: Uint8Array | null): Stage => ({
  ...view,
  room: 1e6,
  asksBy: "script",
  shown: () => shown,
});

const encodings = {
  utf8: (text: string) => Buffer.from(text, "utf8"),
  "utf8 with mark": (text: string) => Buffer.from(`\ufeff${text}`, "utf8"),
  latin1: (text: string) => Buffer.from(text, "latin1"),
  utf16le: (text: string) => Buffer.from(`\ufeff${text}`, "utf16le"),
} as const;
const encoding = fc.constantFrom(...(Object.keys(encodings) as (keyof typeof encodings)[]));
const ending = fc.constantFrom("\n", "\r\n", "mixed");
const line = fc
  .array(fc.constantFrom("a", "b", " ", "\t", "=", "<", "é", "ß", "\u00a0", "(", "}", "-"), { maxLength: 12 })
  .map((parts) => parts.join(""));
const mode = fc.constantFrom(0o644, 0o600, 0o755, 0o664, 0o4711);

interface Text {
  readonly lines: readonly string[];
  readonly ends: readonly string[];
}

/** Numbered lines, so that each stands there once; the last one may lack its end. */
const text: fc.Arbitrary<Text> = fc
  .tuple(fc.array(fc.tuple(line, fc.boolean()), { minLength: 1, maxLength: 30 }), ending, fc.boolean())
  .map(([parts, end, closed]) => ({
    lines: parts.map(([content], index) => `${index}:${content}`),
    ends: parts.map(([, lf], index) => {
      if (index === parts.length - 1 && !closed) return "";
      return end === "mixed" ? (lf ? "\n" : "\r\n") : end;
    }),
  }));
const join2 = ({ lines, ends }: Text) => lines.map((content, index) => content + (ends[index] ?? "")).join("");
const never = new AbortController().signal;
const changesOf = (proposal: Proposal | Complaint) => (proposal.kind === "change" ? proposal.changes : null);

test("MODIFY changes its passage and not a byte more, and undo brings back all", async () => {
  const { work, workspace, history } = await open();
  surround(work);
  let number = 0;
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(text, encoding, mode, fc.nat(), fc.nat(3), fc.array(line, { maxLength: 4 }), async (...drawn) => {
      const [content, name, bits, seed, length, inserted] = drawn;
      const from = seed % content.lines.length;
      const to = Math.min(content.lines.length, from + length + 1);
      const encode = encodings[name];
      const bytes = encode(join2(content));
      const path = `file-${number++}.txt`;
      writeFileSync(join(work, path), bytes);
      chmodSync(join(work, path), bits);
      const before = whole(work);
      const edit = {
        search: content.lines.slice(from, to).join("\n"),
        replace: inserted.map((part, index) => `new ${index} ${part}`).join("\n"),
        all: false,
      };
      const changes = changesOf(await modify.propose({ path, edits: [edit] }, staged(workspace, bytes), never));
      if (changes === null || changes.length === 0) return;
      const run = await workspace.begin({ id: `r${String(number).padStart(5, "0")}`, task: "t" });
      await run.apply(changes);
      await run.close();
      changed++;
      const now = readFileSync(join(work, path));
      const part = (a: number, b: number) =>
        join2({ lines: content.lines.slice(a, b), ends: content.ends.slice(a, b) });
      // Without its last line a file that has no final line end still has none.
      const taken = inserted.length === 0 && to === content.lines.length && content.ends.at(-1) === "";
      const head = encode(taken ? part(0, from).replace(/\r?\n$/, "") : part(0, from));
      const tail = Buffer.from(encode(part(to, content.lines.length)).subarray(encode("").length));
      expect(now.subarray(0, head.length).equals(head)).toBe(true);
      expect(now.subarray(now.length - tail.length).equals(tail)).toBe(true);
      expect(lstatSync(join(work, path)).mode & 0o1777).toBe(bits & 0o1777);
      await history.undo(null, { dryRun: false });
      if ((bits & 0o6000) === 0) expect(whole(work)).toEqual(before);
      else expect(readFileSync(join(work, path)).equals(bytes)).toBe(true);
    }),
    { numRuns: 100 },
  );
  expect(changed).toBeGreaterThan(60);
});
