/** Homes and disks that are missing, read-only, full or gone (R45). */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Need, needs, otherUser, ownMounts, rootUser } from "../../needs.ts";
import { expectPlain, readOutcome } from "../contract.ts";
import { openPlace, type Place, readTree } from "../harness.ts";
import { done, hello, modify, planned, talked, write } from "../replies.ts";

/** A script where mounts may be made that nobody else sees. */
const apart = (script: string) => `unshare -rm /bin/sh -ec '${script}'`;

/** An ordinary user, whom root becomes here, in a user namespace where nobody else has a name: not the machine's root. */
const alone = `${rootUser.isHere ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : ""}unshare --user --map-root-user`;
const ownNamespace: Need = {
  name: "user namespaces of ordinary users",
  isHere: spawnSync("/bin/sh", ["-c", `${alone} true`]).status === 0,
};

const onMounts = needs(ownMounts).test.concurrent;
const byOther = needs(otherUser).test.concurrent;

const task = '"$PAI" run -y --json "make hello.txt"';

test.concurrent("without HOME a run works, and so does everything that needs no key (R45)", async () => {
  await using place = openPlace(hello);
  const env = { HOME: null, XDG_CONFIG_HOME: `${place.spare}/c`, XDG_STATE_HOME: `${place.spare}/s` };
  expect(readOutcome(await place.pai(["run", "-y", "--json", "make hello.txt"], { env })).ok).toBe(true);
  expect((await place.pai(["--version"], { env: { HOME: null } })).code).toBe(0);
});

for (const home of ["", "/dev/null", "relative/home"]) {
  test.concurrent(`HOME=${home}: the run goes on and says what it cannot keep`, async () => {
    await using place = openPlace(hello);
    const { code, stderr } = await place.pai(["run", "-y", "make hello.txt"], {
      env: { HOME: home, XDG_STATE_HOME: home === "" ? join(place.spare, "s") : null },
    });
    expect([code, place.read("hello.txt")]).toEqual([0, "hello\n"]);
    if (home !== "") expect(stderr).toContain("undo is off");
    expect(readdirSync(place.root).sort()).toEqual([".pai_history", "hello.txt"]);
  });
}

test.concurrent("where a home, settings or state cannot be, checks run all the same", async () => {
  const check = ["run", "-y", "--no-baseline", "--check", "test -f hello.txt", "make hello.txt"];
  for (const name of ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"]) {
    await using place = openPlace(hello);
    const env = { [name]: "/dev/null" };
    const { code, stderr } = await place.pai(check, { env });
    expect([name, code, place.read("hello.txt")]).toEqual([name, 0, "hello\n"]);
    const doctor = await place.pai(["doctor", "--offline"], { env });
    expect(stderr + doctor.stdout + doctor.stderr).not.toContain("ENOTDIR");
    expect([doctor.code, doctor.stdout]).toEqual([0, doctor.stdout]);
  }
});

test.concurrent("a TMPDIR that is a file is named, and what to do", async () => {
  await using place = openPlace(hello);
  const env = { TMPDIR: "/etc/passwd", XDG_STATE_HOME: "/dev/null" };
  const { code, stderr } = await place.pai(["run", "-y", "--no-baseline", "--check", "true", "make hello.txt"], {
    env,
  });
  expect([code, place.read("hello.txt")]).toEqual([14, null]);
  expect(stderr).toContain("/etc/passwd is not a folder");
  expect(stderr).toContain("TMPDIR names a folder");
});

onMounts("a read-only home: a warning, undo is announced as off, the run goes on (R45)", async () => {
  await using place = openPlace(hello);
  const readOnly = 'mount --bind "$HOME" "$HOME"; mount -o remount,bind,ro "$HOME"';
  const { code, stdout, stderr } = await place.shell(apart(`${readOnly}; "$PAI" run -y "make hello.txt"`));
  expect([code, place.read("hello.txt")]).toEqual([0, "hello\n"]);
  expect(stderr).toMatch(/undo/i);
  expect(stdout).not.toContain("undo with");
});

const readOnly = "mount --bind . ../project; cd ../project; mount -o remount,bind,ro .";

