/** The tape interpreter as machine code, assembled from interpreter-x64.S and interpreter-arm64.S beside this file. */

/** Machines that have a tape interpreter, as in `process.arch`. */
export type Machine = "x64" | "arm64";

const code: Readonly<Record<Machine, readonly string[]>> = {
  x64: [
    "41bc00000010498b0424498b7c24084885c07877498b742410498b5424184d8b5424204d8b4424284d8b4c24300f0549",
    "8b5c24384885db7403488903483d01f0ffff73154885c0740a498b5c24484885db75104983c450ebad498b5c24404885",
    "db74054989dceb9e504154ba100000004889e6bf03000000b8010000000f05bf7d000000b8e70000000f0589fb5048c7",
    "c7ffffffff4889e631d24531d2b83d0000000f054883f8f674d539d875e08b04240fb6fc83e07f74cb8db880000000eb",
    "c3",
  ],
  arm64: [
    "1300a2d2680240a96803f8b7610a41a9631242a9652643a9010000d4490000b4200100f96a2e44a91ffc3fb1a2000054",
    "400000b4ab0000b573420191f2ffff178a0000b4eb030aaaf3030baaeeffff17f303bfa9600080d2e1030091020280d2",
    "080880d2010000d4a00f80d2c80b80d2010000d4f403002aff4300d100008092e1030091020080d2030080d2882080d2",
    "010000d41f2800b180feff541f00146be1feff54e90340b9203d085329190072e0fdff5420010211edffff17",
  ],
};

export const interpreterOf = (machine: Machine): Uint8Array => Buffer.from(code[machine].join(""), "hex");

/** null: it has no tape interpreter. */
export function thisMachine(): Machine | null {
  return process.arch === "x64" || process.arch === "arm64" ? process.arch : null;
}
