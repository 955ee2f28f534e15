#!/bin/sh
# Installs what pai is built with, builds dist/pai and shows it at work. Needs git, Node with npm, and the npm registry.
set -eu
cd "$(dirname "$0")/.."
. scripts/install-deps.sh
bun scripts/build.ts
./dist/pai demo
echo
echo "built: $(pwd)/dist/pai ($(./dist/pai --version)); copy it anywhere on your PATH"
