/** Makes scripts/run.svg: a real run of the binary in a real terminal (tmux), its model's replies recorded. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderSvg } from "./ansi-svg.ts";

const repository = join(import.meta.dir, "..");
const binary = join(process.env["PAI_DIST"] ?? join(repository, "dist"), "pai");
const screen = { columns: 92, rows: 60 };
const task = 'Add the category "Severely Obese" for BMI 35 and above';
const home = "/home/you";

const place = mkdtempSync(join(tmpdir(), "pai-screen-"));
const root = join(place, "bmi");
const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: place, TERM: "screen-256color", LANG: "C.UTF-8" };

function run(command: string, args: readonly string[]): string {
  const done = spawnSync(command, [...args], { cwd: root, env, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${command} ${args.join(" ")}: ${done.stdout}${done.stderr}`);
  return done.stdout;
}

const tmux = (...args: readonly string[]): string => run("tmux", ["-L", `pai-screen-${process.pid}`, ...args]);
const shown = (...options: readonly string[]): string => tmux("capture-pane", "-p", ...options);

/** Waits until the screen holds the words as often as `times`. */
async function waitFor(words: RegExp, times = 1): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((shown().match(words) ?? []).length >= times) return;
    await Bun.sleep(50);
  }
  throw new Error(`${words} did not appear:\n${shown()}`);
}

async function type(text: string): Promise<void> {
  tmux("send-keys", "-l", "--", text);
  await Bun.sleep(100);
  tmux("send-keys", "Enter");
}

/** The project as the first two replies of the demo make it, and the last two as the recording to show. */
function prepare(): void {
  const replies = readFileSync(join(repository, "src/cli/commands/demo-replies.jsonl"), "utf8").trim().split("\n");
  mkdirSync(root);
  for (const [name, lines] of [
    ["first.jsonl", replies.slice(0, 2)],
    ["bmi.jsonl", replies.slice(-2)],
  ] as const)
    writeFileSync(join(place, name), `${lines.join("\n")}\n`);
  run(binary, ["run", "-y", "--ephemeral", "--model", "replay:../first.jsonl", "Create a BMI calculator"]);
  writeFileSync(
    join(root, "test_bmi.py"),
    'from bmi_calculator import categorize\n\nassert categorize(34) == "Obese"\nassert categorize(35) == "Severely Obese"\n',
  );
}

try {
  prepare();
  const size = ["-x", `${screen.columns}`, "-y", `${screen.rows}`];
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  tmux("-f", "/dev/null", "new-session", "-d", ...size, "env", "-i", ...variables, "PS1=$ ", "/bin/sh");
  await type(`clear; PATH=${join(binary, "..")}:$PATH`);
  await Bun.sleep(300);
  await type('clear; pai --model replay:../bmi.jsonl --check "python3 -B test_bmi.py"');
  await waitFor(/^pai>/gm);
  await type(task);
  await waitFor(/say what to change/g);
  await type("y");
  await waitFor(/^pai>/gm, 2);
  const lines = shown("-e").trimEnd().split("\n");
  const start = lines.findIndex((line) => line.includes("pai ") && !line.includes("$ "));
  const picture = lines.slice(Math.max(start, 0)).map((line) => line.replaceAll(place, home));
  writeFileSync(join(repository, "scripts/run.svg"), renderSvg(picture, screen.columns, "A run of pai in a terminal"));
  tmux("send-keys", "C-d");
} finally {
  spawnSync("tmux", ["-L", `pai-screen-${process.pid}`, "kill-server"]);
  rmSync(place, { recursive: true, force: true });
}
