/** `pai trust`: bound to the content, taken back at will. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { trustCommand } from "../../src/cli/commands/trust.ts";
import { loadSettings } from "../../src/store/settings.ts";
import { put } from "../store/temp-home.ts";
import { openProcess, type Process } from "./fake-context.ts";

const trustOf = ({ home: { places, root } }: Process) => loadSettings({ flags: {}, env: {}, places, root }).trust;

test("trusts pai.json as it is, shows it, and takes it back", async () => {
  const process = openProcess();
  put(join(process.home.root, "pai.json"), '{"checks": ["make"]}');
  const { code, out } = await process.run({ run: trustCommand });
  expect([code, trustOf(process)]).toEqual([0, "trusted"]);
  expect(out).toStartWith('{"checks": ["make"]}\n\nTrusted pai.json in ');
  put(join(process.home.root, "pai.json"), '{"checks": ["make evil"]}');
  expect(trustOf(process)).toBe("changed");
  const revoked = await process.run({ run: trustCommand }, { flags: { revoke: true, json: true } });
  expect([JSON.parse(revoked.out).data.trusted, trustOf(process)]).toEqual([false, "untrusted"]);
});

test("where there is nothing to trust, all that could be is named", async () => {
  const { home, run } = openProcess();
  const { code, err } = await run({ run: trustCommand });
  expect([code, err.trimEnd()]).toEqual([
    "config_invalid",
    `there is nothing to trust in ${home.root}: no pai.json, and no commands or skills in .pai`,
  ]);
});

test("without a pai.json, or with a broken one, there is nothing to trust: exit 3", async () => {
  const process = openProcess();
  expect((await process.run({ run: trustCommand })).code).toBe("config_invalid");
  put(join(process.home.root, "pai.json"), '{"limits": {"calls": "x"}}');
  expect((await process.run({ run: trustCommand })).code).toBe("config_invalid");
});
