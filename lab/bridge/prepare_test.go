package bridge

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
)

// TestBrokenBootstrapData breaks one thing per row in data that is otherwise right.
func TestBrokenBootstrapData(t *testing.T) {
	const (
		worker       = "worker"
		controlPlane = "control plane"
		initialise   = "init"
	)
	edit := func(data, old, new string) string {
		raw, _ := base64.StdEncoding.DecodeString(data)
		if !strings.Contains(string(raw), old) {
			panic("bootstrap data has no " + old)
		}
		return base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(string(raw), old, new)))
	}
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for name, tc := range map[string]struct {
		reason string
		kind   string
		data   func(*bootData)
		edit   func(string) string
		guest  func(*guest)
		want   string // "" when nothing is wrong
	}{
		"worker": {
			reason: "Cluster API's own output for a worker must be accepted", kind: worker,
		},
		"control plane join": {
			reason: "Cluster API's own output for another control plane must be accepted", kind: controlPlane,
		},
		"init": {
			reason: "Cluster API's own output for the first control plane must be accepted", kind: initialise,
		},
		"init of Kubernetes 1.30": {
			reason: "kubeadm v1beta3 is written for Kubernetes before 1.31", kind: initialise,
			data: func(d *bootData) { d.version = semver.MustParse("1.30.4") },
		},
		"no custom data": {
			reason: "nothing would start kubeadm", kind: worker, edit: func(string) string { return "" },
			want: "osProfile.customData is empty: nothing on the machine starts kubeadm",
		},
		"not base64": {
			reason: "ARM takes base64", kind: worker, edit: func(string) string { return "#cloud-config" },
			want: "osProfile.customData is not base64: illegal base64 data at input byte 0",
		},
		"gzip": {
			reason: "a known format that the lab leaves out is named", kind: worker, edit: func(string) string { return encode("\x1f\x8b\x08rest") },
			want: "osProfile.customData is gzip: the lab reads plain cloud-config and Ignition only",
		},
		"script": {
			reason: "cloud-init would run it, but Cluster API never sends one", kind: worker,
			edit: func(string) string { return encode("#!/bin/sh\nkubeadm join") },
			want: `osProfile.customData does not begin with #cloud-config (first line "#!/bin/sh"): cloud-init ignores it`,
		},
		"broken YAML": {
			reason: "an indentation error makes cloud-init drop everything", kind: worker,
			edit: func(s string) string { return edit(s, "runcmd:", "  runcmd:\n x") },
			want: "cloud-config is not YAML cloud-init can read: line 49: did not find expected key",
		},
		"Jinja statement": {
			reason: "the lab must not pretend to render a template that it cannot render", kind: worker,
			data: func(d *bootData) { d.before = []string{"{% if true %}x{% endif %}"} },
			want: "cloud-config template: line 52: {% ... is a Jinja block; the lab renders {{ variables }} only",
		},
		"relative path": {
			reason: "cloud-init would write below its working directory", kind: worker,
			data: func(d *bootData) { d.files = []bootstrapv1.File{{Path: "etc/motd", Content: "x"}} },
			want: "cloud-config write_files[1] (etc/motd): path is not absolute",
		},
		"permissions": {
			reason: "a mode that is not octal", kind: worker,
			data: func(d *bootData) {
				d.files = []bootstrapv1.File{{Path: "/etc/motd", Permissions: "rw-r--r--", Content: "x"}}
			},
			want: "cloud-config write_files[1] (/etc/motd): permissions rw-r--r-- is not an octal mode such as '0640'",
		},
		"file content is not base64": {
			reason: "encoding and content disagree", kind: worker,
			data: func(d *bootData) {
				d.files = []bootstrapv1.File{{Path: "/etc/motd", Encoding: bootstrapv1.Base64, Content: "%%%"}}
			},
			want: "cloud-config write_files[1] (/etc/motd): content is not base64: illegal base64 data at input byte 0",
		},
		"no kubeadm": {
			reason: "the machine never becomes a Node", kind: worker,
			edit: func(s string) string { return edit(s, "kubeadm join --config", "kubeadm version --config") },
			want: "cloud-config runcmd has neither kubeadm init nor kubeadm join: the machine never becomes a Node",
		},
		"other config file": {
			reason: "kubeadm would find no file", kind: worker, edit: func(s string) string {
				return edit(s, "--config /run/kubeadm/kubeadm-join-config.yaml", "--config /run/kubeadm/other.yaml")
			},
			want: "/run/kubeadm/other.yaml: kubeadm join reads it but write_files does not write it (files: /etc/kubernetes/azure.json, " +
				"/run/cluster-api/placeholder, /run/kubeadm/kubeadm-join-config.yaml)",
		},
		"unknown kubeadm field": {
			reason: "kubeadm decodes strictly", kind: worker,
			edit: func(s string) string { return edit(s, "nodeRegistration:", "nodeRegistraton:") },
			want: `/run/kubeadm/kubeadm-join-config.yaml: kubeadm.k8s.io/v1beta4 JoinConfiguration: unknown field "nodeRegistraton"`,
		},
		"kubeadm version": {
			reason: "an API version kubeadm does not have", kind: worker,
			edit: func(s string) string { return edit(s, "kubeadm.k8s.io/v1beta4", "kubeadm.k8s.io/v1beta1") },
			want: "/run/kubeadm/kubeadm-join-config.yaml: kubeadm.k8s.io/v1beta1 JoinConfiguration: unknown kubeadm API version: use v1beta4 " +
				"(Kubernetes 1.31 and later) or v1beta3",
		},
		"no pins": {
			reason: "kubeadm refuses discovery without pins", kind: worker,
			data: func(d *bootData) { d.join.Discovery.BootstrapToken.CACertHashes = nil },
			want: "/run/kubeadm/kubeadm-join-config.yaml: discovery.bootstrapToken.caCertHashes is empty and unsafeSkipCAVerification is not set",
		},
		"token form": {
			reason: "a token kubeadm cannot split; the message must not show it", kind: worker,
			data: func(d *bootData) { d.join.Discovery.BootstrapToken.Token = "SECRET" },
			want: "/run/kubeadm/kubeadm-join-config.yaml: discovery.bootstrapToken.token is not of the form [a-z0-9]{6}.[a-z0-9]{16}",
		},
		"node name": {
			reason: "cloud-provider-azure looks VMs up by node name", kind: worker,
			data: func(d *bootData) { d.join.NodeRegistration.Name = "other" },
			want: `/run/kubeadm/kubeadm-join-config.yaml: nodeRegistration.name "other" is not the VM's computer name "vm-1": cloud-provider-azure would not find the VM of this Node`,
		},
		"unknown variable": {
			reason: "cloud-init renders a missing variable as a marker, which is no host name", kind: worker,
			data: func(d *bootData) { d.join.NodeRegistration.Name = "{{ ds.meta_data.hostnam }}" },
			want: `/run/kubeadm/kubeadm-join-config.yaml: nodeRegistration.name "ci_missing_jinja_var/hostnam" is not the VM's computer name "vm-1": cloud-provider-azure would not find the VM of this Node`,
		},
		"no template header": {
			reason: "without it cloud-init leaves the variables alone", kind: worker,
			edit: func(s string) string { return edit(s, "## template: jinja\n", "") },
			want: `/run/kubeadm/kubeadm-join-config.yaml: nodeRegistration.name "{{ ds.meta_data[\"local_hostname\"] }}" is not the VM's computer name "vm-1": cloud-provider-azure would not find the VM of this Node`,
		},
		"CA missing": {
			reason: "kubeadm would make its own CA, which no machine trusts", kind: initialise,
			data: func(d *bootData) { d.certificateOf(secret.ClusterCA).KeyPair = nil },
			want: "/etc/kubernetes/pki/ca.crt: write_files does not write it and kubeadm on a control plane needs it",
		},
		"etcd CA key of another CA": {
			reason: "certificates signed with it would not verify", kind: controlPlane,
			data: func(d *bootData) {
				etcd := *d.certificateOf(secret.EtcdCA).KeyPair
				etcd.Key = d.certificateOf(secret.ClusterCA).KeyPair.Key
				d.certificateOf(secret.EtcdCA).KeyPair = &etcd
			},
			want: "/etc/kubernetes/pki/etcd/ca.key: key does not belong to /etc/kubernetes/pki/etcd/ca.crt",
		},
		"service account key is not PEM": {
			reason: "kube-apiserver would not start", kind: initialise,
			data: func(d *bootData) { d.certificateOf(secret.ServiceAccount).KeyPair.Key = []byte("x") },
			want: "/etc/kubernetes/pki/sa.key: is not a PEM private key",
		},
		"azure.json missing": {
			reason: "cloud-provider-azure has no configuration", kind: worker,
			edit: func(s string) string { return edit(s, "/etc/kubernetes/azure.json", "/etc/kubernetes/azure.yaml") },
			want: "/etc/kubernetes/azure.json: write_files does not write it: cloud-provider-azure has no configuration on this machine",
		},
		"azure.json is not JSON": {
			reason: "a comma too much", kind: worker, edit: func(s string) string { return edit(s, `"westeurope",`, `"westeurope",,`) },
			want: "/etc/kubernetes/azure.json: cannot be read: invalid character ',' looking for beginning of object key string",
		},
		"other location": {
			reason: "cloud-provider-azure would look in another region", kind: worker,
			data: func(d *bootData) { d.setKey("location", "northeurope") },
			want: `/etc/kubernetes/azure.json: key location is "northeurope" but the VM is in "westeurope"`,
		},
		"no resource group": {
			reason: "a key that is always needed", kind: worker,
			data: func(d *bootData) { d.dropKeys("resourceGroup") },
			want: `/etc/kubernetes/azure.json: key resourceGroup is missing or empty: want Alpha`,
		},
		"tenant": {
			reason: "the identity's tenant did not arrive", kind: worker,
			data: func(d *bootData) { d.setKey("tenantId", "null") },
			want: `/etc/kubernetes/azure.json: key tenantId "null" is not a GUID`,
		},
		"identity not on the VM": {
			reason: "the metadata service would give no token", kind: controlPlane, guest: func(g *guest) { g.Identity.Type = "" },
			want: `/etc/kubernetes/azure.json: key userAssignedIdentityID is set but the VM's identity.type is "None", not UserAssigned`,
		},
		"other identity": {
			reason: "the metadata service knows only the VM's identities", kind: controlPlane,
			data: func(d *bootData) { d.setKey("userAssignedIdentityID", "bbbbbbbb-2222-3333-4444-555555555555") },
			want: `/etc/kubernetes/azure.json: key userAssignedIdentityID is "bbbbbbbb-2222-3333-4444-555555555555" but the client IDs of the VM's identities are aaaaaaaa-2222-3333-4444-555555555555`,
		},
		"no credential on a control plane": {
			reason: "cloud-controller-manager cannot log in", kind: initialise,
			data: func(d *bootData) {
				d.setKey("useManagedIdentityExtension", false)
				d.dropKeys("userAssignedIdentityID")
			},
			want: "/etc/kubernetes/azure.json: no credential: neither useManagedIdentityExtension nor aadClientSecret is set, so " +
				"cloud-controller-manager cannot log in",
		},
		"the control plane's file on a worker": {
			reason: "pools name the same Secret, and nothing on a worker logs in with it", kind: worker,
			guest: func(g *guest) { g.Identity.Type = "" },
		},
		"no credential on a worker": {
			reason: "cloud-node-manager asks the metadata service", kind: worker,
			data: func(d *bootData) {
				d.setKey("useManagedIdentityExtension", false)
				d.dropKeys("userAssignedIdentityID")
			},
		},
		"service principal": {
			reason: "the credential of ServicePrincipal identities", kind: initialise,
			data: func(d *bootData) {
				d.setKey("useManagedIdentityExtension", false)
				d.dropKeys("userAssignedIdentityID")
				d.setKey("aadClientId", "cccccccc-2222-3333-4444-555555555555")
				d.setKey("aadClientSecret", "s3cret")
			},
		},
		"security group does not exist": {
			reason: "cloud-provider-azure would fail on the first Service", kind: worker,
			data: func(d *bootData) { d.setKey("securityGroupName", "alpha-nsg") },
			want: `/etc/kubernetes/azure.json: key securityGroupName is "alpha-nsg" but ` + testNetwork + `networkSecurityGroups has only [alpha-node-nsg]`,
		},
		"subnet does not exist": {
			reason: "subnets are found inside their network", kind: worker,
			data: func(d *bootData) { d.setKey("subnetName", "node-subnet") },
			want: `/etc/kubernetes/azure.json: key subnetName is "node-subnet" but ` + testNetwork + `virtualNetworks/alpha-vnet/subnets has only [alpha-node-subnet]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := sharedBootData(t)
			if tc.data != nil {
				tc.data(d)
			}
			data := map[string]func(*testing.T) string{worker: d.workerData, controlPlane: d.controlPlaneJoinData,
				initialise: d.initData}[tc.kind](t)
			if tc.edit != nil {
				data = tc.edit(data)
			}
			g := testGuest("vm-1", data)
			if tc.guest != nil {
				tc.guest(&g)
			}
			_, err := prepareEnrolment(g, testInventory(t, g))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNode checks the fields of the Node that the kubelet writes, and those that cloud-node-manager adds.
func TestNode(t *testing.T) {
	d := sharedBootData(t)
	d.join.NodeRegistration.Taints = &[]corev1.Taint{uninitializedByClusterAPI}
	d.join.NodeRegistration.KubeletExtraArgs = append(d.join.NodeRegistration.KubeletExtraArgs,
		bootstrapv1.Arg{Name: "node-labels", Value: new("pool=blue,example.com/gpu=")},
		bootstrapv1.Arg{Name: "register-with-taints", Value: new("dedicated=blue:NoExecute")},
	)
	g := testGuest("VM-1", d.workerData(t))
	e, err := prepareEnrolment(g, testInventory(t, g))
	if err != nil {
		t.Fatal(err)
	}
	type view struct {
		Name, ProviderID, Kubelet, CPU, Memory, Allocatable string
		Labels                                              map[string]string
		Taints                                              []corev1.Taint
		Addresses                                           []corev1.NodeAddress
	}
	look := func(n *corev1.Node) view {
		return view{
			n.Name, n.Spec.ProviderID, n.Status.NodeInfo.KubeletVersion, n.Status.Capacity.Cpu().String(), n.Status.Capacity.Memory().String(),
			n.Status.Allocatable.Memory().String(), maps.Clone(n.Labels), slices.Clone(n.Spec.Taints), n.Status.Addresses,
		}
	}
	registered := view{
		Name: "vm-1", Kubelet: testVersion, CPU: "2", Memory: "8Gi", Allocatable: "8092Mi",
		Labels: map[string]string{
			"pool": "blue", "example.com/gpu": "", "kubernetes.io/hostname": "vm-1", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
			"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64",
		},
		Taints: []corev1.Taint{
			uninitializedByClusterAPI, {Key: "dedicated", Value: "blue", Effect: corev1.TaintEffectNoExecute},
			{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule},
		},
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "vm-1"}},
	}
	if diff := cmp.Diff(registered, look(e.node)); diff != "" {
		t.Errorf("as the kubelet registers it (-want +got)\n%s", diff)
	}
	initialized := registered
	initialized.ProviderID = "azure:///subscriptions/" + testSubscription + "/resourceGroups/alpha/providers/Microsoft.Compute/virtualMachines/VM-1"
	initialized.Labels = maps.Clone(registered.Labels)
	initialized.Labels["node.kubernetes.io/instance-type"] = "Standard_D2s_v3"
	initialized.Labels["topology.kubernetes.io/region"] = "westeurope"
	initialized.Labels["topology.kubernetes.io/zone"] = "westeurope-2"
	initialized.Taints = registered.Taints[:2]
	initialized.Addresses = append(slices.Clone(registered.Addresses), corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "10.0.0.4"})
	lookUp(e.node, *e.found)
	if diff := cmp.Diff(initialized, look(e.node)); diff != "" {
		t.Errorf("as cloud-node-manager completes it (-want +got)\n%s", diff)
	}
}

func TestArchitecture(t *testing.T) {
	for size, want := range map[string]string{
		"Standard_D2s_v3": "amd64", "Standard_D2ps_v5": "arm64", "Standard_E4pds_v6": "arm64", "Standard_NP10s": "amd64",
		"Standard_HB120rs_v3": "amd64", "": "amd64",
	} {
		if got := architectureOf(size); got != want {
			t.Errorf("architecture of %q = %s, want %s", size, got, want)
		}
	}
}

func TestKubernetesVersionOfImages(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		image  map[string]any
		want   string
	}{
		"community gallery": {"the reference images carry the Kubernetes version",
			map[string]any{"communityGalleryImageId": "/CommunityGalleries/g/Images/i/Versions/1.33.1"}, "v1.33.1"},
		"compute gallery": {"an own gallery that follows the same scheme",
			map[string]any{"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/galleries/g/images/i/versions/1.34.0"}, "v1.34.0"},
		"own numbering": {"1.0.5 is not a Kubernetes version in use",
			map[string]any{"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/galleries/g/images/i/versions/1.0.5"}, ""},
		"marketplace": {"the SKU spells the version",
			map[string]any{"publisher": "cncf-upstream", "offer": "capi", "sku": "k8s-1dot28dot3-ubuntu-2204", "version": "latest"}, "v1.28.3"},
		"managed image": {"tells nothing", map[string]any{"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/mine"},
			""},
	} {
		vm := map[string]any{"properties": map[string]any{"storageProfile": map[string]any{"imageReference": tc.image}}}
		if got := kubernetesVersion(vm); got != tc.want {
			t.Errorf("%s (%s): got %q, want %q", name, tc.reason, got, tc.want)
		}
	}
}
