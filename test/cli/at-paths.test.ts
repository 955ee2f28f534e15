/** `@path` in a task: what names a file, what is a word, and what stops a run before it costs anything. */
import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { findMentions } from "../../src/cli/at-paths.ts";
import { type Files, makeFolder, openHere } from "../flows/scripted.ts";

const files: Files = {
  "src/app.py": "x = 1\n",
  "README.md": "# Hi\n",
  "blob.bin": "a\0b",
  ".env": "KEY=1\n",
  Makefile: "all:\n",
};

const links = [
  ["in", "app.py"],
  ["out", "/etc/passwd"],
  ["none", "nowhere"],
] as const;

async function mentions(text: string): Promise<readonly string[] | string> {
  const place = makeFolder(files);
  for (const [name, target] of links) symlinkSync(target, join(place.root, "src", name));
  try {
    const { workspace } = await openHere(place);
    return await findMentions(workspace, text);
  } catch (thrown) {
    const { code, message, hint } = thrown as { code: string; message: string; hint: string | null };
    return `${code}: ${message}; ${hint ?? ""}`;
  }
}

test.each([
  ["explain @src/app.py, please", ["src/app.py"]],
  ["see (@README.md) and @Makefile.", ["README.md", "Makefile"]],
  ['see @"src/app.py"', ["src/app.py"]],
  ["see @src/", []],
  ["see @src/in", ["src/app.py"]],
  ["@src/other is a word", []],
  ["use @dataclass and @types/node", []],
  ['write "@x.py" into it', []],
  [String.raw`keep \@nosuch.py`, []],
  ["mail me@example.py", []],
  ["@angular/core is old", []],
  ["请看@README.md，并修改它, and @README.md", ["README.md"]],
  ['https://example.org/@README.md import { x } from "@/lib/x"', []],
])("%s", async (text, found) => {
  expect(await mentions(text)).toEqual(found);
});

test.each([
  ["@nosuch.py", "usage: no such file: nosuch.py"],
  ["@src/ap.py", "did you mean @src/app.py?"],
  ["@src/ap", "did you mean @src/app.py?"],
  ["@src/out", "usage: @src/out cannot be shown: "],
  ["@src/none", "usage: @src/none cannot be shown: "],
  ["@app.py", "did you mean @src/app.py?"],
  ["@./x", "usage: no such file: ./x"],
  ["@blob.bin", "usage: @blob.bin cannot be shown: it is not text"],
  ["@.env", "usage: @.env cannot be shown"],
  ["@../other.txt", "usage: @../other.txt cannot be shown"],
  ["@/etc/passwd", "usage: @/etc/passwd cannot be shown"],
  ["@~/notes", "usage: "],
])("%s stops the run", async (text, why) => {
  expect(await mentions(`explain ${text}`)).toContain(why);
});
