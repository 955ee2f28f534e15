/** A public certificate is open whatever it is called; a key, and what holds one beside a certificate, is not. */
import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { openBare } from "./bare.ts";
import { at, change, file, makePlace } from "./tree.ts";

const block = (label: string) => `-----BEGIN ${label}-----\nMIIBszCCAVmgAwIBAgIUQ\n-----END ${label}-----\n`;
const files = {
  "certs/site.pem": `# the site\n${block("CERTIFICATE")}`,
  "certs/chain.PEM": block("CERTIFICATE").repeat(2),
  "certs/both.pem": block("CERTIFICATE") + block("PRIVATE KEY"),
  "certs/key.pem": block("EC PRIVATE KEY"),
  "certs/empty.pem": "",
  "certs/site.key": block("CERTIFICATE"),
};

test("certificates are listed, read and renewed; what else has their ending is closed", async () => {
  const place = makePlace(files);
  const { workspace } = await openBare(place.work, place.state);
  symlinkSync("key.pem", join(place.work, "certs/link.pem"));
  const listed = (await workspace.list(at("certs"))).map(({ path }) => String(path));
  expect(listed).toEqual(["certs/chain.PEM", "certs/site.pem"]);
  const paths = Object.keys(files);
  const read = await Promise.allSettled(paths.map((path) => workspace.read(at(path))));
  expect(paths.filter((_, n) => read[n]?.status === "fulfilled")).toEqual(["certs/site.pem", "certs/chain.PEM"]);
  expect(workspace.whyClosed(at("certs/site.pem"))).toBeNull();
  expect(workspace.whyClosed(at("certs/new.pem"))).toContain("may hold keys");
  const transaction = await workspace.begin({ id: "r1", task: "renew" });
  const renewed = change("certs/site.pem", file(files["certs/site.pem"]), file(block("CERTIFICATE")));
  await transaction.apply([renewed]);
  const stolen = change("certs/key.pem", file(files["certs/key.pem"]), file("x"));
  expect(transaction.apply([stolen])).rejects.toMatchObject({ code: "path_refused" });
  await transaction.close();
});

test("a certificate that becomes a key is closed from then on", async () => {
  const place = makePlace(files);
  const { workspace } = await openBare(place.work, place.state);
  expect((await workspace.read(at("certs/site.pem")))?.kind).toBe("file");
  await Bun.write(join(place.work, "certs/site.pem"), block("PRIVATE KEY"));
  expect(workspace.read(at("certs/site.pem"))).rejects.toMatchObject({ code: "path_refused" });
});
