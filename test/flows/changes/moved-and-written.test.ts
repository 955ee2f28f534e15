/** A file that the model was shown whole may be moved and written anew in one reply; one that it has not seen may not. */
import { expect, test } from "bun:test";
import { finish, plan } from "../plans.ts";
import { play } from "../scripted.ts";

test.each([
  [20, "written"],
  [4000, "refused"],
])("a file of %i lines that is moved, then replaced: %s", async (count, how) => {
  const old = Array.from({ length: count }, (_, at) => `${at} 3 * * * /usr/local/bin/backup --number ${at}\n`).join("");
  const fresh = old.replaceAll("* * * /", "* * * root /");
  const script = `MV::job.txt::jobs/job\nWRITE::jobs/job::EOT\n${fresh}END::EOT\n${finish()}`;
  const steps = ["MV job.txt -> jobs/job", "MODIFY jobs/job"];
  const lines = [plan({ steps }), script, finish(), finish()];
  const ran = await play({ files: { "job.txt": old }, lines });
  expect(ran.files["jobs/job"] === fresh).toBe(how === "written");
});
