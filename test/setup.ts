/**
 * What every process of tests begins with: a place for folders, one seed for all property tests (PAI_TEST_SEED), and two
 * minutes for every test, as a busy machine takes its time.
 */
import { plugin } from "bun";
import fc from "fast-check";
import { needGrounds } from "./grounds.ts";

// Bun knows a time for all tests of a file only in that file.
const patience = 'import { setDefaultTimeout as haveTime } from "bun:test"; haveTime(120_000); ';
plugin({
  name: "patience",
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => ({
      loader: "ts",
      contents: patience + (await Bun.file(path).text()),
    }));
  },
});

needGrounds();
const seed = Number(process.env["PAI_TEST_SEED"] ?? "");
if (Number.isSafeInteger(seed) && seed !== 0) fc.configureGlobal({ seed });
