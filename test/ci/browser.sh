#!/usr/bin/env bash
# What people and agents see in a browser, in a real Chromium: the dashboard, and
# pages that /browse opens.
# Installs Debian's Chromium where it may; WRIT_TEST_PICTURES=DIR keeps
# screenshots. What it measures is told by go test's -v: WRIT_TEST_SECONDS of
# 1,000 events each (4), WRIT_TEST_EVENTS in the log of the first paint (3000).
set -euo pipefail
cd "$(dirname "$0")/../.."
find_chromium() {
	for name in chromium chromium-browser google-chrome google-chrome-stable; do
		if command -v "$name"; then return; fi
	done
	return 1
}
if ! chromium=$(find_chromium); then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "browser: skipped, no Chromium is installed and this user cannot install one (apt-get install chromium)"
		exit 0
	fi
	if ! { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium; } >/dev/null 2>&1; then
		echo "browser: skipped, Chromium is not installed and apt-get could not install it"
		exit 0
	fi
	chromium=$(find_chromium)
fi
echo "browser: $("$chromium" --version)"
# axe checks the pages for people who see little or use no mouse.
axe=${XDG_CACHE_HOME:-$HOME/.cache}/writ-tools/axe-core-4.14.1
if [ ! -f "$axe/axe.min.js" ] && command -v npm >/dev/null; then
	mkdir -p "$axe"
	(cd "$axe" && npm pack --silent axe-core@4.14.1 >/dev/null && tar xzf axe-core-4.14.1.tgz --strip-components=1 package/axe.min.js) || true
fi
if [ -f "$axe/axe.min.js" ]; then
	export WRIT_TEST_AXE=$axe/axe.min.js
else
	echo "browser: accessibility is not checked by axe, which npm would have brought"
fi
WRIT_TEST_CHROMIUM=$chromium go test -count=1 -timeout 30m -tags browser ./test/browser/...
WRIT_TEST_BROWSER=$chromium go test -count=1 -timeout 30m -run Browser ./observer/agent/verbs/web/browse
