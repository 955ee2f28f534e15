/** A small project with secrets in and around it, for tests of the sandbox. */
import { test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandOptions, CommandResult, Transaction } from "../../../src/core/ports.ts";
import { defaultSandbox, type SandboxSettings } from "../../../src/workspace/sandbox/settings.ts";
import { newFolder } from "../../grounds.ts";
import { beginBare, quick, usualEnv } from "../bare.ts";

export interface World {
  readonly base: string;
  readonly work: string;
  /** Runs a command in the level and says how it ended. */
  run(command: string, options?: Partial<CommandOptions>): Promise<CommandResult>;
  readonly transaction: Transaction;
}

/** Makes a small project with secrets in and around it, and takes it away again. */
export async function inWorld(settings: Partial<SandboxSettings>, use: (world: World) => Promise<void>, name = "work") {
  // No sandbox replaces what is there: what is hidden in it is hidden by the rules alone.
  const base = newFolder("checkout", "level");
  const work = join(base, name);
  for (const [path, text] of Object.entries({
    ".git/config": "[core]\n",
    ".env": "KEY=canary\n",
    "sub/.git/config": "[core]\n",
    "a.txt": "a\n",
  })) {
    mkdirSync(join(work, path, ".."), { recursive: true });
    writeFileSync(join(work, path), text);
  }
  mkdirSync(join(base, "home/.ssh"), { recursive: true });
  mkdirSync(join(base, "home/.cache"));
  writeFileSync(join(base, "home/.ssh/id_rsa"), "canary\n");
  writeFileSync(join(base, "outside.txt"), "theirs\n");
  const home = join(base, "home");
  const env = { ...usualEnv, HOME: home, API_TOKEN: "canary" };
  const sandbox = { ...defaultSandbox, ...settings };
  const { tx: transaction } = await beginBare(work, join(base, "state"), { env, home, sandbox });
  await use({ base, work, transaction, run: (command, more) => transaction.run(command, { ...quick, ...more }) });
}

/** Tests of commands in such a world. */
export const testIn = (settings: Partial<SandboxSettings>) => (title: string, use: (world: World) => Promise<void>) =>
  test(title, () => inWorld(settings, use));
