/** `pai config` end to end: keys and settings go in, come out masked, and are used. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCommand } from "../contract.ts";
import { canary, openPlace, type Place, patience } from "../harness.ts";
import { talked } from "../replies.ts";

setDefaultTimeout(patience);

const other = "AIzaSyOther-2Bn5Mz8Cx1Vl4Kj7Hg0Fd3Sa6P";
const unset = { GEMINI_API_KEY: null };
const folderOf = ({ home }: Place) => join(home, ".config/pai-code");
const masked = `${canary.slice(0, 6)}…${canary.slice(-4)}`;
const looksMasked = (text: string) => text.replaceAll("...", "…").includes(masked);

test.concurrent("a key from standard input is stored for its user alone, shown masked, and used", async () => {
  await using place = openPlace([talked("Hello.")]);
  const config = (args: readonly string[], stdin?: string) =>
    place.pai(["config", ...args], { env: unset, ...(stdin !== undefined && { stdin }) });
  expect((await config(["set"], `${canary}\n`)).code).toBe(0);
  const file = join(folderOf(place), "credentials.json");
  expect([statSync(file).mode & 0o777, statSync(folderOf(place)).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    version: 3,
    providers: { gemini: { default: "primary", keys: { primary: canary } } },
  });
  for (const args of [["list"], ["show"], ["show", "primary"]]) {
    const { code, stdout } = await config(args);
    expect([code, looksMasked(stdout)]).toEqual([0, true]);
    expect(looksMasked((await config([...args, "--json"])).stdout)).toBe(true);
  }
  expect((await place.pai(["run", "say hello"], { env: unset })).code).toBe(0);
  expect(place.gemini.requests[0]?.key).toBe(canary);
});

test.concurrent("several keys: add, set-default, remove promotes the next, reset, remove the last", async () => {
  await using place = openPlace();
  const config = async (args: readonly string[], stdin = "") =>
    readCommand(await place.pai(["config", ...args, "--json"], { env: unset, stdin }));
  expect(await config(["add", "work"], canary)).toMatchObject({ data: { id: "work", is_new: true } });
  expect(await config(["add", "spare"], other)).toMatchObject({ data: { id: "spare", is_new: true } });
  expect(await config(["add", "spare"], other)).toMatchObject({ data: { id: "spare", is_new: false } });
  const keys = async () => {
    const { data } = await config(["list"]);
    return (data as { readonly keys: readonly { id: string; default: boolean }[] }).keys.map(
      ({ id, default: first }) => `${id}${first ? "*" : ""}`,
    );
  };
  expect(await keys()).toEqual(["work*", "spare"]);
  expect((await config(["set-default", "spare"])).code).toBe(0);
  expect(await keys()).toEqual(["spare*", "work"]);
  expect(await config(["remove"])).toMatchObject({ data: { removed: "spare", default: "work" } });
  expect((await config(["reset"])).code).toBe(0);
  expect((await config(["remove", "work"])).code).toBe(0);
  expect(await keys()).toEqual([]);
  expect((await config(["set-default", "none"])).ok).toBe(false);
  expect((await config(["remove", "none"])).ok).toBe(false);
});

test.concurrent("validate: the shape warns, --online asks the provider; an invalid key ends with 4", async () => {
  await using place = openPlace([
    { body: '{"models":[]}' },
    { status: 400, body: '{"error":{"message":"API key not valid"}}' },
  ]);
  const validate = (args: readonly string[], env = {}) => place.pai(["config", "validate", ...args], { env });
  expect((await validate([])).code).toBe(0);
  expect((await validate([], { GEMINI_API_KEY: "short" })).code).toBe(0);
  expect((await validate([], { GEMINI_API_KEY: "two words" })).code).toBe(4);
  expect((await validate([], unset)).code).toBe(4);
  expect(await validate(["--online"])).toMatchObject({ code: 0 });
  expect((await validate(["--online"])).code).toBe(4);
  expect(place.gemini.requests.map(({ key }) => key)).toEqual([canary, canary]);
});

test.concurrent("a key on the command line works and warns (R46)", async () => {
  await using place = openPlace();
  for (const args of [
    ["config", "set", other],
    ["config", "add", "two", other],
    ["config", "--set", other],
  ]) {
    const { code, stderr, stdout } = await place.pai(args, { env: unset });
    expect([code, stdout.includes(other) || stderr.includes(other)]).toEqual([0, false]);
    expect(stderr).toMatch(/ps|shell history/);
  }
});

test.concurrent("corrupt credentials end with 3 and are never overwritten", async () => {
  await using place = openPlace();
  mkdirSync(folderOf(place), { recursive: true, mode: 0o700 });
  const file = join(folderOf(place), "credentials.json");
  writeFileSync(file, '{"version":3,', { mode: 0o600 });
  expect((await place.pai(["config", "set"], { env: unset, stdin: other })).code).toBe(3);
  expect((await place.pai(["run", "say hello"], { env: { ...unset, PAI_BASE_URL: null } })).code).toBe(3);
  expect(readFileSync(file, "utf8")).toBe('{"version":3,');
});

test.concurrent("credentials others may read, or that are a link, are refused or mended, with the way out said", async () => {
  await using place = openPlace();
  await place.pai(["config", "set"], { env: unset, stdin: other });
  const file = join(folderOf(place), "credentials.json");
  chmodSync(file, 0o666);
  const { code, stderr } = await place.pai(["config", "list"], { env: unset });
  expect([code, (statSync(file).mode & 0o077) === 0 || /chmod/.test(stderr)]).toEqual([code, true]);
  await using linked = openPlace();
  mkdirSync(folderOf(linked), { recursive: true, mode: 0o700 });
  symlinkSync(file, join(folderOf(linked), "credentials.json"));
  expect((await linked.pai(["config", "set"], { env: unset, stdin: other })).code).toBe(3);
});

test.concurrent("get and put: written, read back with its origin, used, and refused when of the wrong type", async () => {
  await using place = openPlace([talked("Hello.")]);
  const config = async (...args: string[]) => readCommand(await place.pai(["config", ...args, "--json"]));
  expect((await config("put", "limits.calls", "3")).ok).toBe(true);
  expect(await config("get", "limits.calls")).toMatchObject({
    data: { value: 3, origin: expect.stringContaining("config.json") },
  });
  expect((await config("put", "limits.calls", "many")).code).toBe(2);
  expect((await config("put", "limits.cals", "1")).error?.hint).toContain("limits.calls");
  expect((await config("put", "model", "gemini:gemini-2.5-pro")).ok).toBe(true);
  expect(await place.pai(["run", "say hello"])).toMatchObject({ code: 0 });
  expect(place.gemini.requests[0]?.url).toContain("gemini-2.5-pro");
  expect((await place.pai(["config", "get"])).stdout).toMatch(/limits\.calls\s+3\s+\(.*config\.json\)/);
});

test.concurrent("flag before environment before config.json (R40)", async () => {
  await using place = openPlace([talked("a"), talked("b"), talked("c")]);
  await place.pai(["config", "put", "model", "gemini:from-file"]);
  const env = { PAI_MODEL: "gemini:from-env" };
  await place.pai(["run", "say hello"]);
  await place.pai(["run", "say hello"], { env });
  await place.pai(["run", "-m", "gemini:from-flag", "say hello"], { env });
  const asked = place.gemini.requests.map(({ url }) => /from-\w+/.exec(url)?.[0]);
  expect(asked).toEqual(["from-file", "from-env", "from-flag"]);
});

test.concurrent("an address from config.json gets a key only after a yes; headless that is 3", async () => {
  await using place = openPlace([talked("Hello.")]);
  mkdirSync(folderOf(place), { recursive: true, mode: 0o700 });
  const settings = { baseUrl: { gemini: "https://first.invalid" } };
  writeFileSync(join(folderOf(place), "config.json"), JSON.stringify(settings), { mode: 0o600 });
  await place.pai(["config", "put", "baseUrl.gemini", place.gemini.origin]);
  expect((await place.pai(["run", "say hello"], { env: { PAI_BASE_URL: null } })).code).toBe(0);
  writeFileSync(join(folderOf(place), "config.json"), JSON.stringify({ baseUrl: { gemini: "http://127.0.0.1:9" } }), {
    mode: 0o600,
  });
  const moved = await place.pai(["run", "say hello"], { env: { PAI_BASE_URL: null } });
  expect([moved.code, place.gemini.requests.length]).toEqual([3, 1]);
});

test.concurrent("a key in a file named by GEMINI_API_KEY_FILE is used (R46)", async () => {
  await using place = openPlace([talked("Hello.")]);
  const file = join(place.home, "credentials.json");
  writeFileSync(file, `${canary}\n`, { mode: 0o600 });
  expect((await place.pai(["run", "say hello"], { env: { ...unset, GEMINI_API_KEY_FILE: file } })).code).toBe(0);
  expect(place.gemini.requests[0]?.key).toBe(canary);
});

test.concurrent("what to do with a key that was stored comes behind the word that it was", async () => {
  await using place = openPlace();
  const { stdout } = await place.shell(`echo ${canary} | "$PAI" config set 2>&1`);
  expect(stdout).toMatch(/\nStored the gemini key .*\ncheck it: /);
});
