#!/bin/sh
# Everything that must hold: install, lint, types, build, tests (with transcripts of the built binary). Ends with a count.
set -eu
cd "$(dirname "$0")/.."
. scripts/install-deps.sh
bun run lint
bun run types
bun scripts/build.ts
exec bun scripts/test.ts
