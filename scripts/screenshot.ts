/** Makes scripts/run.svg, the picture of the README: the binary in tmux with recorded replies. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
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

/** Waits until the screen has the words `times` times. */
async function waitFor(words: RegExp, times = 1): Promise<void> {
  for (let tries = 0; tries < 1200; tries += 1) {
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

/** The project after the first two replies of the demo, and a recording of the last two. */
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

/** Draws the screen from the first line that matches. */
function draw(file: string, title: string, isFirst: (line: string) => boolean): void {
  const lines = shown("-e").trimEnd().split("\n");
  const start = lines.findIndex(isFirst);
  const picture = lines
    .slice(Math.max(start, 0))
    .map((line) => line.replaceAll(place, home).replaceAll(homedir(), "~"));
  writeFileSync(join(repository, file), renderSvg(picture, screen.columns, title));
}

const isBanner = (line: string) => line.includes("pai ") && !line.includes("$ ");
const ask = /say what to change/g;
const pai = 'clear; pai --check "python3 -B test_bmi.py"';

async function drawRun(): Promise<void> {
  await type(`${pai} --model replay:../bmi.jsonl`);
  await waitFor(/^pai>/gm);
  await type(task);
  await waitFor(ask);
  await type("y");
  await waitFor(/^pai>/gm, 2);
  draw("scripts/run.svg", "A run of pai in a terminal", isBanner);
  tmux("send-keys", "C-d");
  await waitFor(/go on with/g);
}

try {
  prepare();
  const size = ["-x", `${screen.columns}`, "-y", `${screen.rows}`];
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  tmux("-f", "/dev/null", "new-session", "-d", ...size, "env", "-i", ...variables, "PS1=$ ", "/bin/sh");
  await type(`clear; PATH=${join(binary, "..")}:$PATH`);
  await Bun.sleep(300);
  await drawRun();
} finally {
  spawnSync("tmux", ["-L", `pai-screen-${process.pid}`, "kill-server"]);
  rmSync(place, { recursive: true, force: true });
}
