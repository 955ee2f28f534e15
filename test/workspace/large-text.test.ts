/** Large texts, and lines as they are read. */
import { beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import type { SearchQuery } from "../../src/core/ports.ts";
import { createVeil } from "../../src/core/secrets/veil.ts";
import { readEnds, readLines } from "../../src/workspace/search/read-lines.ts";
import { search } from "../../src/workspace/search/search.ts";
import { type Folder, noRules, openFolder, p } from "./folder.ts";

const key = "AKIAIOSFODNN7EXAMPLQ";
const marked = new Map([
  [7, "first fault"],
  [170_000, `fault with ${key}`],
  [250_001, "last fault\0\0"],
]);
let log = "";
beforeAll(() => {
  const lines = Array.from(
    { length: 250_001 },
    (_, at) => marked.get(at + 1) ?? `line ${at + 1} is quite ordinary text here`,
  );
  log = `${lines.join("\n")}\n`;
});

const veil = createVeil();
/** Asks the log, or what else stands in `app.log`; how often a part of it was rid of secrets. */
const ask = async (at: ReturnType<typeof openFolder>, pattern: string, more: Partial<SearchQuery> = {}) => {
  let looked = 0;
  const hide = async (text: string) => {
    looked += 1;
    return veil.hideOutput(text);
  };
  const query = { pattern, ignoreCase: false, under: p(""), include: null, maxHits: 10, staged: new Map(), hide };
  return { ...(await search(at.root, { ...query, ...more }, noRules)), looked: () => looked };
};
const linesOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).hits.map(({ line }) => line);
const withLog = () => {
  const at = openFolder();
  at.file("app.log", log);
  return at;
};

describe("a file that is too large to be held is searched", () => {
  test.each(["fault", "(?:first|last|with)"])("with %s, its lines counted, its secrets hidden", async (pattern) => {
    using at = withLog();
    const { hits, skipped, tooSlow } = await ask(at, pattern);
    expect(hits.map(({ line, text }) => `${line}:${text}`)).toEqual([
      "7:first fault",
      expect.stringMatching(/^170000:fault with <<SECRET_/),
      "250001:last fault  ",
    ]);
    expect([skipped, tooSlow]).toEqual([0, false]);
  });

  test("without a look at the parts that can hold no match", async () => {
    using at = withLog();
    const { hits, looked } = await ask(at, "(first|last) +f.*t");
    expect([hits.map(({ line }) => line), looked()]).toEqual([[7, 250_001], 2]);
  });

  test("and only the lines around a match are rid of secrets", async () => {
    using at = openFolder();
    const lines = Array.from({ length: 300_000 }, (_, n) => `took=${n % 40}.${n % 10}ms of 10.2.3 and 4.5 for x${n}`);
    at.file("app.log", `${lines.join("\n")}\nfrom 192.168.10.7\nid 12345678901234567890.1.2.3\n`);
    const { hits, looked } = await ask(at, "\\d+\\.\\d+\\.\\d+\\.\\d+");
    expect([hits.map(({ line }) => line), looked()]).toEqual([[300_001, 300_002], 1]);
  });

  test("and no pattern finds out a secret in it", async () => {
    using at = withLog();
    for (const pattern of [key, "AKIAIOSF", "AKIA[A-Z]OSF"]) expect((await ask(at, pattern)).hits).toEqual([]);
  });

  test("from its end, where the newest lines are wanted", async () => {
    using at = withLog();
    const { hits, more } = await ask(at, "ordinary", { maxHits: 2, newest: true });
    expect([hits.map(({ line }) => line), more]).toEqual([[249_999, 250_000], true]);
  });

  test("also a line that is longer than what is held at once", async () => {
    using at = openFolder();
    at.file("one.json", `${"a".repeat(5_000_000)} ${key} ${"b".repeat(6_000_000)} port 8080\nend port 8080\n`);
    const { hits } = await ask(at, "port 8080");
    expect(hits.map(({ line, text }) => [line, text.slice(-14)])).toEqual([
      [1, "bbbb port 8080"],
      [2, " end port 8080".trimStart()],
    ]);
    expect((await ask(at, key)).hits).toEqual([]);
  });

  test("also where it is not UTF-8", async () => {
    using at = openFolder();
    at.file("app.log", Buffer.from(`${log}eine Störung\n`, "latin1"));
    expect((await ask(at, "Störung")).hits.map(({ line, text }) => [line, text])).toEqual([[250_002, "eine Störung"]]);
  });

  test("also lines that begin and end anywhere in what is held at once", async () => {
    using at = openFolder();
    const lengths = [10, 500_000, 5, 400_000, 262_144, 260_000, 1, 700_000, 300_000, 524_287];
    const lines = [...lengths, ...lengths, ...lengths].map((length, at) => `${"z".repeat(length)} end ${at}`);
    at.file("app.log", lines.join("\n"));
    const { hits } = await ask(at, " end \\d+$", { maxHits: 50 });
    expect(hits.map(({ line, text }) => [line, text.slice(-7).trim()])).toEqual(
      lines.map((_, at) => [at + 1, expect.stringContaining(`end ${at}`)]),
    );
  });

  test("and passed over where nothing hides its secrets", async () => {
    using at = withLog();
    const query = { pattern: "fault", ignoreCase: false, include: null, maxHits: 5, under: p(""), staged: new Map() };
    expect(await search(at.root, query, noRules)).toMatchObject({ hits: [], skipped: 1 });
  });
});

