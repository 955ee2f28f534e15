#!/bin/sh
# Tries out a release as its users get it: sh scripts/try-release.sh URL|FOLDER installs from there into a temporary folder,
# with the install.sh that is there, and plays the demo. Leaves nothing behind.
set -eu
[ $# = 1 ] || { echo 'usage: sh scripts/try-release.sh URL|FOLDER' >&2; exit 2; }
from=${1%/}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT HUP TERM

# fetch NAME: a file of the release.
fetch() {
  case $from in
    *://*) if command -v curl >/dev/null; then curl -fsSL -o "$place/$1" "$from/$1"; else wget -q -O "$place/$1" "$from/$1"; fi ;;
    *) cp "$from/$1" "$place/$1" ;;
  esac || { echo "try-release.sh: $from/$1 cannot be fetched" >&2; exit 1; }
}
fetch install.sh
fetch latest
read -r version <"$place/latest"
sh "$place/install.sh" --from "$from" --version "$version" --to "$place/bin" --quiet
pai=$place/bin/pai
[ "$("$pai" --version)" = "pai $version" ] || { echo "try-release.sh: $("$pai" --version) came, $version was asked for" >&2; exit 1; }
mkdir "$place/home" "$place/project"
cd "$place/project"
env -i PATH="$PATH" HOME="$place/home" "$pai" demo >"$place/demo.txt" 2>&1 || {
  cat "$place/demo.txt" >&2
  echo 'try-release.sh: pai demo failed' >&2
  exit 1
}
"$pai" --version --json
echo "pai $version from $from installs and plays its demo"
