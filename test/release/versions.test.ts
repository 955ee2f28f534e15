/** The changelog and the version say the same, in the order of SemVer. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";

const changelog = readFileSync(join(import.meta.dir, "../../CHANGELOG.md"), "utf8");
const headings = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading = ""]) => heading);

test("the changelog lists releases by version and day, newest first, below what is not released (R68)", () => {
  const [first, ...released] = headings;
  expect(first).toBe("Unreleased");
  const versions = released.map((heading) => /^(\d+\.\d+\.\d+\S*) \(\d{4}-\d\d-\d\d\)$/.exec(heading)?.[1] ?? heading);
  expect(versions).toEqual([...versions].sort((a, b) => Bun.semver.order(b, a)));
  expect(Bun.semver.satisfies(version, ">=0.1.0")).toBe(true);
  for (const kind of changelog.matchAll(/^### (.*)$/gm))
    expect(["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]).toContain(kind[1] ?? "");
});
