/** Turns and rests of keys, shared by runs. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { endRests, openKeyState } from "../../src/store/key-state.ts";
import { makeHome, modeOf, put } from "./temp-home.ts";

test("a missing or damaged file is empty", () => {
  const { places } = makeHome();
  const state = openKeyState(places.stateDir);
  expect(state.load()).toEqual({ cursor: {}, resting: {} });
  put(join(places.stateDir, "keys.json"), '{"cursor": 3');
  expect(state.load()).toEqual({ cursor: {}, resting: {} });
});

test("keeps what another run added; the later rest wins", () => {
  const { places } = makeHome();
  const [first, second] = [openKeyState(places.stateDir), openKeyState(places.stateDir)];
  first.save({ cursor: { gemini: "a" }, resting: { "gemini/a": 50 } });
  second.save({ cursor: { gemini: "b" }, resting: { "gemini/a": 20, "gemini/b": 70 } });
  expect(first.load()).toEqual({ cursor: { gemini: "b" }, resting: { "gemini/a": 50, "gemini/b": 70 } });
  expect(modeOf(join(places.stateDir, "keys.json"))).toBe("600");
  endRests(places.stateDir, "gemini");
  expect(first.load()).toEqual({ cursor: { gemini: "b" }, resting: {} });
});

test("without a place to write, turns live in this process (R45)", () => {
  for (const folder of [null, "/proc/none"]) {
    const state = openKeyState(folder);
    state.save({ cursor: { gemini: "a" }, resting: {} });
    state.save({ cursor: {}, resting: { "gemini/a": 1 } });
    expect(state.load()).toEqual({ cursor: { gemini: "a" }, resting: { "gemini/a": 1 } });
  }
});

test("two processes at once never corrupt the file nor lose each other's keys", async () => {
  const { places } = makeHome();
  const program = `
    import { openKeyState } from ${JSON.stringify(join(import.meta.dir, "../../src/store/key-state.ts"))};
    const [folder, name] = process.argv.slice(-2);
    const state = openKeyState(folder);
    for (let n = 0; n < 40; n += 1) state.save({ cursor: { [name]: String(n) }, resting: { [name + "/" + n]: n + 1 } });
  `;
  const runs = ["openai", "anthropic"].map((name) =>
    Bun.spawn([process.execPath, "-e", program, places.stateDir, name], { stderr: "inherit" }),
  );
  expect(await Promise.all(runs.map(({ exited }) => exited))).toEqual([0, 0]);
  const { cursor, resting } = openKeyState(places.stateDir).load();
  expect([cursor, Object.keys(resting).length]).toEqual([{ openai: "39", anthropic: "39" }, 80]);
});
