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

export type Screen = ReturnType<typeof openScreen>;

/** Opens a shell in the place's project; `$PAI` is the binary. */
export function openScreen(place: Place, size: { readonly columns: number; readonly rows: number }) {
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
  /** Types text, then presses Enter. */
  function enter(line: string): void {
    tmux("send-keys", "-l", "--", line);
    tmux("send-keys", "Enter");
  }
  /** Waits until the text holds the pattern as often as `times`. Throws with the text after a minute. */
  async function shows(pattern: RegExp, times = 1): Promise<void> {
    const all = new RegExp(pattern, `${pattern.flags.replace("g", "")}g`);
    // Within the two minutes of a test, however long tmux takes to answer.
    const until = performance.now() + 60_000;
    for (let wait = 20; performance.now() < until; wait = Math.min(250, wait * 2)) {
      if ((text().match(all) ?? []).length >= times) return;
      await Bun.sleep(wait);
    }
    throw new Error(`${pattern} was not shown ${times} times:\n${text()}`);
  }
  /** Enters text and waits for what it brings, as `shows` does. */
  function say(line: string, shown: RegExp, times?: number): Promise<void> {
    enter(line);
    return shows(shown, times);
  }
  return {
    ...{ enter, shows, say },
    /** Has the shell run a line, also one typed before its prompt stands, and waits until it has. */
    shell(line: string): Promise<void> {
      ran += 1;
      return say(`${line}; echo ran $((${ran}))`, new RegExp(`ran ${ran}$`, "m"));
    },
    /** Presses keys by tmux name: "C-c", "Enter". */
    press: (...keys: readonly string[]) => void tmux("send-keys", ...keys),
    /** Pastes as a terminal does, marked where the program asked for it. */
    paste(text: string): void {
      tmux("set-buffer", "--", text);
      tmux("paste-buffer", "-p", "-r");
    },
    resize: ({ columns, rows }: typeof size) => void tmux("resize-window", "-x", `${columns}`, "-y", `${rows}`),
    /** Keeps every byte that is printed from now on in a file. */
    record: (file: string) => void tmux("pipe-pane", "-o", `cat > '${file}'`),
    /** Everything printed so far, also what has scrolled away. */
    text,
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

/** The binary with these words in a terminal of 110 columns, as bytes: for the moment at which something is printed. */
export function openRaw(place: Place, words: readonly string[] = [], env: Place["env"] = {}) {
  let shown = "";
  const waiting = new Set<() => void>();
  const child = Bun.spawn([findBinary(), ...words], {
    cwd: place.root,
    env: { ...place.env, TERM: "xterm", ...env },
    terminal: {
      cols: 110,
      rows: 24,
      data(_, bytes) {
        shown += new TextDecoder().decode(bytes);
        for (const look of waiting) look();
      },
    },
  });
  return {
    /** When the text stood in what was printed so far (performance.now()). */
    sees: (text: string | RegExp) =>
      new Promise<number>((resolve) => {
        const look = () => {
          if (typeof text === "string" ? !shown.includes(text) : !text.test(shown)) return;
          waiting.delete(look);
          resolve(performance.now());
        };
        waiting.add(look);
        look();
      }),
    /** Everything printed so far. */
    shown: () => shown,
    type: (text: string) => void child.terminal?.write(text),
    /** Hangs up. */
    close: () => child.terminal?.close(),
    exited: child.exited,
  };
}
