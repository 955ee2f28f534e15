/** Folders of the user, from any environment. */
import { expect, test } from "bun:test";
import { findPlaces } from "../../src/store/places.ts";

test("keeps settings and state in the XDG folders (R39)", () => {
  expect(findPlaces({ HOME: "/h" }, { homedir: null })).toEqual({
    home: "/h",
    configDir: "/h/.config/pai-code",
    stateDir: "/h/.local/state/pai-code",
  });
  const xdg = { HOME: "/h", XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" };
  expect(findPlaces(xdg, { homedir: null })).toEqual({ home: "/h", configDir: "/c/pai-code", stateDir: "/s/pai-code" });
});

test("ignores relative folders (R39) and prefers PAI_STATE_DIR", () => {
  const env = { HOME: "/h", XDG_CONFIG_HOME: "c", XDG_STATE_HOME: "../s", PAI_STATE_DIR: "/p" };
  expect(findPlaces(env, { homedir: null })).toEqual({ home: "/h", configDir: "/h/.config/pai-code", stateDir: "/p" });
});

test("works without HOME (R45)", () => {
  expect(findPlaces({}, { homedir: null })).toEqual({ home: null, configDir: null, stateDir: null });
  expect(findPlaces({}, { homedir: "/root" }).configDir).toBe("/root/.config/pai-code");
});
