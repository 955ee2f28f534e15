/** Completion scripts: read without complaint by their shells, and right when a shell asks them (R37). */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "../../needs.ts";
import { openPlace, type Place } from "../harness.ts";
import { openScreen } from "../screen.ts";

/** The script of a shell as the binary prints it, in a file; the shell asks the binary, which is called pai beside it. */
async function saveScript(place: Place, shell: string): Promise<string> {
  const { code, stdout, stderr } = await place.pai(["completion", shell]);
  expect([code, stderr]).toEqual([0, ""]);
  const file = join(place.spare, shell === "zsh" ? "_pai" : `pai.${shell}`);
  writeFileSync(file, stdout);
  return file;
}

const withShell = (shell: string) => needs(shell).test.concurrent;

/** What is offered at the end of each line, by every shell alike. */
const lines = [
  ["pai und", ["undo"]],
  ["pai key se", ["set"]],
  ["pai config un", ["unset"]],
  ["pai schema ", ["config", "json", "jsonl", "plan", "review"]],
  ["pai completion z", ["zsh"]],
  ["pai help his", ["history"]],
  ["pai run --max-c", ["--max-calls", "--max-cost"]],
  ["pai undo --max-c", []],
  ["pai run --mode ei", ["eight-step"]],
  ["pai -y --mode tool", ["tool-loop"]],
  ["pai key list --provider ", ["anthropic", "gemini", "local", "mistral", "openai", "openrouter"]],
  ["pai apply pl", ["plan one.json"]],
  ["pai run -f pl", ["plan one.json"]],
  ["pai run -C fold", ["folder/"]],
  ["~/pai und", ["undo"]],
] as const;

const files = { "plan one.json": "{}", "folder/a.txt": "a\n" };

const plainName = (text: string) => text.replace(/\t.*/, "").replaceAll("\\ ", " ");

/** What one process of a shell offers for each line, one after the other: a script for each, and how a shell reads them. */
async function ask(place: Place, shell: string, scripts: readonly string[]): Promise<readonly string[][]> {
  const all = scripts.map((script) => `${script}\necho ----`).join("\n");
  const beside = 'ln -sf "$PAI" "$SPARE/pai"; ln -sf "$PAI" ~/pai; PATH="$SPARE:$PATH"';
  const env = { SCRIPT: all, SPARE: place.spare };
  const { stdout, stderr } = await place.shell(`${beside} ${shell} -c "$SCRIPT"`, { env });
  expect(stderr).toBe("");
  const parts = stdout.split("----\n").slice(0, -1);
  return parts.map((part) => part.split("\n").filter((line) => line !== ""));
}
function askBash(place: Place, file: string, asked: readonly string[]) {
  const complete = `COMP_POINT=\${#COMP_LINE}; COMPREPLY=(); _pai; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const scripts = asked.map((line) => `source '${file}'; COMP_LINE='${line}'; ${complete}`);
  return ask(place, "bash --norc", scripts);
}
function askFish(place: Place, file: string, asked: readonly string[]) {
  const scripts = asked.map((line, at) => `${at === 0 ? `source '${file}'; ` : ""}complete -C '${line}'`);
  return ask(place, "fish --no-config", scripts);
}
const sorted = (offers: readonly string[]) => offers.map(plainName).sort();

withShell("bash")("bash completes commands, words, flags, values and files (R37)", async () => {
  await using place = openPlace([], files);
  const file = await saveScript(place, "bash");
  const own = [
    ["pai run --mode=ei", ["eight-step"]],
    ["pai -m gemini:gemini-2.5-p", ["gemini-2.5-pro"]],
  ] as const;
  const all = [...lines, ...own];
  const offers = await askBash(place, file, [...all.map(([line]) => line)]);
  const found = offers.map((each) => sorted(each).map((name) => (name === "folder" ? "folder/" : name)));
  expect(all.map(([line], at) => [line, found[at]])).toEqual(all.map(([line, offered]) => [line, [...offered]]));
  const registered = await place.shell(`bash --norc -c "source '${file}'; complete -p pai"`);
  expect(registered.stdout).toContain("-F _pai pai");
});

withShell("fish")("fish completes commands, words, flags, values and files (R37)", async () => {
  await using place = openPlace([], files);
  // What the binary offers bash has shown; here is what a shell makes of it.
  const all = [
    ...lines.filter(([line]) => /(?:und|--max-c|apply pl|-C fold|~\/pai und)$/.test(line)),
    ["pai run --mode=ei", ["--mode=eight-step"]],
    ["pai run --file=pl", ["--file=plan one.json"]],
    ["pai run --cwd=fold", ["--cwd=folder/"]],
  ] as const;
  const offers = await askFish(place, await saveScript(place, "fish"), [...all.map(([line]) => line)]);
  expect(all.map(([line], at) => [line, sorted(offers[at] ?? [])])).toEqual(
    all.map(([line, offered]) => [line, [...offered]]),
  );
});

needs("tmux", "zsh").test.concurrent("zsh completes at its prompt (R37)", async () => {
  await using place = openPlace([], files);
  const file = await saveScript(place, "zsh");
  expect(await place.shell(`zsh -n '${file}'`)).toEqual({ code: 0, stdout: "", stderr: "" });
  using screen = openScreen(place, { columns: 100, rows: 24 });
  screen.enter('ln -s "$PAI" ../spare/pai; PATH="$PWD/../spare:$PATH" PS1="z> " exec zsh -f');
  await screen.shell("fpath=($PWD/../spare $fpath); autoload -U compinit; compinit -u -D");
  for (const [typed, shown] of [
    ["pai und", /pai undo/],
    ["pai key ch", /key check/],
    ["pai run --mode ei", /--mode eight-step/],
    ["pai apply pl", /apply plan\\ one\.json/],
    ["pai -m gemini:gemini-2.5-p", /-m gemini:gemini-2\.5-pro/],
  ] as const) {
    screen.press("C-u", ...typed.replaceAll(" ", " Space ").split(" "), "Tab");
    await screen.shows(shown);
  }
});
