/** `pai uninstall` in the binary: what it lists is what goes, and nothing else (R64). */
import { afterAll, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommand } from "../contract.ts";
import { findBinary, openPlace, type Place, readTree } from "../harness.ts";
import { hello } from "../replies.ts";

const shelf = mkdtempSync(join(tmpdir(), "pai-uninstall-"));
afterAll(() => rmSync(shelf, { recursive: true }));

interface Installed {
  readonly prefix: string;
  readonly program: string;
}

/** A link is a file of its own; copied only where the binary stands on another file system. */
function linkBinary(to: string): void {
  try {
    linkSync(findBinary(), to);
  } catch {
    copyFileSync(findBinary(), to);
  }
}

/** A pai installed below a prefix of its own, beside its man page and somebody else's file of a similar name. */
async function install(place: Place): Promise<Installed> {
  const prefix = mkdtempSync(join(shelf, "prefix-"));
  const program = join(prefix, "bin/pai");
  for (const folder of [
    "bin",
    "share/man/man1",
    "share/bash-completion/completions",
    "share/fish/vendor_completions.d",
  ])
    mkdirSync(join(prefix, folder), { recursive: true });
  linkBinary(program);
  writeFileSync(join(prefix, "share/man/man1/pai.1"), '.\\" Made by scripts/man.ts\n.TH PAI 1\n');
  const { stdout } = await place.pai(["completion", "bash"]);
  writeFileSync(join(prefix, "share/bash-completion/completions/pai"), stdout);
  writeFileSync(join(prefix, "share/fish/vendor_completions.d/pai.fish"), "# my own\n");
  await place.pai(["key", "set"], { stdin: "AIzaSyNotTheCanary-0123456789-abcdefgh\n" });
  await place.pai(["run", "-y", "make hello.txt"]);
  return { prefix, program };
}

/** Names only: a binary is nothing to read as text. */
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => lstatSync(join(folder, name)).isFile())
    .sort();

const stay = ["share/fish/vendor_completions.d/pai.fish"];

test.concurrent("uninstall lists everything first, and -y removes the program and what came with it, not keys and state (R64)", async () => {
  await using place = openPlace(hello);
  const { prefix, program } = await install(place);
  const kept = () => [filesIn(prefix), readTree(place.home), place.tree()];
  const before = kept();
  const dry = await place.shell(`"${program}" uninstall --purge --dry-run`);
  expect(dry.code).toBe(0);
  for (const part of [program, "credentials.json", "pai.1"]) expect(dry.stdout).toContain(part);
  expect(dry.stdout).toMatch(/stays\n.*\.pai_history {2}\(the log in a project/);
  expect(await place.shell(`"${program}" uninstall`)).toMatchObject({
    code: 10,
    stderr: expect.stringContaining("pai uninstall -y"),
  });
  expect(kept()).toEqual(before);
  const document = readCommand(await place.shell(`"${program}" uninstall -y --json`));
  expect(document.data).toMatchObject({ dry_run: false, removed: expect.arrayContaining([program]) });
  expect(kept()).toEqual([stay, ...before.slice(1)]);
});

test.concurrent("--purge removes keys, settings and state, never a project or somebody else's file (R64)", async () => {
  await using place = openPlace(hello);
  const { program } = await install(place);
  const project = readTree(place.root);
  const foreign = join(place.home, ".config/pai-code/notes.txt");
  writeFileSync(foreign, "mine\n");
  const { code, stdout } = await place.shell(`"${program}" uninstall --purge -y`);
  expect([code, stdout]).toEqual([0, expect.stringContaining("notes.txt  (not pai's alone")]);
  expect(existsSync(program)).toBe(false);
  expect(readTree(place.home)).toEqual({ ".config/pai-code/notes.txt": "mine\n" });
  expect(existsSync(join(place.home, ".local/state/pai-code"))).toBe(false);
  expect(readTree(place.root)).toEqual(project);
});

test.concurrent("PAI_STATE_DIR may hold anything: it stays, and is named (R64)", async () => {
  await using place = openPlace(hello);
  const { program } = await install(place);
  writeFileSync(join(place.spare, "precious.txt"), "p\n");
  mkdirSync(join(place.spare, "holiday-2026"));
  writeFileSync(join(place.spare, "holiday-2026/photo"), "p\n");
  mkdirSync(join(place.spare, "history"));
  writeFileSync(join(place.spare, "history/rome.md"), "r\n");
  symlinkSync(place.root, join(place.spare, "link-0123456789ab"));
  const source = join(place.spare, "source/pai-code");
  mkdirSync(source, { recursive: true });
  const dry = await place.shell(`PAI_STATE_DIR="${source}" "${program}" uninstall --purge --dry-run`);
  expect(dry.stdout).toContain(`${source}  (not pai's alone: yours to delete)`);
  const { code, stdout } = await place.shell(`PAI_STATE_DIR="${place.spare}" "${program}" uninstall --purge -y`);
  expect(stdout).toContain(`${place.spare}  (not pai's alone: yours to delete)`);
  expect([code, Object.keys(readTree(place.spare, (path) => path.startsWith("link-")))]).toEqual([
    0,
    ["history/rome.md", "holiday-2026/photo", "precious.txt"],
  ]);
  expect(lstatSync(join(place.spare, "link-0123456789ab")).isSymbolicLink()).toBe(true);
});

test.concurrent("--purge waits for a run that is under way: its journal is the way back (R64)", async () => {
  await using place = openPlace([...hello, ...hello]);
  const { program } = await install(place);
  await place.pai(["undo", "-y"]);
  const check = "test -e hello.txt || exit 0; touch ../spare/checking; sleep 61";
  const running = place.start(["run", "-y", "--allow-write", "../spare", "--check", check, "make hello.txt"]);
  while (!existsSync(join(place.spare, "checking"))) await Bun.sleep(10);
  const refused = await place.shell(`"${program}" uninstall --purge -y`);
  expect([refused.code, existsSync(program)]).toEqual([11, true]);
  running.kill("SIGINT");
  expect((await running.done).code).toBe(130);
  expect((await place.shell(`"${program}" uninstall --purge -y`)).code).toBe(0);
});

test.concurrent("what npm installed is left to npm; --purge removes settings and state beside it (R64, R65)", async () => {
  await using place = openPlace(hello);
  await place.pai(["key", "set"], { stdin: "AIzaSyNotTheCanary-0123456789-abcdefgh\n" });
  const prefix = mkdtempSync(join(shelf, "npm-"));
  for (const [folder, command] of [
    ["lib/node_modules/paicode/node_modules", "npm uninstall -g paicode"],
    ["project/node_modules", "npm uninstall paicode"],
  ] as const) {
    const program = join(prefix, folder, "@paicode/linux-x64/pai");
    mkdirSync(join(program, ".."), { recursive: true });
    linkBinary(program);
    const refused = await place.shell(`"${program}" uninstall -y`);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`remove it with: ${command};`)]);
    const { code, stdout } = await place.shell(`"${program}" uninstall --purge -y`);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${program}  (remove it with: ${command})`)]);
    expect(existsSync(program)).toBe(true);
  }
  expect(readTree(place.home)).toEqual({});
});
