#!/bin/sh
# Installs writ and writd from a release: finds the archive for this system,
# compares it with the release's checksums, and puts both programs into one
# folder. It asks nothing, needs no root and changes no file of your shell.
#
#   sh install.sh [--dir DIR] [--version X.Y.Z] [--from URL-OR-FOLDER]
#
#   --dir DIR      where to, ~/.local/bin by default         (WRIT_INSTALL_DIR)
#   --version V    which release, the latest by default      (WRIT_INSTALL_VERSION)
#   --from F       a folder or address with the archives and
#                  checksums.txt of one release              (WRIT_INSTALL_FROM)
set -eu

# A download that breaks off in the middle defines functions and runs nothing.

releases=https://github.com/writbus/writ/releases

fail() {
	echo "install: $1" >&2
	exit 1
}

need() { [ $# -ge 2 ] && [ -n "$2" ] || fail "$1 needs a value; --help shows how to use it"; }

usage() {
	cat <<USAGE
Usage: sh install.sh [--dir DIR] [--version X.Y.Z] [--from URL-OR-FOLDER]

  --dir DIR      where to put writ and writd (~/.local/bin)
  --version V    which release (the latest)
  --from F       a folder or address with the archives and checksums.txt of a release

WRIT_INSTALL_DIR, WRIT_INSTALL_VERSION and WRIT_INSTALL_FROM say the same.
USAGE
}

find_system() {
	case "$(uname -s)" in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	MINGW* | MSYS* | CYGWIN* | Windows_NT) os=windows ;;
	*) fail "there is no release for $(uname -s); with Go: go install github.com/writbus/writ/cmd/writ@latest github.com/writbus/writ/cmd/writd@latest" ;;
	esac
	case "$(uname -m)" in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no release for $(uname -m), only for amd64 and arm64" ;;
	esac
	# A shell under Rosetta says amd64 on a machine that is arm64.
	if [ "$os/$arch" = darwin/amd64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then arch=arm64; fi
	if [ "$os" = linux ] && [ "$(getconf LONG_BIT 2>/dev/null || echo 64)" = 32 ]; then
		fail "this is a 32-bit system, and releases are for 64 bits"
	fi
	ending=tar.gz exe=
	if [ "$os" = windows ]; then ending=zip exe=.exe; fi
}

fetch() { # fetch NAME TO
	case "$from" in
	http://* | https://*)
		if command -v curl >/dev/null 2>&1; then
			curl --fail --silent --show-error --location --retry 2 --output "$2" "$from/$1" || fail "$from/$1 cannot be downloaded"
		elif command -v wget >/dev/null 2>&1; then
			wget -q -O "$2" "$from/$1" || fail "$from/$1 cannot be downloaded"
		else
			fail "neither curl nor wget is installed"
		fi
		;;
	*) cp "$from/$1" "$2" 2>/dev/null || fail "there is no $1 in $from" ;;
	esac
}

sum() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$1" | cut -d ' ' -f 1
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 "$1" | cut -d ' ' -f 1
	elif command -v openssl >/dev/null 2>&1; then
		openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
	else
		fail "nothing here computes SHA-256 (sha256sum, shasum or openssl): an archive that cannot be checked is not installed"
	fi
}

