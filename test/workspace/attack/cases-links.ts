/** Attacks by links: S17 to S32. */
import { openSync } from "node:fs";
import { join } from "node:path";
import type { Case } from "./drive.ts";
import { looksAt, only } from "./expect.ts";

export const links: readonly Case[] = [
  {
    id: "S17",
    build: (at) => at.link("link", "../secret"),
    paths: ["link"],
    expected: "refused",
    actions: { RM: "contained" },
  },
  {
    id: "S18",
    build: (at) => at.link("d", "../dir"),
    paths: ["d/f", "d/new", "d/x/y"],
    expected: "refused",
  },
  {
    id: "S18",
    build: (at) => at.link("a/b/d", "../../../dir"),
    paths: ["a/b/d/f", "a/b/d/new", "a/b/d/../d/f"],
    expected: "refused",
  },
  {
    id: "S19",
    build: (at) => {
      at.file(".env");
      at.link("notes", ".env");
    },
    paths: ["notes"],
    expected: "refused",
    actions: { RM: "contained" },
  },
  {
    id: "S20",
    build: (at) => at.link("x", "../authorized_keys"),
    paths: ["x"],
    expected: "refused",
    actions: { RM: "contained" },
  },
  {
    id: "S21",
    build: (at) => {
      at.link("m", "/proc/self/root");
      at.link("n", `/proc/self/fd/${openSync(at.outside, "r")}`);
      at.link("o", `/dev/fd/${openSync(join(at.outside, "dir"), "r")}`);
    },
    paths: ({ outside }) => [`m${outside}/secret`, "n/secret", "o/f", "n/new", "m/proc/self/environ"],
    expected: "refused",
  },
  {
    id: "S26",
    build: (at) => {
      at.link("a", "b");
      at.link("b", "a");
      at.link("l0", "../secret");
      for (let n = 1; n <= 38; n += 1) at.link(`l${n}`, `l${n - 1}`);
      at.link("self", ".");
    },
    paths: ["a", "a/x", "l38"],
    expected: "refused",
    actions: { RM: null },
  },
  {
    id: "S27",
    build: (at) => {
      at.link("out", "../dir");
      at.link("sub/out", "../../dir");
      at.link("sub/loop", "..");
    },
    paths: ["", "sub"],
    expected: "contained",
    actions: only(looksAt),
  },
  {
    id: "S28",
    build: (at) => {
      at.link("out", "../dir");
      at.link("sub/out", "../../dir");
      at.link("sub/secret", "../../secret");
    },
    paths: ["out", "sub"],
    expected: "contained",
    actions: only({ RM: "contained" }),
  },
  {
    id: "S30",
    build: (at) => at.link(".pai_history", "../dir"),
    paths: [".pai_history", ".pai_history/f"],
    expected: "refused",
  },
  {
    id: "S31",
    build: (at) => at.link("video.mp4", "../config/credentials.json"),
    paths: ["video.mp4"],
    expected: "refused",
    actions: { RM: "contained" },
  },
  {
    id: "S32",
    build: (at) => at.file(".git", "gitdir: ../dir CANARY-7f3a\n"),
    paths: [".git", ".git/config"],
    expected: "refused",
  },
];
