#!/usr/bin/env bash
# Says what to install when the Go that the modules want is not there; says nothing otherwise.
set -euo pipefail

cd "$(dirname "$0")"
want=$(awk '$1 == "go" { print $2 }' go.mod)
where="see https://go.dev/doc/install"

if ! command -v go >/dev/null; then
	echo "Go $want or newer is needed, and there is no go in PATH: $where" >&2
	exit 1
fi
# A go that can fetch the one that go.mod wants does so here, and names that one.
if ! have=$(go env GOVERSION 2>&1); then
	echo "Go $want or newer is needed, and $(command -v go) does not provide it: $where" >&2
	printf '%s\n' "$have" >&2
	exit 1
fi
have=${have#go}
if [[ $have =~ ^[0-9] && $(printf '%s\n' "$want" "${have%% *}" | sort -V | head -1) != "$want" ]]; then
	echo "Go $want or newer is needed, and $(command -v go) is $have: $where" >&2
	exit 1
fi
