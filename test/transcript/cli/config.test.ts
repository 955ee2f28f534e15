/** `pai key` and `pai config` end to end: keys and settings go in, come out masked, and are used. */
import { expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { canary, openPlace, type Place } from "../harness.ts";
import { talked } from "../replies.ts";

const unset = { GEMINI_API_KEY: null };
const folderOf = ({ home }: Place) => join(home, ".config/pai-code");
const masked = `${canary.slice(0, 6)}…${canary.slice(-4)}`;
const looksMasked = (text: string) => text.replaceAll("...", "…").includes(masked);

test.concurrent("a key from standard input is stored for its user alone, shown masked, and used", async () => {
  await using place = openPlace([talked("Hello.")]);
  const key = (args: readonly string[], stdin?: string) =>
    place.pai(["key", ...args], { env: unset, ...(stdin !== undefined && { stdin }) });
  expect((await key(["set"], `${canary}\n`)).code).toBe(0);
  const file = join(folderOf(place), "credentials.json");
  expect([statSync(file).mode & 0o777, statSync(folderOf(place)).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    version: 3,
    providers: { gemini: { default: "primary", keys: { primary: canary }, added: { primary: expect.any(String) } } },
  });
  for (const args of [["list"], ["list", "--provider", "gemini"]]) {
    const { code, stdout } = await key(args);
    expect([code, looksMasked(stdout)]).toEqual([0, true]);
    expect(looksMasked((await key([...args, "--json"])).stdout)).toBe(true);
  }
  expect((await place.pai(["run", "say hello"], { env: unset })).code).toBe(0);
  expect(place.gemini.requests[0]?.key).toBe(canary);
});
