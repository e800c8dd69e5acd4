#!/usr/bin/env bash
# What a tag publishes, built from this commit, and the way of a newcomer with it:
# archives for all systems with checksums and lists of modules, install.sh from a
# local folder into an empty home, writ init in a project, and the first write that
# is refused, with the time that took.
#   test/ci/release.sh              for this system alone
#   test/ci/release.sh --all        for every system
#   test/ci/release.sh --twice      for this system, twice: they must be equal
#   test/ci/release.sh --from DIR   with archives that were built elsewhere
# A release itself is made from a tag, by .github/workflows/release.yml.
set -euo pipefail
cd "$(dirname "$0")/../.."
repository=$PWD
GORELEASER=v2.15.4
CYCLONEDX=v1.10.0
tools=${XDG_CACHE_HOME:-$HOME/.cache}/writ-tools

tool() { # tool NAME MODULE VERSION
	local dir="$tools/$1-$3"
	if [ ! -x "$dir/$1" ]; then
		echo "release: building $1 $3 (once, some minutes)" >&2
		GOFLAGS='' GOBIN="$dir" go install "$2@$3" >&2
	fi
	PATH=$dir:$PATH
}

targets() { # the parts of a dist folder that are of one system
	if [ "${1:-}" = --all ]; then
		echo linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64 windows_arm64
	else
		echo "$(go env GOOS)_$(go env GOARCH)"
	fi
}

build() { # build CONFIG TO
	rm -rf dist
	goreleaser release --config "$1" --snapshot --clean --timeout 3h --skip=docker,publish
	rm -rf "$2"
	mv dist "$2"
}

work=$(mktemp -d "${TMPDIR:-/tmp}/writ-release.XXXXXX")
newcomer() { env -i HOME="$work/home" PATH="$work/home/.local/bin:/usr/bin:/bin" TMPDIR="$work" "$@"; }
trap 'newcomer writ down >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
if [ "${1:-}" = --from ]; then
	cp -R "$2" "$work/dist"
else
	if ! tool cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod $CYCLONEDX ||
		! tool goreleaser github.com/goreleaser/goreleaser/v2 $GORELEASER; then
		echo "release: skipped, goreleaser $GORELEASER or cyclonedx-gomod $CYCLONEDX cannot be built here"
		exit 0
	fi
	goreleaser check

	# One system is the release's own configuration with fewer targets.
	config=.goreleaser.yaml
	if [ "${1:-}" != --all ]; then
		config=$work/one.yaml
		sed -E "s/^    goos: .*/    goos: [$(go env GOOS)]/; s/^    goarch: .*/    goarch: [$(go env GOARCH)]/" .goreleaser.yaml >"$config"
	fi
	build "$config" "$work/dist"
	if [ "${1:-}" = --twice ]; then
		build "$config" "$work/again"
		diff "$work/dist/checksums.txt" "$work/again/checksums.txt"
		echo "release: a second build is the same, byte by byte"
	fi
	for target in $(targets "${1:-}"); do
		ls "$work/dist"/writ_*_"$target".* "$work/dist"/writ_*_"$target".cdx.json "$work/dist"/writd_*_"$target".cdx.json
	done
fi

# From here on as somebody who has nothing: no Go, no clone, no settings.
mkdir "$work/home" "$work/project"
cp cmd/internal/launch/install.sh "$work/install.sh"
printf 'module example.org/shop\n\ngo 1.26\n' >"$work/project/go.mod"
printf '{\n  "model": "opus"\n}\n' >"$work/settings"
mkdir "$work/project/.claude"
cp "$work/settings" "$work/project/.claude/settings.json"
began=$(date +%s)
newcomer sh "$work/install.sh" --from "$work/dist"
cd "$work/project"
newcomer git init -q .
newcomer writ init --check
payload=$(printf '{"session_id":"first","cwd":"%s","hook_event_name":"PreToolUse","tool_name":"Write","tool_use_id":"t1","tool_input":{"file_path":"%s/a.go","content":"x"}}' "$PWD" "$PWD")
line=$(sed -n 's/.*"command": "\(.*hook claude PreToolUse\)".*/\1/p' .claude/settings.json | sed 's/\\"/"/g')
# In Claude Code's words: the configured line, in a shell, the call on its input.
if refused=$(newcomer sh -c "$line" <<<"$payload" 2>&1); then
	echo "release: a write passed: $refused" >&2
	exit 1
