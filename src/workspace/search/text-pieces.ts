/** The text of a file of any size in pieces, unpacked where its name says so, and never longer than a time allows. */
import { closeSync, readSync } from "node:fs";
import { Readable } from "node:stream";
import { createGunzip, createZstdDecompress, constants as packing } from "node:zlib";
import { compressionOf } from "../../core/compressed.ts";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import { breathe } from "../../core/steps.ts";
import type { Root } from "../confine.ts";
import { showName } from "../parse-path.ts";
import type { OpenFile } from "../system/open-at.ts";

const pieceBytes = 256 * 1024;
/** A small file may unpack to any size. */
const maxMs = 10_000;
const sniffedBytes = 8192;
const unsizedBytes = 1024 * 1024;

/** What has grown since it was opened is not read: a log would have no end. */
async function* plainPieces({ fd, stat }: OpenFile): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafe(pieceBytes);
  // Files of the kernel have no size.
  for (let left = stat.size || unsizedBytes; left > 0; ) {
    const length = readSync(fd, piece, 0, Math.min(left, pieceBytes), null);
    if (length === 0) return;
    left -= length;
    yield piece.subarray(0, length);
    await breathe();
  }
}

/** A file that is still being written, or was cut, is read as far as it goes. */
function unpacker(kind: "gzip" | "zstd") {
  return kind === "gzip"
    ? createGunzip({ finishFlush: packing.Z_SYNC_FLUSH, chunkSize: pieceBytes })
    : createZstdDecompress({ finishFlush: packing.ZSTD_e_flush, chunkSize: pieceBytes });
}

async function* copies(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) yield Buffer.from(piece);
}

async function* unpackedPieces(open: OpenFile, path: RelPath, kind: "gzip" | "zstd"): AsyncGenerator<Buffer> {
  const packed = Readable.from(copies(plainPieces(open)), { objectMode: false });
  const unpack = unpacker(kind);
  packed.on("error", (error) => unpack.destroy(error));
  try {
    for await (const piece of packed.pipe(unpack)) yield piece as Buffer;
  } catch (cause) {
    const why = `cannot be unpacked: it is damaged, or no ${kind} file`;
    throw new PaiError("file_unusable", `${showName(path)} ${why}`, { cause });
  } finally {
    packed.destroy();
    unpack.destroy();
  }
}

/**
 * Each piece is valid until the next one. Throws file_unusable for what is missing, special, binary or damaged, or takes
 * more than ten seconds, and the reason of `signal`.
 */
export async function* openPieces(root: Root, path: RelPath, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const open = root.openFile(path);
  if (open === null) throw new PaiError("file_unusable", `${showName(path)} does not exist`);
  const began = performance.now();
  const kind = compressionOf(path);
  let isFirst = true;
  try {
    for await (const piece of kind === null ? plainPieces(open) : unpackedPieces(open, path, kind)) {
      signal?.throwIfAborted();
      if (isFirst && piece.subarray(0, sniffedBytes).includes(0))
        throw new PaiError("file_unusable", `${showName(path)} is binary`);
      isFirst = false;
      yield piece;
      if (performance.now() - began > maxMs)
        throw new PaiError("file_unusable", `${showName(path)} is too long to be read in ${maxMs / 1000} s`);
    }
  } finally {
    closeSync(open.fd);
  }
}
