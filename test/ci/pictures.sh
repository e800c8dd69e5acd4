#!/usr/bin/env bash
# The pictures of the README: a recorded terminal session (asciicast and SVG),
# played by the built programs through pseudo-terminals, and screenshots of the
# dashboard in a real Chromium. Written to test/pictures.
#   test/ci/pictures.sh            makes them anew
#   test/ci/pictures.sh --check    says whether the recording is still what
#                                  happens; ids, times and figures may differ
set -euo pipefail
cd "$(dirname "$0")/../.."
case "${1:-}" in
--check)
	go test -count=1 -run 'TestTheRecordingIsTrue|TestPicturesOfTheREADME' ./test
	echo "pictures: the recording is what happens"
	exit
	;;
"") ;;
*)
	echo "usage: test/ci/pictures.sh [--check]" >&2
	exit 2
	;;
esac
folder=$PWD/test/pictures
mkdir -p "$folder"
WRIT_TEST_PICTURES=$folder go test -count=1 -run TestTheRecordingIsTrue ./test

chromium=
for name in chromium chromium-browser google-chrome google-chrome-stable; do
	if command -v "$name" >/dev/null; then
		chromium=$(command -v "$name")
		break
	fi
done
if [ -z "$chromium" ]; then
	echo "pictures: the screenshots stay as they are, no Chromium is installed (apt-get install chromium)"
	exit 0
fi
WRIT_TEST_PICTURES=$folder WRIT_TEST_CHROMIUM=$chromium go test -count=1 -tags browser -run TestPictures ./test/browser
if command -v pngquant >/dev/null; then
	pngquant --force --skip-if-larger --ext .png --quality 80-100 "$folder"/*.png || [ $? = 98 ] || [ $? = 99 ]
else
	echo "pictures: pngquant is not installed, so the screenshots are larger than they need to be"
fi
du -b "$folder"/*
echo "pictures: look at each before you commit it"
