/** Diffs outside of a run name secrets, also where only an excerpt of one is beside a change. */
import { expect, test } from "bun:test";
import { renderHidden } from "../../../src/core/secrets/veil.ts";
import { change } from "../changes.ts";
import { keyLine as line } from "./key-line.ts";

const key = (port: number, last = line(6)) =>
  `-----BEGIN PRIVATE KEY-----\n${[1, 2, 3, 4, 5].map(line).join("\n")}\n${last}\n-----END PRIVATE KEY-----\nport=${port}\n`;

test("the lines of a private key beside a change are names, and a changed line is another name", () => {
  const diff = renderHidden([change("key.txt", key(1), key(2, line(9)))]);
  for (const seed of [1, 2, 3, 4, 5, 6, 9]) expect(diff).not.toContain(line(seed));
  expect(diff).toMatch(/-<<SECRET_\w{4}_\d+>>\n\+<<SECRET_\w{4}_\d+>>\n/);
  expect(diff).toContain("-port=1\n+port=2\n");
});

test("a value that one file tells is hidden in all, also in files before it", () => {
  const value = "Zx9kQ2mR7tLp4VwA8sNd";
  const diff = renderHidden([
    change("a.txt", "a\n", `note ${value}\n`),
    change("b.txt", `password = "${value}"\n`, `password = "${value}"\nx\n`),
  ]);
  expect(diff).not.toContain(value);
});

test("a value of settings without quotation marks is a name, as in the diff of the run that changed them", () => {
  const settings = (port: number) => `port: ${port}\npassword: hunter2hunter2\n`;
  const diff = renderHidden([change("etc/app.yaml", settings(1), settings(2))]);
  expect(diff).toMatch(/ password: <<SECRET_\w{4}_\d+>>\n/);
  expect(diff).not.toContain("hunter2hunter2");
});

test("a file that is not text is compared as it is", () => {
  expect(renderHidden([change("a.bin", "\0a", "\0b")])).toContain("Binary files");
});
