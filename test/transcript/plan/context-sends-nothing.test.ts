/** What is read for a first request sends nothing, leaves nothing and runs nothing of the repository's. */
import { expect, test } from "bun:test";
import { openPlace } from "../harness.ts";
import { talked } from "../replies.ts";

const check = "touch left.txt; echo changed > a.py; echo 'FAIL: a.py:1'; exit 1";
const files = { "a.py": "x = 1\n" };

test.concurrent("a check runs on a copy that is thrown away, where the sandbox makes one", async () => {
  await using place = openPlace([], files);
  const { code, stdout, stderr } = await place.pai(["context", "--json", "--check", check, "fix it"]);
  expect(code).toBe(0);
  const isRun = !`${stdout}${stderr}`.includes("checks are not run");
  const { data } = JSON.parse(stdout);
  const [part] = data.parts.filter(({ kind }: { readonly kind: string }) => kind === "checks");
  expect(part.tokens > 30).toBe(isRun);
  expect([place.tree(), place.gemini.requests]).toEqual([files, []]);
});

test.concurrent("without a sandbox it runs none, and says so", async () => {
  await using place = openPlace([], files);
  await place.pai(["config", "set", "sandbox", "off"]);
  const { code, stderr } = await place.pai(["context", "--check", check, "fix it"]);
  expect(code).toBe(0);
  expect(stderr).toContain("checks are not run for a preview without a sandbox that works on a copy");
  expect([place.tree(), place.gemini.requests]).toEqual([files, []]);
});

const programs =
  "gpg.program gpg.ssh.program core.fsmonitor core.pager pager.log pager.status core.sshCommand diff.external diff.x.textconv " +
  "filter.x.clean filter.x.process core.editor credential.helper core.askPass";

/** Makes 45 files with commits that say which three belong to the cart, then sets everything that can name a program. */
const make = `
git() { command git -c user.name=A -c user.email=a@b.c "$@"; }
git init -q . && for n in $(seq 1 45); do { echo "def part$n(): return cart"; seq 1 300; } > p$n.py; done
git add . && git commit -q -m "add all parts"
for n in 7 8 9; do echo "# more" >> p$n.py; git commit -q -a -m "round the total $n"; done
mkdir -p ../spare/hooks
printf '#!/bin/sh\\ntouch "%s/ran"\\nexec false\\n' "$(cd ../spare && pwd)" > ../spare/evil
chmod +x ../spare/evil; evil="$(cd ../spare && pwd)/evil"
for hook in post-index-change reference-transaction; do cp ../spare/evil ../spare/hooks/$hook; done
for name in ${programs}; do git config $name "$evil"; done
git config log.showSignature true; git config alias.log "!$evil"; git config alias.status "!$evil"
git config remote.origin.url "ext::$evil"; git config remote.origin.promisor true; git config protocol.ext.allow always
git config core.repositoryformatversion 1; git config extensions.partialClone origin
git config core.hooksPath "$(cd ../spare && pwd)/hooks"
echo '* diff=x filter=x' > .gitattributes; echo '* diff=x filter=x' > .git/info/attributes; echo "# changed" >> p5.py
rm -f ../spare/ran
`;

test("settings that all name a program run none of them (R42)", async () => {
  await using place = openPlace([talked("Seen.")]);
  const { code, stderr } = await place.shell(
    `${make}\n"$PAI" run -v "round the total"\ncode=$?; ls ../spare; exit $code`,
  );
  expect([code, stderr.includes("history:")]).toEqual([0, false]);
  const body = place.gemini.requests[0]?.body ?? "";
  const [, likely = ""] = /<likely[^>]*>\\n(.*?)\\n<\/likely>/.exec(body) ?? [];
  expect(likely.split("\\n").slice(0, 3).sort()).toEqual(["p7.py", "p8.py", "p9.py"]);
  expect((await place.shell("ls ../spare/ran")).code).not.toBe(0);
  // They would run: plain git lets them.
  await place.shell("git status; git log");
  expect((await place.shell("ls ../spare/ran")).code).toBe(0);
});
