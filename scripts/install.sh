#!/bin/sh
# Installs pai, or upgrades it: curl -fsSL ADDRESS/install.sh | sh, or sh install.sh --from FOLDER without a network.
# Needs sh, tar, sha256sum (or shasum, openssl), and for a download curl or wget. Never asks, never edits a shell file.
set -eu && umask 022
base='' # the address of the releases: ADDRESS/latest names a version, ADDRESS/vVERSION/ or ADDRESS/ holds its files
base=${PAI_MIRROR:-$base} version=${PAI_VERSION:-latest} to='' from='' target='' sum='' quiet='' remove='' show=''
work='' installed='' bare='' newline='
'
say() { [ -n "$quiet" ] || printf '%s\n' "$*"; }
fail() { printf 'install.sh: %s\n' "${1%%"$newline"*}" >&2; exit 1; }
have() { [ -n "$(command -v "$1")" ]; } # there may be no /dev/null to send anything to
usage='usage: install.sh [--version V] [--to FOLDER] [--from FOLDER|FILE|URL] [--target T] [--sha256 HEX]
                  [--uninstall] [--print-only] [--quiet]
folder: --to, PAI_INSTALL_DIR, BINDIR, PREFIX/bin; else /usr/local/bin for root, ~/.local/bin for others
address: --from, PAI_MIRROR; version: --version, PAI_VERSION, else the latest'
choose_folder() {
  to=${to:-${PAI_INSTALL_DIR:-${BINDIR:-${PREFIX:+$PREFIX/bin}}}}
  [ -n "$to" ] || ! have id || [ "$(id -u)" != 0 ] || to=/usr/local/bin
  to=${to:-${HOME:+$HOME/.local/bin}}
  case ${to%/} in '') fail 'HOME is not set: name a folder with --to' ;; /*) to=${to%/} ;; *) to=$(pwd)/${to%/} ;; esac
  [ ! -d "$to/pai" ] || fail "$to/pai is a folder"
}
choose_target() {
  [ "$(uname -s 2>&1)" = Linux ] || fail 'pai runs on Linux only'
  [ -e /proc/self ] || fail "/proc is not mounted, and pai's runtime needs it"
  [ -z "$target" ] || return 0
  ! have getconf || [ "$(getconf LONG_BIT)" != 32 ] || fail 'this is a 32-bit system; pai needs 64 bits'
  case $(uname -m) in
    x86_64 | amd64) target=linux-x64 ;; aarch64 | arm64) target=linux-arm64 ;; *) fail "there is no pai for $(uname -m)" ;;
  esac
  for file in /lib/ld-musl-*.so.1; do [ -e "$file" ] || return 0; done
  for file in /lib /lib64 /usr/lib /lib/*-linux-gnu; do [ ! -e "$file/libc.so.6" ] || return 0; done
  target=$target-musl
  for file in /lib /usr/lib /usr/local/lib; do [ ! -e "$file/libstdc++.so.6" ] || return 0; done
  fail 'pai needs libstdc++ on musl; install it with: apk add libstdc++'
}
# download ADDRESS FILE
download() {
  if have curl; then
    told=$(curl -fsSL --proto '=http,https' --connect-timeout 20 --retry 2 --speed-limit 1 --speed-time 60 -o "$2" "$1" 2>&1) ||
      case $? in 23) fail "no room for the download in $to" ;; *) fail "cannot fetch $1: ${told#curl: }" ;; esac
  elif have wget; then
    told=$(wget -q -T 60 -O "$2" "$1" 2>&1) || fail "cannot fetch $1: ${told:-wget failed}"
  else fail 'there is no curl or wget: fetch the release by other means and use --from FOLDER'; fi
}
check_version() { case $version in '' | -* | *[!0-9A-Za-z.+-]*) fail "$1 names no version: is it a page of a proxy?" ;; esac; }
read_latest() { [ "$version" != latest ] || { read -r version <"$1" || :; check_version "$from/latest"; }; }
# find_sum SUMS: the checksum of the archive, where none was given; stays empty where the list does not name the archive.
find_sum() {
  while read -r hash name || [ -n "$hash" ]; do [ -n "$sum" ] || [ "${name#\*}" != "$file" ] || sum=$hash; done <"$1"
}
fetch() {
  [ "$version" != latest ] || download "$from/latest" "$work/latest"
  read_latest "$work/latest"
  file=pai-$version-$target.tar.gz archive=$work/$file at=$from/v$version
  told=$(download "$at/SHA256SUMS" "$work/SHA256SUMS" 2>&1) || { at=$from; download "$at/SHA256SUMS" "$work/SHA256SUMS"; }
  find_sum "$work/SHA256SUMS"
  [ -n "$sum" ] || fail "$at/SHA256SUMS does not name $file: no such version, or a page of a proxy"
  say "fetching $at/$file" && download "$at/$file" "$archive"
}
find_local() {
  archive=$from
  if [ -d "$from" ]; then
    [ ! -f "$from/latest" ] || read_latest "$from/latest"
    [ "$version" != latest ] || version='*'
    # shellcheck disable=SC2231 # the star of any version is a pattern
    for file in "$from"/pai-$version-"$target".tar.gz; do
      [ "$archive" = "$from" ] || fail "$from holds several versions: name one with --version"
      archive=$file
    done
  fi
  [ -f "$archive" ] || [ ! -f "$from/pai" ] || archive=$from/pai # a build, not a release
  [ -f "$archive" ] || fail "there is no $archive"
  case $archive in */pai | pai) bare=1 ;; */*) ;; *) archive=./$archive ;; esac
  file=${archive##*/} sums=${archive%/*}/SHA256SUMS
  [ ! -f "$sums" ] || find_sum "$sums"
  [ -n "$sum$bare" ] || fail "no checksum of $file in $sums: give it with --sha256"
}
verify() {
  [ -n "$sum" ] || return 0
  if have sha256sum; then told=$(sha256sum <"$archive"); elif have shasum; then told=$(shasum -a 256 <"$archive")
  elif have openssl; then told=$(openssl dgst -sha256 -r <"$archive"); else fail 'there is no sha256sum, shasum or openssl'; fi
  [ "${told%% *}" = "$sum" ] || fail "the checksum of $file is ${told%% *}, expected $sum: cut off, changed, or a page of a proxy"
}
try_out() { # in its final folder, before it replaces the old one
  case $file in *.xz) kind=J ;; *) kind=z ;; esac
  told=$(if [ -n "$bare" ]; then mkdir "$work/pai-bare" && cp "$archive" "$work/pai-bare/pai"; else tar "-x${kind}of" "$archive" -C "$work"; fi 2>&1) || case $told in
    *'o space'* | *uota*) fail "no room in $to: pai needs 200 MB there while it is installed" ;;
    *) fail "tar cannot unpack $file: $told" ;;
  esac
  program=$(printf '%s\n' "$work"/pai-*/pai)
  told=$(chmod 755 "$program" 2>&1) || fail "$file holds no pai"
  told=$("$program" --version 2>&1) && case $told in 'pai '*) return 0 ;; esac
  case ${told%%"$newline"*} in
    *GLIBC_*) fail "pai needs glibc 2.17 or newer: $told" ;;
    *'library libstdc++'*) fail 'pai needs libstdc++ on musl; install it with: apk add libstdc++' ;;
    *'shared librar'*) fail "$file does not run here: $told" ;;
    *'ermission denied'*) fail "programs cannot run in $to: is it mounted noexec? choose another folder with --to" ;;
    *'ot found' | *'o such file or directory') fail "the C library that $file needs is not here: another --target, or another system" ;;
    *'xec format'* | *'annot execute'* | *yntax*) fail "$file does not run on $(uname -m)" ;;
    *) fail "$file does not run here: ${told:-it says nothing}" ;;
  esac
}
# After a failure removes the working folder and the folders that were made for it.
clean() {
  [ -z "$work" ] || rm -rf "$work"
  [ -n "$installed" ] || while [ "$to" != "$existing" ] && told=$(rmdir "$to" 2>&1); do to=${to%/*}; done
}
install() {
  existing=$to && while [ ! -d "$existing/" ]; do existing=${existing%/*}; done
  trap clean EXIT && trap 'exit 130' INT HUP TERM
  told=$(mkdir -p "$to" 2>&1) || fail "$to cannot be made: ${told##*: }"
  told=$(mkdir -m 700 "$to/.pai-install.$$" 2>&1) || fail "$to cannot be written: ${told##*: }"
  work=$to/.pai-install.$$ && case $from in *://*) fetch ;; *) find_local ;; esac
  verify
  try_out
  gone=$(mv -f "$program" "$to/pai" 2>&1) || fail "$to/pai cannot be replaced: ${gone##*: }"
  installed=1 && say "installed $told as $to/pai"
  found=$(command -v pai) || found=$to/pai
  [ "$found" = "$to/pai" ] || say "warning: another pai comes first in PATH: $found"
  case :$PATH: in *":$to:"*) ;; *) say "add it to PATH with: export PATH=\"$to:\$PATH\"" ;; esac
}
uninstall() {
  case $("$to/pai" --version 2>&1) in 'pai '*) ;; *) fail "there is no pai in $to that runs; nothing was removed" ;; esac
  told=$(rm -f "$to/pai" 2>&1) || fail "$to/pai cannot be removed: ${told##*: }"
  say "removed $to/pai; settings and state stay: pai uninstall --purge would have removed them as well"
}
main() {
  [ $# = "$arguments" ] || exit 1
  while [ $# -gt 0 ]; do
    case $1 in --?*=*) name=${1%%=*} value=${1#*=} && shift && set -- "$name" "$value" "$@" ;; esac
    case $1 in --version | --to | --from | --target | --sha256) [ -n "${2:-}" ] || fail "$1 needs a value; see --help" ;; esac
    case $1 in
      --version) version=${2#v} && shift ;; --to) to=$2 && shift ;; --from) from=$2 && shift ;;
      --target) target=$2 && shift ;; --sha256) sum=$2 && shift ;;
      --uninstall) remove=1 ;; --print-only) show=1 ;; -q | --quiet) quiet=1 ;; -h | --help) say "$usage" && exit 0 ;;
      *) fail "unknown option: $1; see --help" ;;
    esac
    shift
  done
  check_version --version && choose_folder
  case $remove$show in 11) echo "would remove $to/pai" && exit 0 ;; esac
  [ -z "$remove" ] || { uninstall; exit 0; }
  choose_target
  from=${from:-$base} && from=${from%/}
  [ -n "$from" ] || fail 'this script knows no address of releases: give one with --from or PAI_MIRROR'
  if [ -n "$show" ]; then echo "would install pai $version for $target from $from as $to/pai"; else install; fi
}
arguments=$#
main "$@"
