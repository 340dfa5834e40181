package selfmanaged_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestFlavorContent looks at what flavors tell the guest, which the simulated machines do not do.
func TestFlavorContent(t *testing.T) {
	t.Parallel()
	const (
		controlPlane = "KubeadmControlPlane/c1-control-plane"
		workers      = "KubeadmConfigTemplate/c1-md-0"
		windows      = "KubeadmConfigTemplate/c1-md-win"
		apiServer    = "spec.kubeadmConfigSpec.clusterConfiguration.apiServer.extraArgs."
		controller   = "spec.kubeadmConfigSpec.clusterConfiguration.controllerManager.extraArgs."
		initNode     = "spec.kubeadmConfigSpec.initConfiguration.nodeRegistration."
		joinNode     = "spec.kubeadmConfigSpec.joinConfiguration.nodeRegistration."
		workerNode   = "spec.template.spec.joinConfiguration.nodeRegistration."
	)
	tests := map[string]struct {
		reason string
		// want are values by object and path; a path through a list of arguments has the argument's name. A value that
		// begins with ~ has to be contained.
		want map[string]map[string]string
	}{
		"default": {
			reason: "cloud-provider-azure runs outside of kube-controller-manager, and etcd has a disk of its own",
			want: map[string]map[string]string{
				controlPlane: {
					controller + "cloud-provider": "external", controller + "cluster-name": "c1", controller + "allocate-node-cidrs": "false",
					initNode + "kubeletExtraArgs.cloud-provider": "external", joinNode + "kubeletExtraArgs.cloud-provider": "external",
					"spec.kubeadmConfigSpec.clusterConfiguration.etcd.local.dataDir": "/var/lib/etcddisk/etcd",
					"spec.kubeadmConfigSpec.mounts.0.1":                              "/var/lib/etcddisk",
				},
				workers: {workerNode + "kubeletExtraArgs.cloud-provider": "external"},
			},
		},
		"private": {
			reason: "a machine behind the load balancer reaches its own API server, not itself through the load balancer",
			want: map[string]map[string]string{controlPlane: {
				"spec.kubeadmConfigSpec.preKubeadmCommands.0":  "~127.0.0.1 apiserver.c1.capz.io",
				"spec.kubeadmConfigSpec.postKubeadmCommands.0": "~127.0.0.1 apiserver.c1.capz.io",
			}},
		},
		"aad": {
			reason: "tokens of the tenant for the server's application are trusted",
			want: map[string]map[string]string{controlPlane: {
				apiServer + "oidc-issuer-url": "https://sts.windows.net/" + flavors.TemplateVariables(nil)["AZURE_TENANT_ID"] + "/",
				apiServer + "oidc-client-id":  "22222222-aaaa-4bbb-8ccc-333333333333", apiServer + "oidc-username-claim": "oid",
				apiServer + "oidc-username-prefix": "-", apiServer + "oidc-groups-claim": "groups",
			}},
		},
		"azure-cni-v1": {
			reason: "a node has as many pods as its interface has addresses",
			want: map[string]map[string]string{
				controlPlane: {initNode + "kubeletExtraArgs.max-pods": "110", joinNode + "kubeletExtraArgs.max-pods": "110"},
				workers:      {workerNode + "kubeletExtraArgs.max-pods": "110"},
			},
		},
		"dual-stack": {
			reason: "nodes get ranges of both families, to which cloud-provider-azure writes routes",
			want: map[string]map[string]string{
				controlPlane: {
					controller + "allocate-node-cidrs": "true", controller + "configure-cloud-routes": "true",
					controller + "cluster-cidr": "10.244.0.0/16,2001:1234:5678:9a40::/58",
				},
				"Cluster/c1": {"spec.clusterNetwork.pods.cidrBlocks.1": "2001:1234:5678:9a40::/58", "metadata.labels.cni": "calico-dual-stack"},
			},
		},
		"ipv6": {
			reason: "everything listens on and asks at IPv6 addresses",
			want: map[string]map[string]string{
				controlPlane: {
					apiServer + "bind-address": "::", controller + "bind-address": "::",
					"spec.kubeadmConfigSpec.clusterConfiguration.scheduler.extraArgs.bind-address":            "::",
					"spec.kubeadmConfigSpec.initConfiguration.localAPIEndpoint.advertiseAddress":              "::",
					"spec.kubeadmConfigSpec.joinConfiguration.controlPlane.localAPIEndpoint.advertiseAddress": "::",
					initNode + "kubeletExtraArgs.cluster-dns":                                                 "fd00::10",
					joinNode + "kubeletExtraArgs.cluster-dns":                                                 "fd00::10",
					controller + "cluster-cidr":                                                               "2001:1234:5678:9a40::/58",
				},
				workers:      {workerNode + "kubeletExtraArgs.cluster-dns": "fd00::10", workerNode + "kubeletExtraArgs.node-ip": "::"},
				"Cluster/c1": {"spec.clusterNetwork.pods.cidrBlocks.0": "2001:1234:5678:9a40::/58", "spec.clusterNetwork.pods.cidrBlocks.1": ""},
			},
		},
		"windows": {
			reason: "Windows finds azure.json and containerd in its own folders, and lets the user in",
			want: map[string]map[string]string{
				windows: {
					"spec.template.spec.files.0.path": "c:/k/azure.json", "spec.template.spec.files.0.contentFrom.secret.name": "c1-md-win-azure-json",
					workerNode + "criSocket": "npipe:////./pipe/containerd-containerd", "spec.template.spec.users.0.sshAuthorizedKeys.0": flavors.SSHKey,
				},
				"Cluster/c1": {"metadata.labels.windows": "enabled"},
			},
		},
		"flatcar": {
			reason: "Ignition has no templates: the name of the node is put in before kubeadm runs",
			want: map[string]map[string]string{
				controlPlane: {
					"spec.kubeadmConfigSpec.format": "ignition", initNode + "name": "@@HOSTNAME@@", joinNode + "name": "@@HOSTNAME@@",
					"spec.kubeadmConfigSpec.preKubeadmCommands.0": "~/metadata/instance/compute/name", "spec.kubeadmConfigSpec.mounts.0.0": "etcd_disk",
					"spec.kubeadmConfigSpec.diskSetup.filesystems.0.overwrite": "false",
				},
				workers: {"spec.template.spec.format": "ignition", workerNode + "name": "@@HOSTNAME@@",
					"spec.template.spec.preKubeadmCommands.0": "~s/@@HOSTNAME@@/"},
			},
		},
		"flatcar-sysext": {
			reason: "Kubernetes comes as a system extension, and stays as it is",
			want: map[string]map[string]string{
				controlPlane: {
					"spec.kubeadmConfigSpec.format":                                         "ignition",
					"spec.kubeadmConfigSpec.ignition.containerLinuxConfig.additionalConfig": "~https://extensions.flatcar.org/extensions/kubernetes-" + harness.KubernetesVersion + "-x86-64.raw",
					controller + "flex-volume-plugin-dir":                                   "/opt/libexec/kubernetes/kubelet-plugins/volume/exec/",
				},
				workers: {
					"spec.template.spec.ignition.containerLinuxConfig.additionalConfig": "~- name: systemd-sysupdate.timer\n",
					workerNode + "kubeletExtraArgs.volume-plugin-dir":                   "/opt/libexec/kubernetes/kubelet-plugins/volume/exec/",
				},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := flavors.DecodeManifest(flavors.RenderTemplate(t, templateFile(name), flavors.TemplateVariables(table[name].variables)))
			if err != nil {
				t.Fatal(err)
			}
			byName := map[string]*unstructured.Unstructured{}
			for _, object := range objects {
				byName[object.GetKind()+"/"+object.GetName()] = object
			}
			for object, values := range test.want {
				if byName[object] == nil {
					t.Errorf("%s: there is no %s", test.reason, object)
					continue
				}
				for path, want := range values {
					got := argumentValue(byName[object].Object, path)
					part, contained := strings.CutPrefix(want, "~")
					if contained && !strings.Contains(got, part) || !contained && got != want {
						t.Errorf("%s: %s of %s is %q, want %q", test.reason, path, object, got, want)
					}
				}
			}
		})
	}
}

// argumentValue is flavors.ValueText, in which a list of arguments is looked up by name.
func argumentValue(v any, path string) string {
	at, rest, deeper := strings.Cut(path, ".")
	if list, ok := v.([]any); ok {
		for _, item := range list {
			if entry, ok := item.(map[string]any); ok && entry["name"] == at {
				return fmt.Sprint(entry["value"])
			}
		}
		var i int
		if _, err := fmt.Sscan(at, &i); err != nil || i >= len(list) {
			return ""
		}
		v = list[i]
	} else if object, ok := v.(map[string]any); ok {
		v = object[at]
	}
	if deeper {
		return argumentValue(v, rest)
	}
	return flavors.ValueText(v, "")
}
