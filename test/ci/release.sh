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

# What the image holds is these programs and no system: they run in an empty root.
if [ "$(go env GOOS)" = linux ] && [ "$(id -u)" = 0 ]; then
	mkdir -p "$work/root/dev" "$work/root/tmp" "$work/root/state" "$work/root/usr/local/bin"
	mknod -m 666 "$work/root/dev/null" c 1 3
	cp "$work/home/.local/bin/writ" "$work/home/.local/bin/writd" "$work/root/usr/local/bin"
	chmod 755 "$work" "$work/root"
	chmod 1777 "$work/root/tmp"
	chown 65532 "$work/root/state"
	inside() { env -i WRIT_HOME=/state HOME=/state PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot --userspec=65532:65532 "$work/root" "$@"; }
	inside /usr/local/bin/writ up --detach
	inside /usr/local/bin/writ down
	echo "release: both programs run in an empty root, as the image's user"
fi
if docker info >/dev/null 2>&1; then
	mkdir -p "$work/image/linux/$(go env GOARCH)"
	cp "$work/home/.local/bin/writ" "$work/home/.local/bin/writd" "$work/image/linux/$(go env GOARCH)"
	docker build --build-arg "TARGETPLATFORM=linux/$(go env GOARCH)" -f Dockerfile -t writ-release-test "$work/image"
	docker run --rm writ-release-test version
	docker run --rm writ-release-test up --detach
else
	echo "release: the image was not built: no container engine answers here"
fi
