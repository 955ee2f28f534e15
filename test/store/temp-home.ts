/** A home for tests of what is kept there. */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { digest } from "../../src/core/digest.ts";
import type { FactOf } from "../../src/core/receipt.ts";
import { openPlaces, type Places } from "../../src/store/places.ts";
import { readProjectFile } from "../../src/store/settings.ts";
import { setTrust } from "../../src/store/trust.ts";
import { newFolder } from "../grounds.ts";

export interface Home {
  readonly places: Places & { readonly configDir: string; readonly stateDir: string };
  readonly root: string;
  readonly config: (name: string) => string;
}

export const makeFolder = () => newFolder("disk", "store");

export function makeHome(): Home {
  const home = makeFolder();
  const root = join(home, "project");
  mkdirSync(root, { mode: 0o700 });
  const { configDir, stateDir } = openPlaces({ HOME: home });
  const places = { home, configDir: configDir ?? "", stateDir: stateDir ?? "" };
  return { places, root, config: (name) => join(places.configDir, name) };
}

export function put(file: string, text: string, mode = 0o600): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode });
  return file;
}

/** Trusts the project's pai.json as it is now. */
export const trustProject = ({ places, root }: Home) =>
  setTrust(places, "roots", root, digest(readProjectFile(root) ?? ""));

/** The first fact of a run. */
export const startedRun = (text: string, run: string, at: string): FactOf<"run.started"> => ({
  ...{ type: "run.started", v: 1, run, at, pai: "1.0", root: "/r", mode: "single-shot" },
  task: { text, files: [], history: [], context: null, earlier: 0 },
  options: {},
  model: { id: "m", window: 1, maxOutputTokens: 1 },
  names: { part: "", last: 0 },
});

export const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8);