# Reads which archive of the release is for this system, and what it must sum to.
choose() {
	line=$(awk -v os="$os" -v arch="$arch" -v ending="$ending" '
		{ name = $2; sub(/^\*/, "", name) }
		name ~ /^writ_[0-9A-Za-z.+~-]+_/ && substr(name, length(name) - length("_" os "_" arch "." ending) + 1) == "_" os "_" arch "." ending { print $1, name }
	' "$work/checksums.txt")
	case "$line" in
	"") fail "this release has no archive for $os/$arch" ;;
	*"
"*) fail "checksums.txt names several archives for $os/$arch" ;;
	esac
	want=${line%% *} archive=${line#* }
}

unpack() {
	if [ "$ending" = zip ]; then
		command -v unzip >/dev/null 2>&1 || fail "unzip is not installed"
		unzip -oq "$work/$archive" writ.exe writd.exe -d "$work" || fail "$archive cannot be unpacked"
	else
		tar -xzf "$work/$archive" -C "$work" writ writd || fail "$archive cannot be unpacked"
	fi
	chmod 755 "$work/writ$exe" "$work/writd$exe"
	version=$("$work/writ$exe" version 2>&1) || fail "the program of $archive does not run here: $version"
}

# Both programs come from beside their place, so that each is replaced whole.
place() {
	for program in writd writ; do
		mv -f "$work/$program$exe" "$dir/$program$exe" || fail "$dir/$program$exe cannot be replaced; end what runs it (writ down) and install again"
	done
}

# `writ upgrade` reads where this script put what, and from where. The link is
# what the hooks of guarded projects name, so that they are the same on every
# machine. Neither is needed to run the programs.
note() {
	noted=$HOME/.local/share/writ
	mkdir -p "$noted" 2>/dev/null || return 0
	printf 'dir=%s\nfrom=%s\n' "$dir" "$given" >"$noted/installed" || true
	if [ "$os" != windows ]; then ln -sf "$dir/writ" "$noted/writ" || true; fi
}

say_next() {
	echo "$version is installed in $dir, with writd beside it."
	case ":$PATH:" in
	*":$dir:"*)
		first=$(command -v writ || true)
		if [ -n "$first" ] && [ "$first" != "$dir/writ" ]; then
			echo "Another one comes first on your PATH: $first."
		fi
		;;
	*)
		case "${SHELL##*/}" in
		fish) add="fish_add_path $dir" ;;
		zsh) add="echo 'export PATH=\"$dir:\$PATH\"' >>~/.zshrc && exec zsh" ;;
		bash) add="echo 'export PATH=\"$dir:\$PATH\"' >>~/.bashrc && exec bash" ;;
		*) add="export PATH=\"$dir:\$PATH\"" ;;
		esac
		echo "It is not on your PATH yet:"
		echo "  $add"
		;;
	esac
	echo "Guard a project:"
	echo "  cd your-project && writ init"
}

main() {
	dir=${WRIT_INSTALL_DIR:-} from=${WRIT_INSTALL_FROM:-} wanted=${WRIT_INSTALL_VERSION:-}
	while [ $# -gt 0 ]; do
		case "$1" in
		--dir) need "$@" && dir=$2 && shift 2 ;;
		--dir=*) dir=${1#*=} && shift ;;
		--version) need "$@" && wanted=$2 && shift 2 ;;
		--version=*) wanted=${1#*=} && shift ;;
		--from) need "$@" && from=$2 && shift 2 ;;
		--from=*) from=${1#*=} && shift ;;
		-h | --help) usage && exit 0 ;;
		*) usage >&2 && fail "\"$1\" is not known" ;;
		esac
	done
	if [ -z "$dir" ]; then
		[ -n "${HOME:-}" ] || fail "HOME is not set; say where with --dir"
		dir=$HOME/.local/bin
	fi
	: "${HOME:=$dir}"
	find_system
	given=$from
	if [ -z "$from" ] && [ -n "$wanted" ]; then
		from=$releases/download/v${wanted#v}
	elif [ -z "$from" ]; then
		from=$releases/latest/download
	fi
	from=${from%/}
	mkdir -p "$dir" || fail "$dir cannot be made"
	dir=$(cd "$dir" && pwd) || exit 1
	case "$given" in
	"" | http://* | https://*) ;;
	*) given=$(cd "$given" 2>/dev/null && pwd) || fail "there is no folder $from" ;;
	esac
	work=$(mktemp -d "$dir/.writ-install.XXXXXX") || fail "$dir cannot be written"
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	fetch checksums.txt "$work/checksums.txt"
	choose
	fetch "$archive" "$work/$archive"
	is=$(sum "$work/$archive")
	[ "$is" = "$want" ] || fail "$archive does not match checksums.txt: it is $is, and should be $want. Nothing was installed"
	unpack
	place
	note
	say_next
}

main "$@"