onMounts("a read-only project: planning works, changing it ends with 14 (R45)", async () => {
  await using place = openPlace([hello[0] ?? {}, ...hello], { "a.txt": "one\n" });
  expect((await place.shell(apart(`${readOnly}; "$PAI" plan "make hello.txt"`))).code).toBe(0);
  const outcome = readOutcome(await place.shell(apart(`${readOnly}; "$PAI" run -y --json "make hello.txt"`)));
  expect([outcome.code, outcome.error?.code]).toEqual([14, "read_only"]);
  expect(outcome.error).toMatchObject({
    message: "hello.txt cannot be written: the project is on a disk that is read-only",
    hint: "make it writable, then try again",
  });
  const doctor = await place.shell(apart(`${readOnly}; "$PAI" doctor --offline --json`));
  const { findings } = JSON.parse(doctor.stdout).data;
  expect(findings.filter(({ name }: { name: string }) => name === "project")).toMatchObject([
    { name: "project", level: "warning", text: `${place.root} is read-only` },
  ]);
  // A plan each, and no call for work that could not be kept.
  expect(place.gemini.requests).toHaveLength(2);
  expect(place.tree()).toEqual({ "a.txt": "one\n" });
});

byOther("in a project that the user may not write work ends with 14 before it is paid", async () => {
  await using place = openPlace([talked("It is empty."), planned(["WRITE src/new/a.txt"])], {
    "src/b.txt": "1\n",
  });
  const other = 'chmod 755 .. src; chmod 555 . src; setpriv --reuid=65534 --clear-groups "$PAI" run -y --json';
  const env = { HOME: "/nonexistent" };
  expect(readOutcome(await place.shell(`${other} "what is here?"`, { env })).code).toBe(0);
  const { code, error } = readOutcome(await place.shell(`${other} "make it"`, { env }));
  expect([code, error?.code]).toEqual([14, "permission_denied"]);
  expect(error?.message).toBe("src/new/a.txt cannot be written: src is closed to this user for writing");
  expect(place.gemini.requests).toHaveLength(2);
});

byOther("a file keeps its owner and group, or the run ends with 14 before the work call", async () => {
  const plan = planned(["MODIFY a.txt"]);
  const answers = [plan, done(modify("a.txt", "one\n", "two\n")), plan, planned(["MV a.txt -> b.txt"])];
  await using place = openPlace(answers, { "a.txt": "one\n" });
  const other = 'HOME=/tmp/none setpriv --reuid=65534 --regid=65534 --clear-groups "$PAI" run -y --json';
  const shared = await place.shell(`chmod 755 .. .; chown 65534:65534 .; chown 65534:33 a.txt; ${other} "change it"`);
  expect(readOutcome(shared).code).toBe(0);
  const { uid, gid } = statSync(`${place.root}/a.txt`);
  expect([uid, gid, place.read("a.txt")]).toEqual([65534, 33, "two\n"]);
  const shut = readOutcome(await place.shell(`chmod 444 a.txt; ${other} --allow a.txt "change it"`));
  const moved = readOutcome(await place.shell(`chmod 644 a.txt; ${other} "rename it"`));
  const why = "a.txt belongs to a group that you are not in (gid 33), and would belong to you once it is changed";
  expect([shut, moved].map(({ code, error }) => [code, error?.message])).toEqual([
    [14, why],
    [14, why],
  ]);
  expect(place.gemini.requests).toHaveLength(4);
});

onMounts("a full disk is told right after the plan; a file that is mounted by itself is written there", async () => {
  const plan = planned(["MODIFY a.txt"]);
  const mend = done("MODIFY::a.txt::EOT\n<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\nEND::EOT\n");
  await using place = openPlace([plan, mend, plan], { "a.txt": "one\n", "b.txt": "two\n" });
  const run = async (script: string) =>
    readOutcome(await place.shell(apart(`${script}; "$PAI" run -y --json "mend it"`)));
  const mounted = await run("mount --bind b.txt a.txt");
  expect([mounted.code, place.tree()]).toEqual([0, { "a.txt": "one\n", "b.txt": "2\n" }]);
  await place.shell(apart('mount --bind b.txt a.txt; "$PAI" undo -y'));
  expect(place.tree()).toEqual({ "a.txt": "one\n", "b.txt": "two\n" });
  const small =
    "mount -t tmpfs -o size=64k tmpfs ../project; cd ../project; echo one > a.txt; head -c 1M /dev/zero > fill";
  const full = await run(`${small} || true`);
  expect([full.code, full.error?.message]).toEqual([14, "a.txt cannot be written: no space is left on the disk"]);
  expect(place.gemini.requests).toHaveLength(3);
});

