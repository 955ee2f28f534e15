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