describe.each([
  ["gz", (text: string) => gzipSync(text)],
  ["zst", (text: string) => zstdCompressSync(text)],
] as const)("a compressed log (%s)", (end, pack) => {
  test("is searched and read as its text", async () => {
    using at = openFolder();
    at.file(`app.log.1.${end}`, pack(log));
    const name = p(`app.log.1.${end}`);
    expect(await linesOf(at, "fault")).toEqual([7, 170_000, 250_001]);
    expect(await readLines(at.root, name, 7, 8)).toMatchObject({
      text: "first fault\nline 8 is quite ordinary text here",
      total: 250_001,
    });
    const { head, tail } = await readEnds(at.root, name, 2);
    expect([head.text.split("\n")[0], tail.from, tail.text.split("\n")[0]]).toEqual([
      "line 1 is quite ordinary text here",
      250_000,
      "line 250000 is quite ordinary text here",
    ]);
  });

  test("that is damaged, or only called so, is refused in words", async () => {
    using at = openFolder();
    at.file(`a.log.${end}`, Buffer.concat([Buffer.from("no such thing at all "), pack("x\n")]));
    const message = expect.stringMatching(/cannot be unpacked/);
    const reading = readLines(at.root, p(`a.log.${end}`), 1, 1);
    await expect(reading).rejects.toMatchObject({ code: "file_unusable", message });
    expect((await ask(at, "x")).skipped).toBe(1);
  });
});

test("a compressed file that is still written is read as far as it goes", async () => {
  using at = openFolder();
  const whole = gzipSync(Array.from({ length: 50_000 }, (_, n) => `line ${(n * 7919) % 100_003}`).join("\n"));
  at.file("a.log.gz", whole.subarray(0, whole.length / 2));
  expect((await readLines(at.root, p("a.log.gz"), 1, 1)).text).toBe("line 0");
});

test("a small file that unpacks to a huge one takes little memory and ends", async () => {
  using at = openFolder();
  at.file("bomb.log.gz", gzipSync("all is well\n".repeat(5_000_000), { level: 1 }));
  const before = process.memoryUsage.rss();
  expect((await readLines(at.root, p("bomb.log.gz"), 1, 1)).text).toBe("all is well");
  expect((await ask(at, "nothing of the kind")).hits).toEqual([]);
  expect(process.memoryUsage.rss() - before).toBeLessThan(120 * 1024 * 1024);
});

test("a log that grows while it is read is read to where it ended at the start", async () => {
  using at = withLog();
  let looked = 0;
  const hide = async (text: string) => {
    looked += 1;
    appendFileSync(join(at.path, "app.log"), "a later fault, line by line\n".repeat(50_000));
    return veil.hideOutput(text);
  };
  const { hits, more } = await ask(at, "l+[a-z]* f[a]ult|first f", { hide });
  expect([hits.map(({ line }) => line), more]).toEqual([[7, 250_001], false]);
  expect(looked).toBeLessThan(25);
});

test("an archive of files and compressed data are searched only when they are named", async () => {
  using at = openFolder();
  at.file("data.csv.gz", gzipSync("a fault\n"));
  at.file("all.tar.gz", gzipSync("a fault\n"));
  expect((await ask(at, "fault")).hits).toEqual([]);
  expect((await ask(at, "fault", { under: p("data.csv.gz") })).hits).toHaveLength(1);
});

test("a log of any size takes the memory of a small one and a few megabytes", async () => {
  using at = openFolder();
  const held = async (lines: number) => {
    at.file("app.log", "2026-11-20T10:00:00 INFO all is well with client 10.0.0.7\n".repeat(lines));
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "searched-log.ts"), at.path], { stdout: "pipe" });
    return Number(await child.stdout.text());
  };
  const small = await held(10);
  expect(small).toBeGreaterThan(0);
  expect((await held(700_000)) - small).toBeLessThan(25);
});

const lines = (at: Folder, from: number, to: number) => readLines(at.root, p("f"), from, to);

test.each([
  ["a\nb\nc\n", 1, 2, "a\nb", 2, 3],
  ["a\nb\nc", 2, 9, "b\nc", 3, 3],
  ["a\r\nb\r\n", 1, 2, "a\nb", 2, 2],
  ["a\n\n\n", 1, 2, "a\n", 2, 3],
  ["a\n", 5, 9, "", 4, 1],
  ["", 1, 9, "", 0, 0],
  ["\n", 1, 1, "", 1, 1],
])("of %j lines %d to %d", async (content, from, to, text, last, total) => {
  using at = openFolder();
  at.file("f", content);
  expect(await lines(at, from, to)).toEqual({ text, from, to: last, total });
});

test("a line across two chunks, and Latin-1 where it is not UTF-8", async () => {
  using at = openFolder();
  at.file("f", `${"é".repeat(200_000)}\nx\n`);
  expect((await lines(at, 1, 1)).text).toBe("é".repeat(200_000));
  at.file("f", Buffer.from("caf\xe9\nx", "latin1"));
  expect((await lines(at, 1, 1)).text).toBe("café");
});

test("a huge line is cut at a character", async () => {
  using at = openFolder();
  at.file("f", `a${"é".repeat(1_000_000)}`);
  const { text, total } = await lines(at, 1, 1);
  expect([text.length, text.at(-1), total]).toEqual([524_288, "é", 1]);
});

test("a file too large to count has lines and no total; a binary one and a missing one are errors", async () => {
  using at = openFolder();
  at.file("f", `first\n${"x".repeat(300_000)}\n`);
  truncateSync(join(at.path, "f"), 1024 ** 3);
  expect(await lines(at, 1, 1)).toEqual({ text: "first", from: 1, to: 1, total: null });
  at.file("f", "a\0b");
  expect(lines(at, 1, 1)).rejects.toMatchObject({ code: "file_unusable", message: "f is binary" });
  expect(readLines(at.root, p("none"), 1, 1)).rejects.toMatchObject({ message: "none does not exist" });
});
