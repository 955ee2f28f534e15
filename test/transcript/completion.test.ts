/** Completion scripts: read without complaint by their shells, and right when a shell asks them (R37). */
import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace, type Place, patience } from "./harness.ts";
import { hasTmux, openScreen } from "./screen.ts";

setDefaultTimeout(patience);

/** The script of a shell as the binary prints it, in a file. */
async function saveScript(place: Place, shell: string): Promise<string> {
  const { code, stdout, stderr } = await place.pai(["completion", shell]);
  expect([code, stderr]).toEqual([0, ""]);
  const file = join(place.spare, shell === "zsh" ? "_pai" : `pai.${shell}`);
  writeFileSync(file, stdout);
  return file;
}

const withShell = (shell: string) => test.concurrent.skipIf(Bun.which(shell) === null);

for (const shell of ["bash", "zsh", "fish"]) {
  withShell(shell)(`the script for ${shell} is valid and says nothing when it is read (R37)`, async () => {
    await using place = openPlace();
    const file = await saveScript(place, shell);
    expect(await place.shell(`${shell} -n '${file}'`)).toEqual({ code: 0, stdout: "", stderr: "" });
  });
}

/** What is offered at the end of each line, by every shell alike. */
const lines = [
  ["pai und", ["undo"]],
  ["pai config set", ["set", "set-default"]],
  ["pai config va", ["validate"]],
  ["pai schema ", ["config", "json", "jsonl", "plan"]],
  ["pai completion z", ["zsh"]],
  ["pai sessions pr", ["prune"]],
  ["pai help his", ["history"]],
  ["pai run --max-c", ["--max-calls", "--max-cost"]],
  ["pai undo --max-c", []],
  ["pai run --mode ei", ["eight-step"]],
  ["pai -y --mode tool", ["tool-loop"]],
  ["pai config list --provider ", ["anthropic", "gemini", "local", "mistral", "openai", "openrouter"]],
  ["pai apply pl", ["plan one.json"]],
  ["pai run -f pl", ["plan one.json"]],
  ["pai run -C fold", ["folder/"]],
] as const;

const files = { "plan one.json": "{}", "folder/a.txt": "a\n" };

const plainName = (text: string) => text.replace(/\t.*/, "").replaceAll("\\ ", " ");
const sorted = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map(plainName)
    .sort();

withShell("bash")("bash completes commands, words, flags, values and files (R37)", async () => {
  await using place = openPlace([], files);
  const file = await saveScript(place, "bash");
  for (const [line, offered] of [...lines, ["pai run --mode=ei", ["eight-step"]]] as const) {
    const script = `source '${file}'; COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _pai; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = await place.shell(`bash --norc -c "$SCRIPT"`, { env: { SCRIPT: script } });
    const found = sorted(stdout).map((name) => (name === "folder" ? "folder/" : name));
    expect([line, found, stderr]).toEqual([line, [...offered], ""]);
  }
  const registered = await place.shell(`bash --norc -c "source '${file}'; complete -p pai"`);
  expect(registered.stdout).toContain("-F _pai pai");
});

withShell("fish")("fish completes commands, words, flags, values and files (R37)", async () => {
  await using place = openPlace([], files);
  const file = await saveScript(place, "fish");
  for (const [line, offered] of lines) {
    const { stdout } = await place.shell(`fish --no-config -c "source '${file}'; complete -C '${line}'"`);
    expect([line, sorted(stdout)]).toEqual([line, [...offered]]);
  }
});

test.concurrent.skipIf(!hasTmux || Bun.which("zsh") === null)("zsh completes at its prompt (R37)", async () => {
  await using place = openPlace([], files);
  await saveScript(place, "zsh");
  using screen = openScreen(place, { columns: 100, rows: 24 });
  screen.enter('ln -s "$PAI" ../spare/pai; PATH="$PWD/../spare:$PATH" PS1="z> " exec zsh -f');
  await screen.shell("fpath=($PWD/../spare $fpath); autoload -U compinit; compinit -u -D");
  for (const [typed, shown] of [
    ["pai und", /pai undo/],
    ["pai config val", /config validate/],
    ["pai run --mode ei", /--mode eight-step/],
    ["pai apply pl", /apply plan\\ one\.json/],
  ] as const) {
    screen.press("C-u", ...typed.replaceAll(" ", " Space ").split(" "), "Tab");
    await screen.shows(shown);
  }
});

test.concurrent("an unknown shell is a usage error that names the known ones (R24)", async () => {
  await using place = openPlace();
  const { code, stdout, stderr } = await place.pai(["completion", "bsh"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/bash, zsh, fish\n {2}did you mean: pai completion bash\?/);
});