fi
grep -q ENF-GATE-MODE <<<"$refused"
echo "release: from install to the first refusal in $(($(date +%s) - began)) s"
newcomer writ version --json
newcomer writ upgrade --dry-run | grep -F -- "--from $work/dist"
if grep -rF "$work" .claude .writ/config.yaml; then
	echo "release: what can be committed names a path of this machine" >&2
	exit 1
fi
cp -R . "$work/guarded"
newcomer writ uninstall
cmp "$work/settings" .claude/settings.json
newcomer writ down

# An archive that is not what the checksums say is not installed.
cp -R "$work/dist" "$work/bad"
archive=$(ls "$work/bad"/writ_*_"$(go env GOOS)_$(go env GOARCH)".tar.gz)
printf x >>"$archive"
if newcomer sh "$work/install.sh" --from "$work/bad" --dir "$work/elsewhere" 2>"$work/said"; then
	echo "release: a broken archive was installed" >&2
	exit 1
fi
grep -q "does not match checksums.txt" "$work/said"
test ! -e "$work/elsewhere/writ"

# What the image holds is these programs and no system: they run in an empty root, and,
# where an engine is there, as the image itself.
[ "$(go env GOOS)" = linux ] || exit 0
cd "$work"
platform=linux/$(go env GOARCH)
mkdir -p root/dev root/etc root/tmp root/home/nonroot root/usr/local/bin "image/$platform" base
cp home/.local/bin/writ home/.local/bin/writd "image/$platform"
cp home/.local/bin/writ home/.local/bin/writd root/usr/local/bin
echo 'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin' >root/etc/passwd
chmod 755 . root
chmod 1777 root/tmp
chmod 700 root/home/nonroot
# The base image's own tree; without root only an archive can say whose it is.
tar -C root --numeric-owner --owner=0 --group=0 -cf base/base.tar etc tmp
tar -C root --numeric-owner --owner=65532 --group=65532 -rf base/base.tar home/nonroot
if [ "$(id -u)" = 0 ]; then
	mknod -m 666 root/dev/null c 1 3
	chown 65532 root/home/nonroot
	inside() { env -i WRIT_HOME=/home/nonroot/writ HOME=/home/nonroot PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot --userspec=65532:65532 root "$@"; }
	inside /usr/local/bin/writ up --detach
	inside /usr/local/bin/writ down
	echo "release: both programs run in an empty root, as the image's user"
fi

engine() { false; }
if docker info >/dev/null 2>&1; then
	engine() { docker "$@"; }
else
	if ! command -v podman >/dev/null && [ -n "${CI:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends podman runc || true
	fi
	if command -v podman >/dev/null; then
		runtime=$(command -v runc || true) # crun wants one hierarchy of control groups
		engine() { env -u WRIT_HOME podman --root "$work/images" --runroot "$work/running" --storage-driver vfs ${runtime:+--runtime "$runtime"} "$@"; }
	fi
fi
if ! engine info >/dev/null 2>&1; then
	echo "release: the image was not built: neither docker nor podman answers here"
	exit 0
fi
trap 'engine volume rm -f writ-release-test >/dev/null 2>&1 || true; engine rmi -f writ-release-test writ-release-base >/dev/null 2>&1 || true; newcomer writ down >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
printf 'FROM scratch\nADD base.tar /\nUSER 65532\nWORKDIR /home/nonroot\n' >base/Dockerfile
engine build -q -t writ-release-base base
engine build -q --build-arg BASE=writ-release-base --build-arg "TARGETPLATFORM=$platform" -f "$repository/Dockerfile" -t writ-release-test image
# Limits below the caller's own: only a privileged engine may raise them.
run() { engine run --rm -i --network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 "$@"; }
if ! run writ-release-test version; then
	echo "release: the image was built and cannot be run: this machine makes no containers"
	exit 0
fi
kept() { run -v writ-release-test:/home/nonroot -v "$work/guarded:/project:ro" -w /project writ-release-test "$@"; }
kept up --detach
payload=$(sed "s,$work/project,/project,g" <<<"$payload")
if refused=$(kept hook claude PreToolUse <<<"$payload" 2>/dev/null); then
	echo "release: a write passed in a container: $refused" >&2
	exit 1
fi
grep -q ENF-GATE-MODE <<<"$refused"
written=$(kept log) # by another container
grep -q ENF-GATE-MODE <<<"$written"
kept audit verify
echo "release: the image runs as nonroot, refuses, and keeps its log in a volume over containers"
