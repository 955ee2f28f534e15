/** Certificates made on the spot, for tests of TLS: nothing secret lies in the repository. */
import { createSign, generateKeyPairSync, type KeyObject } from "node:crypto";

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const tlv = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};
const sequence = (...parts: readonly Uint8Array[]) => tlv(0x30, ...parts);
const object = (hex: string) => tlv(0x06, Buffer.from(hex, "hex"));
const text = (said: string) => tlv(0x0c, Buffer.from(said));
const time = (date: string) => tlv(0x17, Buffer.from(date));
const named = (name: string) => sequence(tlv(0x31, sequence(object("550403"), text(name))));

const ecdsaSha256 = sequence(object("2a8648ce3d040302"));
const isTrue = tlv(0x01, Buffer.from([0xff]));

interface Signer {
  readonly name: string;
  readonly key: KeyObject;
}

function makeOne(name: string, publicKey: KeyObject, signer: Signer, isAuthority: boolean): string {
  const extension = (oid: string, value: Buffer) => sequence(object(oid), tlv(0x04, value));
  const extensions = sequence(
    sequence(object("551d13"), isTrue, tlv(0x04, isAuthority ? sequence(isTrue) : sequence())),
    extension("551d11", sequence(tlv(0x82, Buffer.from(name)), tlv(0x87, Buffer.from([127, 0, 0, 1])))),
  );
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.from([1, ...Buffer.from(name).subarray(0, 6)])),
    ecdsaSha256,
    named(signer.name),
    sequence(time("200101000000Z"), time("491231000000Z")),
    named(name),
    publicKey.export({ type: "spki", format: "der" }),
    tlv(0xa3, extensions),
  );
  const signature = createSign("sha256").update(body).sign(signer.key);
  const whole = sequence(body, ecdsaSha256, tlv(0x03, Buffer.from([0]), signature)).toString("base64");
  const lines = whole.match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

/** An authority, and one certificate of it for each name; they hold for 127.0.0.1 too. */
export function makeCertificates(names: readonly string[]): {
  readonly ca: string;
  readonly made: readonly Certificate[];
} {
  const pair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
  const root = pair();
  const signer = { name: "pai test authority", key: root.privateKey };
  const made = names.map((name) => {
    const { publicKey, privateKey } = pair();
    const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    return { cert: makeOne(name, publicKey, signer, false), key };
  });
  return { ca: makeOne(signer.name, root.publicKey, signer, true), made };
}
