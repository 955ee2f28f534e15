/** What is piped in beside a task is read when it comes, and never waited for when it does not. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "../grounds.ts";

const module = join(import.meta.dir, "../../src/cli/read-text.ts");
/** With arguments: the milliseconds to wait for the first byte, or "all" for --stdin. */
const program = `import { readPiped } from ${JSON.stringify(module)};
const said = [];
const firstMs = process.argv[2] === "all" ? null : Number(process.argv[2]);
const text = await readPiped(new AbortController().signal, { firstMs, say: (each) => said.push(each) });
console.log(JSON.stringify({ text: text.slice(0, 300_000), said }));`;

interface Behind {
  readonly text: string;
  readonly said: readonly string[];
  readonly ms: number;
}

/** Runs the reading at the end of a shell line that feeds it. */
async function readBehind(line: string, wait = "1500"): Promise<Behind> {
  const folder = newFolder("disk", "piped");
  writeFileSync(join(folder, "read.ts"), program);
  writeFileSync(join(folder, "text.txt"), "one\ntwo\n");
  const started = performance.now();
  const read = `${process.execPath} ${join(folder, "read.ts")} ${wait}`;
  const child = Bun.spawn(["bash", "-c", line.replaceAll("READ", read)], {
    cwd: folder,
    stdout: "pipe",
    stdin: "ignore",
  });
  const text = await new Response(child.stdout).text();
  return { ...(JSON.parse(text.trim().split("\n")[0] ?? "") as Omit<Behind, "ms">), ms: performance.now() - started };
}

test.concurrent.each([
  ["a pipe", "printf 'one\\ntwo\\n' | READ"],
  ["a file at its beginning", "READ < text.txt"],
  ["a pipe that comes in pieces", "(printf 'one\\n'; sleep 0.5; printf 'two\\n') | READ"],
])("%s is read whole", async (_name, line) => {
  expect(await readBehind(line)).toMatchObject({ text: "one\ntwo\n", said: [] });
});

test.concurrent.each([
  ["nothing is piped in", "READ < /dev/null"],
  ["a loop has read of the file", "while read -r line; do READ; break; done < text.txt"],
  ["a pipe that ends empty", "true | READ"],
])("%s: nothing is read and nothing is said", async (_name, line) => {
  expect(await readBehind(line)).toMatchObject({ text: "", said: [] });
});

test.concurrent("a pipe that stays open and empty is waited for, told after a second, and left (R13)", async () => {
  const { text, said, ms } = await readBehind("mkfifo held; READ <> held", "1500");
  expect([text, ...said]).toEqual([
    "",
    "waiting for standard input; --no-stdin goes on without it",
    "standard input not read; --stdin waits for it",
  ]);
  expect(ms).toBeGreaterThan(1500);
});

test.concurrent("a socket that nobody writes to is left after a moment: a caller may hold it open for ever", async () => {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { text, said } = await readBehind(`READ <> /dev/tcp/127.0.0.1/${server.port}`, "600000");
  server.stop(true);
  expect([text, ...said]).toEqual(["", "standard input not read; --stdin waits for it"]);
});

test.concurrent("a slow producer is read within the wait, and with --stdin however long it takes", async () => {
  expect(await readBehind("(sleep 0.7; echo one) | READ", "5000")).toMatchObject({
    text: "one\n",
    said: [],
  });
  expect(await readBehind("(sleep 1.3; echo one) | READ", "all")).toMatchObject({ text: "one\n" });
});

test.concurrent("of a long pipe the end, the beginning and the lines of errors are kept, and the cut is told", async () => {
  const make = `awk 'BEGIN { for (n = 1; n <= 200000; n++) print n % 50000 == 7 ? n " ERROR disk" : n " all is well here" }'`;
  const { text, said } = await readBehind(`${make} | READ`);
  expect(text.length).toBeLessThan(200_000);
  expect(text).toStartWith("1 all is well here\n2 all is well");
  expect(text).toEndWith("\n200000 all is well here\n");
  expect(text).toContain(
    "; lines of errors among them, all 3:]\n50007 ERROR disk\n100007 ERROR disk\n150007 ERROR disk\n[",
  );
  expect(said.at(-1)).toMatch(/^of 4\.\d MB of standard input the end, the beginning and lines of errors are used$/);
});
