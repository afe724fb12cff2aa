#!/bin/sh
# Installs one version of Floodmark for one person, without root:
#
#   sh install.sh VERSION [--into FOLDER] [--from ADDRESS]
#
# It downloads the archive and the list of checksums, refuses if they do not
# agree, and puts floodmark, floodmark-hook and floodmark-box into FOLDER
# (~/.local/bin). It starts nothing and changes no agent: «floodmark protect» does.
#
# A checksum shows that the download is whole. That it is ours is shown by where
# you took the checksum from: compare checksums.txt with one from elsewhere.
set -eu

from=https://github.com/floodmark/floodmark/releases/download
into=${HOME:-}/.local/bin
version=

refuse() {
  echo "install: $1" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --into) [ $# -gt 1 ] || refuse "--into needs a folder"; into=$2; shift ;;
    --from) [ $# -gt 1 ] || refuse "--from needs an address"; from=${2%/}; shift ;;
    -*) refuse "there is no option $1; want: sh install.sh VERSION [--into FOLDER] [--from ADDRESS]" ;;
    *) [ -z "$version" ] || refuse "one version, please"; version=${1#v} ;;
  esac
  shift
done
[ -n "$version" ] || refuse "which version? sh install.sh VERSION"
case $version in *[!0-9A-Za-z.+-]*) refuse "that is no version: $version" ;; esac
case $into in /*) ;; *) refuse "the folder has to be a full path, not «$into»; use --into" ;; esac

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  MINGW* | MSYS* | CYGWIN* | Windows*) refuse "Windows is not supported: install Floodmark and your agents inside WSL (wsl --install), and run this there" ;;
  *) refuse "there is no Floodmark for $(uname -s)" ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=amd64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) refuse "there is no Floodmark for $(uname -m)" ;;
esac

if command -v sha256sum >/dev/null; then
  sum() { sha256sum "$1" | cut -d' ' -f1; }
elif command -v shasum >/dev/null; then
  sum() { shasum -a 256 "$1" | cut -d' ' -f1; }
else
  refuse "neither sha256sum nor shasum is here, so nothing can be checked"
fi
if command -v curl >/dev/null; then
  get() { curl -fsSL --proto '=https,http,file' -o "$2" "$1"; }
elif command -v wget >/dev/null; then
  get() { wget -qO "$2" "$1"; }
else
  refuse "neither curl nor wget is here"
fi

name=floodmark_${version}_${system}_${machine}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

get "$from/v$version/checksums.txt" "$work/checksums.txt" || refuse "cannot download $from/v$version/checksums.txt"
get "$from/v$version/$name.tar.gz" "$work/$name.tar.gz" || refuse "cannot download $from/v$version/$name.tar.gz"

want=$(awk -v f="$name.tar.gz" '$2 == f || $2 == "*" f { print $1 }' "$work/checksums.txt")
case $want in '' | *[!0-9a-f]*) refuse "checksums.txt has no line of its own for $name.tar.gz; nothing was installed" ;; esac
[ ${#want} -eq 64 ] || refuse "checksums.txt has no sha256 for $name.tar.gz; nothing was installed"
got=$(sum "$work/$name.tar.gz")
[ "$want" = "$got" ] || refuse "the checksum of $name.tar.gz is $got, and should be $want; nothing was installed"

tar -xzf "$work/$name.tar.gz" -C "$work" "$name/floodmark" "$name/floodmark-hook" "$name/floodmark-box"
mkdir -p "$into"
# Each program is the old one or the new one at any moment, never half of it.
for program in floodmark-box floodmark-hook floodmark; do
  cp "$work/$name/$program" "$into/.$program.new"
  chmod 755 "$into/.$program.new"
  mv -f "$into/.$program.new" "$into/$program"
done
echo "installed $("$into/floodmark" version) in $into"
case :${PATH:-}: in *":$into:"*) ;; *) echo "add it to your PATH: export PATH=\"$into:\$PATH\"" ;; esac
echo "next: floodmark up"
