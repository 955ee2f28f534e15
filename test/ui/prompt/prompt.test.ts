/** Questions and messages at a real terminal (a PTY). */
import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "../../grounds.ts";

const ui = join(import.meta.dir, "../../../src/ui");
const folder = newFolder("disk", "prompt");
const program = join(folder, "program.ts");

beforeAll(() => {
  writeFileSync(
    program,
    `import { writeSync } from "node:fs";
import { createPrompter } from "${ui}/prompt/prompt.ts";
import { chooseStyle } from "${ui}/style.ts";
const style = chooseStyle({ tty: true, env: { TERM: "xterm", NO_COLOR: "1" }, plain: false });
const stop = new AbortController();
const err = (text) => writeSync(2, text);
const prompter = createPrompter({ isStdinKeyboard: true, err, style, size: () => ({ columns: process.stderr.columns, rows: 24 }), kitty: false, signal: stop.signal });
const show = (value) => err("=> " + JSON.stringify(value) + "\\n");
const acts = {
  plan: async () => show(await prompter.ask({ kind: "plan", text: "rm \\x1b[31m" })),
  hidden: async () => show(await prompter.askHidden("key: ")),
  owner: async () => show(await prompter.askHidden("API key of gemini, openai (not shown): ")),
  crash: async () => {
    // As pai does: while a module still waits, Bun reports the mistake and goes on waiting.
    process.on("uncaughtException", (error) => {
      err(error.message + "\\n");
      process.exit(1);
    });
    setTimeout(() => {
      throw new Error("a mistake");
    }, 100);
    await prompter.readMessage({ prompt: "pai> ", history: [], complete: async () => null, keep: () => {} });
  },
  abort: async () => {
    setTimeout(() => stop.abort(new Error("time is up")), 100);
    await prompter.ask({ kind: "plan", text: "" });
  },
};
try {
  await acts[process.argv[2]]();
} catch (thrown) {
  err("threw " + (thrown.code ?? thrown.message) + "\\n");
}
err("bye\\n");
`,
  );
});

/** Types each text when the one before it is on the screen: [wait for, then type] pairs. Returns all that was shown. */
const type = (act: string, ...steps: readonly Step[]): Promise<string> => typeAt(80, act, ...steps);

type Step = readonly [seen: string, keys: string];

/** The same in a terminal of another width. */
async function typeAt(cols: number, act: string, ...steps: readonly Step[]): Promise<string> {
  let screen = "";
  let read = 0;
  const left = [...steps];
  const child = Bun.spawn([process.execPath, program, act], {
    env: { PATH: "/usr/bin:/bin", TERM: "xterm" },
    terminal: {
      cols,
      rows: 24,
      data(terminal, bytes) {
        screen += new TextDecoder().decode(bytes);
        const [seen, keys] = left[0] ?? ["", ""];
        const at = screen.indexOf(seen, read);
        if (keys === "" || at === -1) return;
        left.shift();
        read = at + seen.length;
        terminal.write(keys);
      },
    },
  });
  await child.exited;
  await Bun.sleep(20);
  expect(screen).toEndWith("bye\r\n");
  return screen;
}

test("a prompt that is wider than the terminal breaks between words", async () => {
  const screen = await typeAt(30, "plan", ["change: ", "pakai x\r"]);
  expect(screen).toMatch(/y, n, d \(show the diff before\r+\n/);
  expect(screen).toContain('=> {"feedback":"pakai x"}');
  const narrow = await typeAt(12, "plan", ["change:", "y\r"]);
  expect(narrow).toContain('=> "yes"');
});

test("a paste does not answer by itself, though it ends in a line feed", async () => {
  expect(await type("plan", ["change: ", "\x1b[200~y\n\x1b[201~\x03"])).toContain("threw interrupted");
});

test("end of input is a no, Ctrl+C an interrupt, an abort ends the question", async () => {
  expect(await type("plan", ["change: ", "\x04"])).toContain('=> "no"');
  expect(await type("plan", ["change: ", "\x03"])).toContain("threw interrupted");
  expect(await type("abort")).toContain("threw time is up");
});

test("Escape is a no, whatever was typed; the keys that begin with its byte are not Escape", async () => {
  expect(await type("plan", ["change: ", "yes\x1b"])).toContain('=> "no"');
  expect(await type("plan", ["change: ", "\x1b[27u"])).toContain('=> "no"');
  expect(await type("hidden", ["key: ", "sek\x1b"])).toContain("=> null");
  const keys = "yes\x1b[A\x1bO\x1b[1;5D\x1bx\x1b[200~\x1b[201~\x12\x1by\r";
  expect(await type("plan", ["change: ", keys])).toContain('=> "yes"');
});

test("the question for a key breaks between words, and its stars stand in one row", async () => {
  expect(await typeAt(34, "owner", ["> ", "sekret\r"])).toMatch(
    /API key of gemini, openai \(not\r+\nshown\):\r+\n> \*/,
  );
  expect(await typeAt(50, "owner", ["> ", "sekret\r"])).toMatch(/openai \(not shown\):\r+\n> \*{6}/);
});

test("a key is not shown", async () => {
  const screen = await type("hidden", ["key: ", "sekrex\x7ft\r"]);
  expect(screen.split("=>")[0]).not.toContain("sek");
  expect(screen).toContain('=> "sekret"');
});

test("a crash in the middle of a message leaves the terminal as it was", async () => {
  let screen = "";
  const show = (_: unknown, bytes: Uint8Array) => {
    screen += new TextDecoder().decode(bytes);
  };
  const line = `stty -a > before; "$0" "$1" crash; stty -a > after; cmp before after && echo the same`;
  const child = Bun.spawn(["/bin/sh", "-c", line, process.execPath, program], {
    cwd: folder,
    env: { PATH: "/usr/bin:/bin", TERM: "xterm-kitty" },
    terminal: { cols: 80, rows: 24, data: show },
  });
  await child.exited;
  await Bun.sleep(20);
  expect(screen).toContain("a mistake");
  expect(screen).toEndWith("the same\r\n");
  expect(screen.lastIndexOf("\x1b[?2004l")).toBeGreaterThan(screen.lastIndexOf("\x1b[?2004h"));
});