onMounts("a full disk under the state folder never leaves half a change", async () => {
  const big = "0123456789abcde\n".repeat(20_000);
  const answers = [planned(["WRITE hello.txt"]), done(write("hello.txt", big))];
  await using place = openPlace(answers, { "hello.txt": "before\n" });
  const small = 'mkdir -p "$HOME/.local/state"; mount -t tmpfs -o size=128k tmpfs "$HOME/.local/state"';
  const { code } = await place.shell(apart(`${small}; ${task}`));
  expect(code).not.toBe(0);
  expect(place.tree()).toEqual({ "hello.txt": "before\n" });
});

onMounts("a full home ends a run before its first call, and --ephemeral does it all the same", async () => {
  await using place = openPlace([talked("It is empty."), ...hello]);
  const full = 'mkdir -p "$HOME/.local/state"; mount -t tmpfs -o size=16k tmpfs "$HOME/.local/state"';
  const { code, error } = readOutcome(await place.shell(apart(`${full}; ${task}`)));
  expect([code, error?.code]).toEqual([14, "disk_full"]);
  expect(error?.message).toMatch(/^no space is left in .*, where pai keeps what undo needs$/);
  expect(error?.hint).toContain("--ephemeral");
  expect(place.gemini.requests).toHaveLength(0);
  expect((await place.shell(apart(`${full}; "$PAI" ask "what is here?"`))).code).toBe(0);
  expect(readOutcome(await place.shell(apart(`${full}; ${task} --ephemeral`))).code).toBe(0);
  expect(place.read("hello.txt")).toBe("hello\n");
});

byOther("whose the project is, and that it is read-only, is told before the first call", async () => {
  await using place = openPlace([talked("It is empty."), talked("It is empty."), talked("It is empty.")]);
  const told = async (script: string) => (await place.shell(script)).stderr;
  const other = 'HOME=/nonexistent setpriv --reuid=65534 --clear-groups "$PAI" run "what is here?"';
  expect(await told(`chmod 755 .. .; ${other}`)).toContain("closed to this user for writing");
  const others = "the project belongs to another user (uid 65534): new files will belong to you";
  expect(await told(`chown 65534 .; "$PAI" run "what is here?"; chown 0 .`)).toContain(others);
  const onDisk = await told(apart(`${readOnly}; "$PAI" run "what is here?"`));
  expect(onDisk).toContain("on a disk that is read-only: it can be read, not changed");
});

test.concurrent("a deleted working folder is one clear line and a failure", async () => {
  await using place = openPlace();
  const result = await place.shell('mkdir ../spare/d; cd ../spare/d; rmdir ../d; "$PAI" history');
  expectPlain(result);
  expect([result.code === 0, result.stdout]).toEqual([false, ""]);
  expect(result.stderr).not.toBe("");
});

test.concurrent("-C works in another folder, undo too", async () => {
  await using place = openPlace(hello, { "sub/a.txt": "" });
  expect((await place.pai(["run", "-y", "-C", "sub", "make hello.txt"])).code).toBe(0);
  expect(place.read("sub/hello.txt")).toBe("hello\n");
  expect((await place.pai(["undo", "-y", "-C", "sub"])).code).toBe(0);
  expect(place.read("sub/hello.txt")).toBeNull();
});

test.concurrent("--ephemeral keeps nothing beyond the change (R52)", async () => {
  await using place = openPlace(hello);
  const { code, stdout } = await place.pai(["run", "-y", "--ephemeral", "make hello.txt"]);
  expect(code).toBe(0);
  expect([readdirSync(place.root), readdirSync(place.home)]).toEqual([["hello.txt"], []]);
  expect(stdout).not.toContain("undo with");
});

function modesIn({ home, root }: Place): string[] {
  const inside = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return [...inside(join(home, ".local/state/pai-code")), ...inside(join(root, ".pai_history"))].map((path) => {
    const stat = statSync(path);
    return `${stat.isDirectory() ? "folder" : "file"} ${(stat.mode & 0o777).toString(8)}`;
  });
}

test.concurrent("what pai keeps is for its user alone: folders 0700, files 0600, whatever the umask; nothing else in the home (R39, R52)", async () => {
  await using place = openPlace(hello);
  await place.shell(`umask 0; ${task}`);
  expect([...new Set(modesIn(place))].sort()).toEqual(["file 600", "folder 700"]);
  expect(Object.keys(readTree(place.home)).every((name) => name.startsWith(".local/state/pai-code/"))).toBe(true);
});

