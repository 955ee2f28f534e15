/** What is piped in beside a task is read when it comes, and never waited for when it does not. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PipedInput } from "../../src/cli/piped-input.ts";

const module = join(import.meta.dir, "../../src/cli/piped-input.ts");
const program = `import { readPiped } from ${JSON.stringify(module)};
console.log(JSON.stringify(await readPiped(new AbortController().signal)));`;

/** Runs the reading at the end of a shell line that feeds it. */
async function readBehind(line: string): Promise<PipedInput & { readonly ms: number }> {
  const folder = mkdtempSync(join(tmpdir(), "pai-piped-"));
  writeFileSync(join(folder, "read.ts"), program);
  writeFileSync(join(folder, "text.txt"), "one\ntwo\n");
  const started = performance.now();
  const read = `${process.execPath} ${join(folder, "read.ts")}`;
  const child = Bun.spawn(["bash", "-c", line.replaceAll("READ", read)], {
    cwd: folder,
    stdout: "pipe",
    stdin: "ignore",
  });
  const text = await new Response(child.stdout).text();
  rmSync(folder, { recursive: true, force: true });
  return { ...(JSON.parse(text.trim().split("\n")[0] ?? "") as PipedInput), ms: performance.now() - started };
}

test.each([
  ["a pipe", "printf 'one\\ntwo\\n' | READ"],
  ["a file at its beginning", "READ < text.txt"],
  ["a pipe that comes in pieces", "(printf 'one\\n'; sleep 0.5; printf 'two\\n') | READ"],
])("%s is read whole", async (_name, line) => {
  expect(await readBehind(line)).toMatchObject({ text: "one\ntwo\n", note: null });
});

test.each([
  ["nothing is piped in", "READ < /dev/null"],
  ["a loop has read of the file", "while read -r line; do READ; break; done < text.txt"],
  ["a pipe that ends empty", "true | READ"],
])("%s: nothing is read and nothing is said", async (_name, line) => {
  expect(await readBehind(line)).toMatchObject({ text: "", note: null });
});

test("a pipe that stays open and empty is left, with a line that says how to wait for it", async () => {
  const { text, note, ms } = await readBehind("sleep 3 | READ");
  expect([text, note]).toEqual(["", "standard input not read; --stdin waits for it"]);
  expect(ms).toBeLessThan(4500);
});

test("a pipe that falls silent is cut, and a note says so", async () => {
  const { text, note } = await readBehind("(printf one; sleep 4) | READ");
  expect([text, note]).toEqual(["one", "standard input was cut after 3 bytes: it fell silent"]);
});
