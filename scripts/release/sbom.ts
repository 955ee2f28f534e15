/** The bill of materials in CycloneDX 1.6: the packages in the binary and the runtimes, with hashes and licences. */
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import type { BundledPackage } from "./bundled.ts";
import type { Runtime } from "./runtime.ts";

interface Materials {
  readonly version: string;
  readonly commit: string;
  /** Date of the release in seconds since 1970. */
  readonly epoch: number;
  readonly packages: readonly BundledPackage[];
  readonly runtimes: readonly Runtime[];
  /** Direct dependencies of pai. */
  readonly direct: readonly string[];
}

const purlOf = (name: string, version: string) => `pkg:npm/${name.replace("@", "%40")}@${version}`;
const licenseOf = (license: string) =>
  /[ (]/.test(license) ? [{ expression: license }] : [{ license: { id: license } }];

/** The fields of an npm component, library or runtime. */
function describe(name: string, version: string, integrity: string): Readonly<Record<string, unknown>> {
  const [scope, inner] = name.split("/");
  return {
    "bom-ref": purlOf(name, version),
    ...(inner === undefined ? { name } : { group: scope, name: inner }),
    version,
    hashes: [{ alg: "SHA-512", content: Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex") }],
    purl: purlOf(name, version),
  };
}

export function renderSbom({ version, commit, epoch, packages, runtimes, direct }: Materials): string {
  const refs = new Map(packages.map((each) => [each.name, purlOf(each.name, each.version)]));
  const refsOf = (names: readonly string[]) => names.flatMap((name) => refs.get(name) ?? []);
  const runtimeRefs = runtimes.map((runtime) => purlOf(runtime.package, runtime.version));
  const bom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: {
        type: "application",
        "bom-ref": "pai",
        name: "pai",
        version,
        licenses: licenseOf("MIT"),
        properties: [{ name: "pai:commit", value: commit }],
      },
    },
    components: [
      ...packages.map(({ name, version: own, integrity, license }) => ({
        type: "library",
        ...describe(name, own, integrity),
        licenses: licenseOf(license),
      })),
      ...runtimes.map((runtime) => ({
        type: "platform",
        ...describe(runtime.package, runtime.version, runtime.integrity),
        licenses: licenseOf("MIT"),
      })),
    ],
    dependencies: [
      { ref: "pai", dependsOn: [...refsOf(direct), ...runtimeRefs] },
      ...packages.map(({ name, version: own, needs }) => ({ ref: purlOf(name, own), dependsOn: refsOf(needs) })),
      ...runtimeRefs.map((ref) => ({ ref })),
    ],
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** Violations of the schema of CycloneDX 1.6; null: none. */
export async function findSbomFaults(text: string): Promise<unknown> {
  return await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text);
}