test.concurrent("new files and folders are as any program makes them under the umask, the mode of others is kept (R50)", async () => {
  const steps = planned(["WRITE new/hello.txt", "MODIFY run.sh"]);
  await using place = openPlace([steps, done(write("new/hello.txt", "hello\n") + modify("run.sh", "one\n", "two\n"))], {
    "run.sh": "one\n",
  });
  chmodSync(join(place.root, "run.sh"), 0o757);
  expect((await place.shell(`umask 027; ${task}`)).code).toBe(0);
  const modes = ["new", "new/hello.txt", "run.sh"].map((name) => statSync(join(place.root, name)).mode & 0o777);
  expect(modes).toEqual([0o750, 0o640, 0o757]);
});

test.concurrent("two runs at once: different files both arrive and are undone one by one; of one file only one does", async () => {
  const make = (name: string) => [planned([`WRITE ${name}`]), done(write(name, `${name}\n`))];
  const { promise: others, resolve: end } = Promise.withResolvers<void>();
  const [plan = {}] = make("a.txt");
  const script = done(write("a.txt", "other\n"));
  await using place = openPlace([plan, { ...script, meanwhile: () => others }, script]);
  await using first = openPlace(make("a.txt"));
  await using second = openPlace(make("b.txt"));
  const run = ({ gemini }: Place) =>
    place.start(["run", "-y", "--json", "make it"], { env: { PAI_BASE_URL: gemini.origin } }).done;
  const late = run(place);
  await place.gemini.arrived(2);
  expect((await Promise.all([run(first), run(second)])).map(({ code }) => code)).toEqual([0, 0]);
  end();
  expect(readOutcome(await late).error?.code).toBe("conflict");
  expect(place.tree()).toEqual({ "a.txt": "a.txt\n", "b.txt": "b.txt\n" });
  for (const left of [1, 0]) {
    expect((await place.pai(["undo", "-y"])).code).toBe(0);
    expect(Object.keys(place.tree())).toHaveLength(left);
  }
});

needs(ownNamespace).test.concurrent("where the machine's root has no name, undo works all the same", async () => {
  await using place = openPlace(hello);
  const own = rootUser.isHere ? "chown -R 65534:65534 ..; " : "";
  const inside = (words: string) => place.shell(`${own}cp "$PAI" ../spare/pai; exec ${alone} ../spare/pai ${words}`);
  const ran = readOutcome(await inside('run -y --json "make hello.txt"'));
  expect([ran.code, ran.notices.map(({ text }) => text)]).toEqual([0, []]);
  expect((await inside("doctor --offline")).stdout).toMatch(/^ok +state folder /m);
  expect((await inside("undo -y")).code).toBe(0);
  expect(place.tree()).toEqual({});
});

test.concurrent("doctor says that nothing is kept below a folder that others may write, as the run does", async () => {
  await using place = openPlace(hello);
  const open = join(place.spare, "open");
  mkdirSync(open);
  chmodSync(open, 0o777);
  const env = { XDG_STATE_HOME: join(open, "state") };
  const why = `${open} can be written by others (chmod go-w ${open})`;
  const { stderr } = await place.pai(["run", "-y", "make hello.txt"], { env });
  expect(stderr).toContain(`undo is off: ${why}`);
  const doctor = await place.pai(["doctor", "--offline", "--json"], { env });
  expect(JSON.parse(doctor.stdout).data.findings).toContainEqual({
    name: "state folder",
    level: "warning",
    text: `${why}, so what is kept there is not believed: no undo, no history`,
    hint: "set HOME or PAI_STATE_DIR",
  });
});

test.concurrent("undo and redo say the flag that they need where the project is a home", async () => {
  await using place = openPlace(hello, {});
  const here = { env: { HOME: place.root } };
  // Without a terminal the flag is named before a call is paid.
  const refused = await place.pai(["run", "-y", "make hello.txt"], here);
  expect([refused.code, place.gemini.requests.length]).toEqual([12, 0]);
  expect(refused.stderr).toContain("--force-root");
  const ran = await place.pai(["run", "-y", "--force-root", "make hello.txt"], here);
  expect(ran.stdout + ran.stderr).toContain("undo with: pai undo --force-root");
  expect((await place.pai(["undo", "-y", "--force-root"], here)).stdout).toContain("redo with: pai redo --force-root");
  const asked = await place.pai(["redo", "--force-root"], here);
  expect(asked.stderr).toContain("pai redo -y --force-root");
});
