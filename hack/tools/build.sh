#!/usr/bin/env bash
# Builds what hack/tools/go.mod pins into a directory: build.sh BIN_DIR [TOOL...]. Without names it builds all tools.
#
# A tool is built when its binary is missing or when go.mod, go.sum, its flags or the Go version changed since it was built.
# Everything is compiled by one `go build`, so shared packages are compiled once and all cores stay busy. The linter, Azure's
# cloud-controller-manager, its azuredisk CSI driver and Terraform's provider azapi are pinned by modules of their own, because what they
# need would choose the versions of what the others need. Nothing but their names builds the last three: only a few tests and users run them.
set -euo pipefail

cd "$(dirname "$0")"
./check-go.sh
bin=$(mkdir -p "$1" && cd "$1" && pwd)
wanted=" ${*:2} "
stamps=$bin/.tools
out=$bin/.building
mkdir -p "$stamps"

kubernetes=v1.36.3
cluster_api=v1.14.2
cloud_provider=v1.36.5

# name  package. The order is the order in which `go build` finishes them, roughly.
tools="
controller-gen              sigs.k8s.io/controller-tools/cmd/controller-gen
kustomize                   sigs.k8s.io/kustomize/kustomize/v5
golangci-lint               github.com/golangci/golangci-lint/v2/cmd/golangci-lint
etcd                        go.etcd.io/etcd/server/v3
kubectl                     k8s.io/kubernetes/cmd/kubectl
clusterctl                  sigs.k8s.io/cluster-api/cmd/clusterctl
capi-core                   sigs.k8s.io/cluster-api/core
capi-kubeadm-bootstrap      sigs.k8s.io/cluster-api/bootstrap/kubeadm
capi-kubeadm-control-plane  sigs.k8s.io/cluster-api/controlplane/kubeadm
kube-controller-manager     k8s.io/kubernetes/cmd/kube-controller-manager
kube-apiserver              k8s.io/kubernetes/cmd/kube-apiserver
cloud-controller-manager    sigs.k8s.io/cloud-provider-azure/cmd/cloud-controller-manager
azurediskplugin             sigs.k8s.io/azuredisk-csi-driver/pkg/azurediskplugin
terraform-provider-azapi    github.com/Azure/terraform-provider-azapi
"
by_name=" cloud-controller-manager azurediskplugin terraform-provider-azapi "

# Without the versions kube-apiserver reports v0.0.0-master, and Cluster API then refuses the management cluster as too old.
version_flags() { # package version
	local major minor
	major=${2#v} minor=${2#v*.}
	echo "-X $1.gitVersion=$2 -X $1.gitMajor=${major%%.*} -X $1.gitMinor=${minor%%.*} -X $1.gitTreeState=clean"
}
ldflags="-s -w $(version_flags k8s.io/component-base/version $kubernetes) $(version_flags k8s.io/client-go/pkg/version $kubernetes) $(version_flags sigs.k8s.io/cluster-api/version $cluster_api)"
ccm_ldflags="-s -w $(version_flags sigs.k8s.io/cloud-provider-azure/pkg/version $cloud_provider) $(version_flags k8s.io/client-go/pkg/version $cloud_provider)"

module_of() { # tool
	case $1 in
	golangci-lint) echo lint ;;
	cloud-controller-manager) echo ccm ;;
	azurediskplugin) echo azuredisk ;;
	terraform-provider-azapi) echo azapi ;;
	*) echo . ;;
	esac
}
ldflags_of() { # directory of a module
	case $1 in
	ccm) echo "$ccm_ldflags" ;;
	azuredisk | azapi) echo "-s -w" ;;
	*) echo "$ldflags" ;;
	esac
}
key_of() { # directory of a module
	{ cat "$1/go.mod" "$1/go.sum"; go version; ldflags_of "$1"; } | sha256sum | cut -d' ' -f1
}
key=$(key_of .)
stamp_of() { # tool
	local module
	module=$(module_of "$1")
	[ "$module" = . ] && echo "$key" || key_of "$module"
}

exec 9>"$bin/.lock"
flock 9 2>/dev/null || true # two makes at once: the second one finds the work done

missing=()
while read -r name package; do
	[ -n "$name" ] || continue
	if [ -z "${wanted// /}" ]; then
		[[ $by_name != *" $name "* ]] || continue
	elif [[ $wanted != *" $name "* ]]; then
		continue
	fi
	[ -x "$bin/$name" ] && [ "$(cat "$stamps/$name" 2>/dev/null)" = "$(stamp_of "$name")" ] || missing+=("$name=$package")
done <<<"$tools"

link_envtest() { # envtest looks for these three names in one directory
	mkdir -p "$bin/envtest"
	for name in etcd kube-apiserver kubectl; do ln -sf "../$name" "$bin/envtest/$name"; done
}

