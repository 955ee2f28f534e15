/** Debian's package: program, man page, completions and documents below /usr, with gzip, which every dpkg reads. */
import { ar, type Entry, file, folder, gzip, program, tar } from "./archive.ts";

interface Contents {
  readonly version: string;
  /** amd64 or arm64. */
  readonly architecture: string;
  readonly binary: Uint8Array;
  readonly man: string;
  readonly completions: Readonly<Record<"bash" | "zsh" | "fish", string>>;
  readonly license: string;
  readonly notices: string;
}

/** A SemVer version in Debian's order: 1.0.0-rc.1 comes before 1.0.0. */
export const debianVersion = (version: string): string => version.replace("-", "~");

/** The files with all their parent folders, folders first. */
function withFolders(files: readonly Entry[]): readonly Entry[] {
  const parts = files.map(({ name }) => name.split("/").slice(0, -1));
  const folders = parts.flatMap((path) => path.map((_, at) => `${path.slice(0, at + 1).join("/")}/`));
  return [...[...new Set(folders)].sort().map(folder), ...files];
}

export async function packDeb(contents: Contents, epoch: number): Promise<Buffer> {
  const { version, architecture, binary, man, completions, license, notices } = contents;
  const files = [
    program("./usr/bin/pai", binary),
    file("./usr/share/bash-completion/completions/pai", completions.bash),
    file("./usr/share/doc/pai/THIRD_PARTY.md.gz", await gzip(Buffer.from(notices))),
    file("./usr/share/doc/pai/copyright", license),
    file("./usr/share/fish/vendor_completions.d/pai.fish", completions.fish),
    file("./usr/share/man/man1/pai.1.gz", await gzip(Buffer.from(man))),
    file("./usr/share/zsh/vendor-completions/_pai", completions.zsh),
  ];
  const size = files.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
  const control = [
    "Package: pai",
    `Version: ${debianVersion(version)}`,
    `Architecture: ${architecture}`,
    "Maintainer: The pai developers <pai@localhost>",
    `Installed-Size: ${Math.ceil(size / 1024)}`,
    "Depends: libc6 (>= 2.17)",
    "Section: devel",
    "Priority: optional",
    "Description: coding agent that shows its plan and can take it back",
    " pai shows its plan, keeps to a promised number of model calls, changes exactly",
    " what it listed or nothing, proves what it did, and can take it back.",
    "",
  ].join("\n");
  const sums = files.map(
    ({ name, data = "" }) => `${new Bun.CryptoHasher("md5").update(data).digest("hex")}  ${name.slice(2)}\n`,
  );
  const about = [folder("./"), file("./control", control), file("./md5sums", sums.join(""))];
  return ar(
    [
      ["debian-binary", Buffer.from("2.0\n")],
      ["control.tar.gz", await gzip(await tar(about, epoch))],
      ["data.tar.gz", await gzip(await tar(withFolders(files), epoch))],
    ],
    epoch,
  );
}
