/** Folders of the user, from any environment. */
import { expect, test } from "bun:test";
import { openPlaces } from "../../src/store/places.ts";

test("keeps settings and state in the XDG folders (R39)", () => {
  expect(openPlaces({ HOME: "/h" })).toEqual({
    home: "/h",
    configDir: "/h/.config/pai-code",
    stateDir: "/h/.local/state/pai-code",
  });
  const xdg = { HOME: "/h", XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" };
  expect(openPlaces(xdg)).toEqual({ home: "/h", configDir: "/c/pai-code", stateDir: "/s/pai-code" });
});

test("ignores relative folders (R39) and prefers PAI_STATE_DIR", () => {
  const env = { HOME: "/h", XDG_CONFIG_HOME: "c", XDG_STATE_HOME: "../s", PAI_STATE_DIR: "/p" };
  expect(openPlaces(env)).toEqual({ home: "/h", configDir: "/h/.config/pai-code", stateDir: "/p" });
});

test("works without HOME (R45)", () => {
  expect(openPlaces({}, () => null)).toEqual({ home: null, configDir: null, stateDir: null });
  expect(openPlaces({}, () => "/root").configDir).toBe("/root/.config/pai-code");
});
