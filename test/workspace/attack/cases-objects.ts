/** Attacks by what stands there: second names, pipes, devices, odd modes, files in the way: S24 to S65. */
import { chmodSync, linkSync } from "node:fs";
import { join } from "node:path";
import type { Case } from "./drive.ts";
import { looksAt, nothing, only, run } from "./expect.ts";

export const objects: readonly Case[] = [
  {
    id: "S24",
    build: (at) => linkSync(join(at.outside, "plain"), at.place("x")),
    paths: ["x"],
    expected: "contained",
    actions: only({
      WRITE: "contained",
      MODIFY: "contained",
      RM: "contained",
      TOUCH: "contained",
      "MV from": "contained",
    }),
  },
  {
    id: "S25",
    build: (at) => {
      linkSync(join(at.outside, "config/credentials.json"), at.place("notes.json"));
      linkSync(join(at.outside, "state/audit"), at.place("audit.txt"));
    },
    paths: ["notes.json", "audit.txt"],
    expected: "refused",
    actions: { ...only({ READ: "refused", WRITE: "refused", MODIFY: "refused", "MV from": "refused", RM: "refused" }) },
  },
  {
    id: "S25",
    build: (at) => linkSync(join(at.outside, "config/credentials.json"), at.place("notes.json")),
    paths: [""],
    expected: "contained",
    actions: only(looksAt),
  },
  {
    id: "S33",
    build: (at) => run(["mkfifo", at.place("p")]),
    paths: ["p", "p/x"],
    expected: "refused",
    actions: { "MV to": "refused" },
  },
  {
    id: "S33",
    build: (at) => run(["mkfifo", at.place("p")]),
    paths: [""],
    expected: "contained",
    actions: only(looksAt),
  },
  {
    id: "S34",
    build: (at) => run(["mknod", at.place("null"), "c", "1", "3"]),
    paths: ["null", "null/x"],
    expected: "refused",
    root: true,
  },
  {
    id: "S34",
    build: (at) => Bun.listen({ unix: at.place("s"), socket: { data() {} } }).unref(),
    paths: ["s"],
    expected: "refused",
  },
  {
    id: "S38",
    build(at) {
      at.file("tool", "run ANARY-7f3a\n");
      chmodSync(at.place("tool"), 0o4755);
    },
    paths: ["tool"],
    expected: "contained",
    actions: only({ WRITE: "contained", MODIFY: "contained" }),
  },
  {
    id: "S39",
    build(at) {
      at.file("frozen", "run ANARY-7f3a\n");
      chmodSync(at.place("frozen"), 0o444);
    },
    paths: ["frozen"],
    expected: "contained",
    actions: only({ WRITE: "contained", MODIFY: "contained" }),
  },
  {
    id: "S64",
    build: nothing,
    paths: ["ok"],
    expected: "contained",
    actions: only({ TOUCH: "contained" }),
  },
  { id: "S65", build: nothing, paths: ["ok/x", "ok/x/y"], expected: "refused", actions: { RM: "refused" } },
  {
    id: "S65",
    build: (at) => at.file("d/e", "fine\n"),
    paths: ["d", "d/e"],
    expected: "refused",
    actions: only({ "MV to": "refused" }),
  },
];
