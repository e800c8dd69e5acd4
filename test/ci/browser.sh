#!/usr/bin/env bash
# What people and agents see in a browser, in a real Chromium: the dashboard, and
# pages that /browse opens.
# Installs Debian's Chromium where it may; WRIT_TEST_PICTURES=DIR keeps
# screenshots.
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
WRIT_TEST_CHROMIUM=$chromium go test -count=1 -tags browser ./test/browser/...
WRIT_TEST_BROWSER=$chromium go test -count=1 -timeout 10m -run Browser ./cmd/writd/verbs/web/browse