# Cluster API's manifests come from the module that its managers are built from. Only kustomize's output has the contract
# labels and the conversion webhooks, the files in config/crd/bases do not.
render_manifests() {
	local dir=$bin/manifests source label
	[ "$(cat "$stamps/manifests" 2>/dev/null)" != "$key" ] || return 0
	[ -x "$bin/kustomize" ] || return 0 # nobody has asked for it yet, as before `make lint` of a new checkout
	source=$(go list -m -f '{{.Dir}}' sigs.k8s.io/cluster-api)
	mkdir -p "$dir"
	for label in cluster-api=core bootstrap-kubeadm=bootstrap/kubeadm control-plane-kubeadm=controlplane/kubeadm; do
		"$bin/kustomize" build "$source/${label#*=}/config/default" >"$dir/${label%%=*}.yaml"
	done
	cp "$source/metadata.yaml" "$dir/cluster-api-metadata.yaml"
	chmod u+w "$dir/cluster-api-metadata.yaml"
	echo "$key" >"$stamps/manifests"
}

if [ ${#missing[@]} -eq 0 ]; then
	link_envtest
	render_manifests
	exit 0
fi

rm -rf "$out"
mkdir -p "$out"
trap 'kill ${pid:-} ${early_pid:-} 2>/dev/null || true; rm -rf "$out"' EXIT

# `go build -o DIR` names a binary after the last path element, which two packages share: those go to directories of their own.
packages=() separate=()
for tool in "${missing[@]}"; do
	case ${tool%%=*} in
	capi-kubeadm-control-plane | golangci-lint | cloud-controller-manager | azurediskplugin | terraform-provider-azapi) separate+=("$tool") ;;
	*) packages+=("${tool#*=}") ;;
	esac
done
file_of() { # package -> name that go build gives it
	local base=${1##*/}
	[[ $base =~ ^v[0-9]+$ ]] && base=$(basename "${1%/*}")
	echo "$base"
}

# A terminal has one line that tells how far it is, which what is done replaces; anything else gets plain lines.
line_begin='' line_end=''
[ ! -t 1 ] || line_begin=$'\r' line_end=$'\033[K'
built() { # name
	printf '%s  %-28s %4d s%s\n' "$line_begin" "$1" $((SECONDS - start)) "$line_end"
}

export CGO_ENABLED=0 # as the Makefile has it, so that libraries are compiled once
export GOGC=${GOGC:-300} # compilers and linkers are gone before it pays to collect their garbage: a tenth less CPU time
start=$SECONDS
echo "building ${#missing[@]} tools into $bin (the first time takes some minutes)"
if [ ${#packages[@]} -gt 0 ]; then
	go build -trimpath -v -ldflags "$ldflags" -o "$out/" "${packages[@]}" 2>"$out/.log" &
	pid=$!
fi
build_separately() { # tool
	local name=${1%%=*} module
	module=$(module_of "$name")
	mkdir -p "$out/separate"
	(cd "$module" && go build -trimpath -ldflags "$(ldflags_of "$module")" -o "$out/separate/$name" "${1#*=}")
}
done_tools=" "
report() {
	local tool name package file
	for tool in "${missing[@]}"; do
		name=${tool%%=*} package=${tool#*=} file=$out/$(file_of "$package")
		[[ " ${separate[*]-} " != *" $tool "* ]] || continue
		if [[ $done_tools != *" $name "* && -x $file ]]; then
			done_tools+="$name "
			built "$name"
		fi
	done
}
# The control plane provider needs little that the bootstrap provider does not, so it is built beside the tools that take longer.
early='' early_pid=''
build_early() {
	local tool
	[[ -z $early_pid && $done_tools == *" capi-kubeadm-bootstrap "* ]] || return 0
	for tool in "${separate[@]+"${separate[@]}"}"; do
		[ "${tool%%=*}" = capi-kubeadm-control-plane ] || continue
		early=$tool
		build_separately "$tool" &
		early_pid=$!
	done
}
while [ -n "${pid:-}" ] && kill -0 "$pid" 2>/dev/null; do
	report
	build_early
	[ ! -t 1 ] || printf '%s  compiled %d packages, %d s%s' "$line_begin" "$(wc -l <"$out/.log")" $((SECONDS - start)) "$line_end"
	sleep 1
done
if [ -n "${pid:-}" ] && ! wait "$pid"; then
	pid=
	[ ! -t 1 ] || echo
	grep -v '^[a-z0-9.]*\.[a-z]*/[^ :]*$' "$out/.log" | tail -20
	echo "building the tools failed after $((SECONDS - start)) s" >&2
	exit 1
fi
pid=
report
for tool in "${separate[@]+"${separate[@]}"}"; do
	if [ "$tool" = "$early" ]; then
		wait "$early_pid"
	else
		build_separately "$tool"
	fi
	built "${tool%%=*}"
done

for tool in "${missing[@]}"; do
	name=${tool%%=*} file=$out/$(file_of "${tool#*=}")
	[ ! -x "$out/separate/$name" ] || file=$out/separate/$name
	mv -f "$file" "$bin/$name"
	stamp_of "$name" >"$stamps/$name"
done
link_envtest
render_manifests
