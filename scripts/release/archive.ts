/** Reproducible archives: tar, gzip, xz, and ar for Debian's packages. */
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzip as gzipCallback } from "node:zlib";
import { xz as lzma } from "@napi-rs/lzma";
import { pack } from "tar-stream";

export interface Entry {
  /** Path in the archive; that of a folder ends with a slash. */
  readonly name: string;
  readonly mode: number;
  /** Absent for a folder. */
  readonly data?: Uint8Array | string;
}

/** A file readable by everybody. */
export const file = (name: string, data: Uint8Array | string): Entry => ({ name, mode: 0o644, data });
export const program = (name: string, data: Uint8Array | string): Entry => ({ name, mode: 0o755, data });
export const folder = (name: string): Entry => ({ name, mode: 0o755 });

/** All entries belong to root and have the time `epoch`, in seconds. */
export async function tar(entries: readonly Entry[], epoch: number): Promise<Buffer> {
  const archive = pack();
  const owner = { uid: 0, gid: 0, uname: "root", gname: "root", mtime: new Date(epoch * 1000) };
  for (const { name, mode, data } of entries) {
    const type = data === undefined ? "directory" : "file";
    archive.entry({ name, mode, type, ...owner }, Buffer.from(data ?? ""));
  }
  archive.finalize();
  return await buffer(archive);
}

const gzipAsync = promisify(gzipCallback);

/** The header has no time; 255 means "unknown operating system". */
export async function gzip(data: Uint8Array): Promise<Buffer> {
  const packed = await gzipAsync(data, { level: 6 });
  packed.writeUInt32LE(0, 4);
  packed[9] = 255;
  return packed;
}

export const xz = async (data: Uint8Array): Promise<Buffer> => await lzma.compress(data);

/** The format of .deb files: text headers of 60 characters, content padded to an even length. */
export function ar(entries: readonly (readonly [name: string, data: Buffer])[], epoch: number): Buffer {
  const parts = entries.flatMap(([name, data]) => {
    const fields = [name.padEnd(16), `${epoch}`.padEnd(12), "0".padEnd(6), "0".padEnd(6), "100644".padEnd(8)];
    const header = `${fields.join("")}${`${data.length}`.padEnd(10)}\`\n`;
    return [Buffer.from(header), data, Buffer.alloc(data.length % 2, "\n")];
  });
  return Buffer.concat([Buffer.from("!<arch>\n"), ...parts]);
}
