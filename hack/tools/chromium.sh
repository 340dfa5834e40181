#!/usr/bin/env bash
# Makes sure that there is a Chromium for the tests of the site: CHROMIUM names one, or PATH has one, or Debian's package is installed.
set -euo pipefail

if [ -n "${CHROMIUM:-}" ]; then
	[ -x "$CHROMIUM" ] || { echo "CHROMIUM is $CHROMIUM, which is no program. Set it to the path of Chromium or Chrome." >&2; exit 1; }
	exit 0
fi
for name in chromium chromium-browser google-chrome google-chrome-stable; do
	! command -v "$name" >/dev/null || exit 0
done
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
	echo "The tests of the site need Chromium. Install it, or set CHROMIUM to the path of Chromium or Chrome." >&2
	exit 1
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core
