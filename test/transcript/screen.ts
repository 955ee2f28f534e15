/** A terminal of its own (tmux) that a test types into and reads. */
import { expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "../needs.ts";
import { findBinary, type Place } from "./harness.ts";

/** A test that needs a terminal; skipped where there is no tmux. */
export const inTerminal = needs("tmux").test.concurrent;

/** The prompt of a session. */
export const ready = /^pai> /m;

let opened = 0;

export interface Screen extends Disposable {
  /** Types text, then presses Enter. */
  readonly enter: (text: string) => void;
  /** Enters text and waits for what it brings, as `shows` does. */
  readonly say: (text: string, shown: RegExp, times?: number) => Promise<void>;
  /** Has the shell run a line, also one typed before its prompt stands, and waits until it has. */
  readonly shell: (line: string) => Promise<void>;
  /** Presses keys by tmux name: "C-c", "Enter". */
  readonly press: (...keys: readonly string[]) => void;
  /** Pastes as a terminal does, marked where the program asked for it. */
  readonly paste: (text: string) => void;
  readonly resize: (size: { readonly columns: number; readonly rows: number }) => void;
  /** Keeps every byte that is printed from now on in a file. */
  readonly record: (file: string) => void;
  /** Everything printed so far, also what has scrolled away. */
  readonly text: () => string;
  /** Waits until the text holds the pattern as often as `times`. Throws with the text after a minute. */
  readonly shows: (pattern: RegExp, times?: number) => Promise<void>;
}

/** Opens a shell in the place's project; `$PAI` is the binary. */
export function openScreen(place: Place, size: { readonly columns: number; readonly rows: number }): Screen {
  opened += 1;
  const socket = `pai-${process.pid}-${opened}`;
  const tmux = (...args: readonly string[]) => {
    const done = spawnSync("tmux", ["-L", socket, "-f", "/dev/null", ...args], { encoding: "utf8", cwd: place.root });
    if (done.status !== 0) throw new Error(`tmux ${args[0]}: ${done.stderr}`);
    return done.stdout;
  };
  const variables = Object.entries({
    ...place.env,
    PAI: findBinary(),
    TERM: "screen-256color",
    LANG: "C.UTF-8",
    PS1: "$ ",
  });
  const shell = ["env", "-i", ...variables.map(([name, value]) => `${name}=${value}`), "/bin/sh"];
  tmux("new-session", "-d", "-x", `${size.columns}`, "-y", `${size.rows}`, ...shell);
  tmux("set-option", "-g", "history-limit", "5000");
  const text = () => tmux("capture-pane", "-p", "-J", "-S", "-3000");
  let ran = 0;
  return {
    enter(line) {
      tmux("send-keys", "-l", "--", line);
      tmux("send-keys", "Enter");
    },
    say(line, shown, times) {
      this.enter(line);
      return this.shows(shown, times);
    },
    shell(line) {
      ran += 1;
      return this.say(`${line}; echo ran $((${ran}))`, new RegExp(`ran ${ran}$`, "m"));
    },
    press: (...keys) => void tmux("send-keys", ...keys),
    paste(text) {
      tmux("set-buffer", "--", text);
      tmux("paste-buffer", "-p", "-r");
    },
    resize: ({ columns, rows }) => void tmux("resize-window", "-x", `${columns}`, "-y", `${rows}`),
    record: (file) => void tmux("pipe-pane", "-o", `cat > '${file}'`),
    text,
    async shows(pattern, times = 1) {
      const all = new RegExp(pattern, `${pattern.flags.replace("g", "")}g`);
      // Within the two minutes of a test, however long tmux takes to answer.
      for (
        let [until, wait] = [performance.now() + 60_000, 20];
        performance.now() < until;
        wait = Math.min(250, wait * 2)
      ) {
        if ((text().match(all) ?? []).length >= times) return;
        await Bun.sleep(wait);
      }
      throw new Error(`${pattern} was not shown ${times} times:\n${text()}`);
    },
    [Symbol.dispose]() {
      const read = (command: string, ...args: readonly string[]) =>
        spawnSync(command, args, { encoding: "utf8" }).stdout.trim();
      const shell = read("tmux", "-L", socket, "list-panes", "-F", "#{pane_pid}");
      const children = read("cat", `/proc/${shell}/task/${shell}/children`).split(" ").filter(Boolean);
      spawnSync("tmux", ["-L", socket, "kill-server"]);
      // What the shell ran still writes while it ends, and the place is read next.
      for (const until = performance.now() + 5_000; performance.now() < until; Bun.sleepSync(5)) {
        if (!children.some((pid) => existsSync(`/proc/${pid}`))) return;
      }
    },
  };
}

/** Opens a terminal and runs a command in it, between two looks at the line settings. */
export function openCommand(place: Place, command: string, size = { columns: 80, rows: 24 }): Screen {
  const screen = openScreen(place, size);
  screen.enter(`stty -a > ../spare/before; ${command}; echo "ended with $?"; stty -a > ../spare/after`);
  return screen;
}

/** Opens a terminal and a session in it, and waits for its prompt. */
export async function openSession(place: Place, command = '"$PAI"', size = { columns: 80, rows: 24 }): Promise<Screen> {
  const screen = openCommand(place, command, size);
  await screen.shows(ready);
  return screen;
}

/** The line settings before and after a session. */
export const sttyOf = ({ spare }: Place, when: "before" | "after"): string => readFileSync(join(spare, when), "utf8");

/** The session has ended with this code, and the terminal is as it was. */
export async function expectEnd(place: Place, screen: Screen, code = 0): Promise<void> {
  await screen.shows(new RegExp(`ended with ${code}`));
  await screen.shell("true");
  expect(sttyOf(place, "after")).toBe(sttyOf(place, "before"));
}

/** Leaves a session at its prompt. */
export async function leave(place: Place, screen: Screen): Promise<void> {
  screen.enter("exit");
  await expectEnd(place, screen);
}

/** The text of the last message of the newest request. */
export function lastAsked({ gemini }: Place): string {
  const { contents } = JSON.parse(gemini.requests.at(-1)?.body ?? "{}");
  return contents
    .at(-1)
    .parts.map(({ text = "" }) => text)
    .join("");
}
