/** The message of a commit: a first line that fits, nothing that acts on a terminal, and the run. */
import { expect, test } from "bun:test";
import { commitMessage } from "../../src/flows/ending/git-commit.ts";

const made = (text: string, own: string | null = null) => commitMessage("r1", { text, task: "do it", own });

test("the first line is the subject, the rest the body, the run a trailer", () => {
  expect(made("# Adds a flag.\n\nTwo files.\n")).toBe("Adds a flag.\n\nTwo files.\n\nPai-Run: r1\n");
  expect(made("  \n ")).toBe("do it\n\nPai-Run: r1\n");
});

test("a long first line is cut at a word, and the body has all of it", () => {
  const long = `Adds ${"word ".repeat(30)}end.`;
  const [subject = "", empty, body] = made(long).split("\n");
  expect([subject.length <= 72, subject.endsWith("word…"), empty, body]).toEqual([true, true, "", long]);
  expect(made("x".repeat(100)).split("\n")[0]).toHaveLength(72);
});

test("control and invisible characters are left out, but not from the user's own words", () => {
  expect(made("Adds\u001b[2J a\u202e flag\r\nand\u0000 more")).toBe("Adds[2J a flag\n\nand more\n\nPai-Run: r1\n");
  expect(made("", "feat: x\n\nRefs: 1")).toBe("feat: x\n\nRefs: 1\n\nPai-Run: r1\n");
});
