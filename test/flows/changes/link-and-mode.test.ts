/** LINK and MODE: planned word by word, judged, shown in the diff, and undone. */
import { expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { finish, modify, planTo, write } from "../plans.ts";
import { makeFolder, openHere, playIn } from "../scripted.ts";

const modeAt = (root: string, path: string) => (statSync(join(root, path)).mode & 0o777).toString(8);

test("a link and modes are made as planned, whatever the umask says, shown in the diff, and taken back", async () => {
  const place = makeFolder({ "sites-available/shop": "server;\n", "run.sh": "#!/bin/sh\n", "log.txt": "l\n" });
  const steps = ["LINK sites-enabled/shop -> sites-available/shop", "MODE run.sh -> 755", "MODE log.txt -> 0664"];
  const script = `LINK::sites-enabled/shop::../sites-available/shop\nMODE::run.sh::755\nMODE::log.txt::664\n${finish()}`;
  const ran = await playIn(place, { lines: [planTo(...steps), script] });
  expect([ran.outcome.error, ran.outcome.actions]).toEqual([null, { done: 3, failed: 0, refused: 0 }]);
  expect(readlinkSync(join(place.root, "sites-enabled/shop"))).toBe("../sites-available/shop");
  expect([modeAt(place.root, "run.sh"), modeAt(place.root, "log.txt")]).toEqual(["755", "664"]);
  expect(ran.outcome.diff).toContain("old mode 100644\nnew mode 100755\n");
  expect(ran.outcome.diff).toContain("old mode 100644\nnew mode 100664\n");
  expect(ran.outcome.diff).toContain("new file mode 120000\n");
});

test("a file that is written where the same reply moved or removed one keeps its mode, and none is told", async () => {
  const names = ["notes.txt", "key.txt", "run.sh"];
  const place = makeFolder({ "notes.txt": "a\n", "key.txt": "k\n", "run.sh": "#!/bin/sh\n" });
  chmodSync(join(place.root, "key.txt"), 0o600);
  chmodSync(join(place.root, "run.sh"), 0o755);
  const anew = ["key.txt", "run.sh"].flatMap((path) => [`RM ${path}`, `WRITE ${path}`]);
  const script = `MV::notes.txt::old.txt\n${write("notes.txt", "b\n")}RM::key.txt\n${write("key.txt", "l\n")}RM::run.sh\n`;
  const planned = planTo("MV notes.txt -> old.txt", "WRITE notes.txt", ...anew);
  const lines = [planned, `${script}${write("run.sh", "#!/bin/sh\ntrue\n")}${finish()}`];
  const ran = await playIn(place, { lines, options: { allowDelete: true } });
  expect(ran.outcome.code).toBe(0);
  expect(ran.eventsOf("changes.proposed")[0]?.diff).not.toMatch(/^(?:old|new) mode/m);
  expect(names.map((path) => modeAt(place.root, path))).toEqual(["644", "600", "755"]);
});

test("a yes to a first answer's plan and diff is the yes to its link and mode, too", async () => {
  const place = makeFolder({ "available/shop": "server;\n", "run.sh": "#!/bin/sh\n" });
  const script = `FILES: run.sh\nLINK::enabled/shop::../available/shop\nMODE::run.sh::755\n${finish()}`;
  const options = { atOnce: "auto", interactive: true } as const;
  const { outcome, questions, requests } = await playIn(place, { lines: [script], options, answers: ["yes"] });
  expect([outcome.code, questions.map(({ kind }) => kind), requests.length]).toEqual([0, ["plan"], 1]);
  expect(modeAt(place.root, "run.sh")).toBe("755");
  expect(readlinkSync(join(place.root, "enabled/shop"))).toBe("../available/shop");
});

test("undo gives the modes back and removes the link", async () => {
  const place = makeFolder({ "a.sh": "#!/bin/sh\n", "keep/b.txt": "b\n" });
  chmodSync(join(place.root, "a.sh"), 0o640);
  const steps = ["MODE a.sh -> 755", "LINK l -> keep"];
  await playIn(place, { lines: [planTo(...steps), `MODE::a.sh::755\nLINK::l::keep\n${finish()}`] });
  expect([modeAt(place.root, "a.sh"), readlinkSync(join(place.root, "l"))]).toEqual(["755", "keep"]);
  await (await openHere(place)).history.undo(null, { dryRun: false });
  expect([modeAt(place.root, "a.sh"), existsSync(join(place.root, "l"))]).toEqual(["640", false]);
});

test("what the plan does not say word by word is refused: another mode, another target, another file", async () => {
  const place = makeFolder({ "a.sh": "a\n", "b.sh": "b\n" });
  const script = `MODE::a.sh::777\nMODE::b.sh::755\nLINK::c::b.sh\nMODE::a.sh::755\n${modify("b.sh", ["b\n", "B\n"])}${finish()}`;
  const ran = await playIn(place, { lines: [planTo("MODE a.sh -> 755", "MODIFY b.sh"), script, finish()] });
  expect(ran.eventsOf("call.finished").map(({ text }) => text)).toEqual([
    "the plan does not promise to set a.sh to 777",
    "the plan does not promise to set b.sh to 755",
    "the plan does not promise to link c to b.sh",
    "set",
    "1 edit",
  ]);
  expect([modeAt(place.root, "a.sh"), modeAt(place.root, "b.sh")]).toEqual(["755", "644"]);
});

const bad: readonly (readonly [step: string, why: RegExp])[] = [
  ["MODE a.sh -> 4755", /4755 is no mode: three octal digits/],
  ["MODE a.sh -> 1777", /1777 is no mode/],
  ["MODE a.sh -> u+x", /u\+x is no mode/],
  ["MODE sub -> 755", /sub is a folder: only files/],
  ["MODE none -> 755", /none does not exist/],
  ["LINK l -> ../../etc/passwd", /leads out of the project/],
  ["LINK l -> nowhere", /nowhere does not exist/],
  ["LINK l -> .env", /\.env/],
  ["LINK a.sh -> b.sh", /a\.sh exists: nothing is linked over it/],
  ["LINK l -> AGENTS.md", /l may not lead to AGENTS\.md: /],
];

test.each(bad)("%s is refused in words", async (step, why) => {
  const place = makeFolder({ "a.sh": "a\n", "b.sh": "b\n", "sub/c": "c\n", ".env": "A=1\n", "AGENTS.md": "all\n" });
  const [action = "", target = "", , value = ""] = step.split(" ");
  const script = `${action}::${target}::${value}\n${finish()}`;
  const ran = await playIn(place, { lines: [planTo(step), script, script] });
  const said = [...ran.eventsOf("call.finished").map(({ text }) => text), ran.outcome.error?.message ?? ""].join("\n");
  expect(said).toMatch(why);
  expect(ran.outcome.error?.hint ?? "").not.toContain("--only");
  expect(ran.outcome.changes).toEqual([]);
});

test("a write-protected file is changed only when it is named, and stays so", async () => {
  const place = makeFolder({ deploy: "old\n" });
  chmodSync(join(place.root, "deploy"), 0o440);
  const lines = [planTo("MODIFY deploy"), modify("deploy", ["old\n", "new\n"]) + finish()];
  const refused = await playIn(place, { lines, options: { interactive: false } });
  expect([refused.outcome.calls.made, refused.outcome.error]).toMatchObject([
    1,
    { message: "deploy: write-protected", hint: "allow it with --allow deploy" },
  ]);
  const ran = await playIn(place, { lines, options: { interactive: false, allow: ["deploy"] } });
  expect([ran.outcome.error, readFileSync(join(place.root, "deploy"), "utf8")]).toEqual([null, "new\n"]);
  expect(modeAt(place.root, "deploy")).toBe("440");
});

test("a closed file that a person opened is never made wider", async () => {
  const place = makeFolder({ ".env": "A=1\n" });
  chmodSync(join(place.root, ".env"), 0o640);
  const run = (mode: string) =>
    playIn(place, {
      lines: [planTo(`MODE .env -> ${mode}`), `MODE::.env::${mode}\n${finish()}`, finish()],
      options: { allow: [".env"] },
    });
  expect((await run("644")).outcome.ok).toBe(false);
  expect(modeAt(place.root, ".env")).toBe("640");
  expect((await run("600")).outcome.error).toBeNull();
  expect(modeAt(place.root, ".env")).toBe("600");
});

test("a new script may be run where those beside it may, and a link that is there already is left", async () => {
  const place = makeFolder({ "bin/one.sh": "#!/bin/sh\n", "bin/two.sh": "#!/bin/sh\n", "doc/three.sh": "#!/bin/sh\n" });
  for (const path of ["bin/one.sh", "bin/two.sh"]) chmodSync(join(place.root, path), 0o755);
  mkdirSync(join(place.root, "l"));
  symlinkSync("../bin", join(place.root, "l/bin"));
  const steps = ["WRITE bin/new.sh", "WRITE doc/new.sh", "WRITE bin/plain.txt", "LINK l/bin -> ../bin"];
  const body = "#!/bin/sh\nexit\n";
  const script =
    write("bin/new.sh", body) +
    write("doc/new.sh", body) +
    write("bin/plain.txt", "x\n") +
    `LINK::l/bin::../bin\n${finish()}`;
  const ran = await playIn(place, { lines: [planTo(...steps), script] });
  expect(ran.outcome.error).toBeNull();
  const made = ["bin/new.sh", "doc/new.sh", "bin/plain.txt"];
  expect(made.map((path) => modeAt(place.root, path))).toEqual(["755", "644", "644"]);
  expect(lstatSync(join(place.root, "l/bin")).isSymbolicLink()).toBe(true);
});
