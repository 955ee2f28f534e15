/** Text leaves the process whole, in order, and calmly, whatever the reader is (R04-R07). */
import { beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "../grounds.ts";

const source = join(import.meta.dir, "../../src/ui/writer.ts");
const folder = newFolder("disk", "writer");
const program = join(folder, "program.ts");
const size = 40 * 100_001;

beforeAll(() => {
  writeFileSync(
    program,
    `import { dlopen } from "bun:ffi";
import { openWriters } from ${JSON.stringify(source)};
if (process.argv[3] === "nonblocking") {
  const { fcntl } = dlopen("libc.so.6", { fcntl: { args: ["int", "int", "int"], returns: "int" } }).symbols;
  const [setFlags, nonblocking] = [4, 0o4000];
  if (fcntl(1, setFlags, nonblocking) !== 0) throw new Error("fcntl");
}
const [out, err] = openWriters();
const small = process.argv[2] === "small";
for (let n = 0; n < (small ? 5 : 40); n++) {
  out.write(small ? "out " + n + "\\n" : "x".repeat(100_000) + "\\n");
  if (small) err.write("err " + n + "\\n");
}
await out.flush();
await err.flush();
await Bun.write(process.env.REPORT, JSON.stringify({ closed: out.closed, code: out.failure?.code ?? null }));
process.exitCode = 7;
`,
  );
});

/** Runs the program under a shell line, \`PROGRAM\` standing for it; what the shell printed and what the writer saw. */
async function run(line: string) {
  const report = join(folder, `${Bun.hash(line)}.json`);
  const shell = Bun.spawn(["/bin/bash", "-c", line.replaceAll("PROGRAM", `"${process.execPath}" "${program}"`)], {
    env: { PATH: "/usr/bin:/bin", REPORT: report, OUT: join(folder, "out") },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([shell.stdout.text(), shell.stderr.text()]);
  await shell.exited;
  return { stdout: stdout.trim(), stderr, ...(await Bun.file(report).json()) };
}

test("a pipe that is non-blocking already is not a problem, and ours stays as it was", async () => {
  const seen = await run("PROGRAM big nonblocking | (sleep 0.3; wc -c)");
  expect(seen).toMatchObject({ stdout: String(size), closed: false });
  const flags = await run(`(PROGRAM small; grep flags /proc/self/fdinfo/1) 2>/dev/null | tail -1`);
  expect(Number.parseInt(flags.stdout.split(/\s+/)[1] ?? "", 8) & 0o4000).toBe(0);
});

test("both streams into one file or pipe stay in order", async () => {
  const both = Array.from({ length: 5 }, (_, n) => `out ${n}\nerr ${n}`).join("\n");
  expect((await run('PROGRAM small > "$OUT" 2>&1; cat "$OUT"')).stdout).toBe(both);
  expect((await run("PROGRAM small 2>&1 | cat")).stdout).toBe(both);
});

test("a terminal that takes nothing does not make the process deaf, and what waits for it can be skipped", async () => {
  const heard = join(folder, "heard");
  const slow = join(folder, "slow.ts");
  writeFileSync(
    slow,
    `import { writeFileSync } from "node:fs";
import { openWriters } from ${JSON.stringify(source)};
const [out, err] = openWriters();
process.on("SIGINT", () => {
  writeFileSync(process.env.HEARD, String(out === err));
  out.skip();
  err.write("interrupted\\n");
});
for (let n = 0; n < 1000; n++) out.write("x".repeat(999) + "\\n");
writeFileSync(process.env.HEARD, "");
await out.flush();
process.exit(3);
`,
  );
  const shown: number[] = [];
  const child = Bun.spawn([process.execPath, slow], {
    env: { PATH: "/usr/bin:/bin", HEARD: heard },
    terminal: { cols: 80, rows: 24, data: (_, bytes) => void shown.push(...bytes) },
  });
  // Nothing is read from the terminal for as long as this process is kept busy.
  const until = (holds: () => boolean) => {
    for (let tries = 0; tries < 1200 && !holds(); tries += 1) Bun.sleepSync(50);
  };
  until(() => existsSync(heard));
  child.kill("SIGINT");
  until(() => readFileSync(heard, "utf8") !== "");
  expect(readFileSync(heard, "utf8")).toBe("true");
  expect(await child.exited).toBe(3);
  expect(shown.length).toBeLessThan(100_000);
  expect(Buffer.from(shown).toString().trimEnd()).toEndWith("interrupted");
});
