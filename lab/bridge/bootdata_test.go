package bridge

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/ignition"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types/upstream"
	"sigs.k8s.io/cluster-api/util/secret"
)

const (
	testEndpointHost = "alpha-1a2b3c.westeurope.cloudapp.azure.com"
	testToken        = "abcdef.0123456789abcdef"
	testSubscription = "11111111-2222-3333-4444-555555555555"
	testVersion      = "v1.34.2"
)

// bootData makes bootstrap data with Cluster API's own code, as the kubeadm bootstrap provider does.
type bootData struct {
	certs     secret.Certificates
	version   semver.Version
	azureJSON map[string]any
	init      *bootstrapv1.InitConfiguration
	cluster   *bootstrapv1.ClusterConfiguration
	join      *bootstrapv1.JoinConfiguration
	files     []bootstrapv1.File
	before    []string
	// ignition makes Ignition configs in place of cloud-config.
	ignition *bootstrapv1.IgnitionSpec
}

func newBootData(t *testing.T) *bootData {
	t.Helper()
	certs := secret.NewCertificatesForInitialControlPlane(nil)
	if err := certs.Generate(); err != nil {
		t.Fatal(err)
	}
	return bootDataWith(t, certs)
}

// sharedCertificates saves tests that only read data from making keys of their own.
var sharedCertificates = sync.OnceValues(func() (secret.Certificates, error) {
	certs := secret.NewCertificatesForInitialControlPlane(nil)
	return certs, certs.Generate()
})

// sharedBootData is newBootData with certificate authorities that other tests use too.
func sharedBootData(t *testing.T) *bootData {
	t.Helper()
	shared, err := sharedCertificates()
	if err != nil {
		t.Fatal(err)
	}
	certs := make(secret.Certificates, len(shared))
	for i, c := range shared {
		own, pair := *c, *c.KeyPair
		own.KeyPair = &pair
		certs[i] = &own
	}
	return bootDataWith(t, certs)
}

func bootDataWith(t *testing.T, certs secret.Certificates) *bootData {
	t.Helper()
	registration := bootstrapv1.NodeRegistrationOptions{
		Name:             `{{ ds.meta_data["local_hostname"] }}`,
		KubeletExtraArgs: []bootstrapv1.Arg{{Name: "cloud-provider", Value: new("external")}},
	}
	hashes, err := certs.GetByPurpose(secret.ClusterCA).Hashes()
	if err != nil {
		t.Fatal(err)
	}
	return &bootData{
		certs:   certs,
		version: semver.MustParse(strings.TrimPrefix(testVersion, "v")),
		azureJSON: map[string]any{
			"cloud": "AzurePublicCloud", "tenantId": "99999999-2222-3333-4444-555555555555", "subscriptionId": testSubscription,
			"resourceGroup": "alpha", "location": "westeurope", "vmType": "vmss", "loadBalancerSku": "Standard",
			"vnetName": "alpha-vnet", "vnetResourceGroup": "alpha", "subnetName": "alpha-node-subnet",
			"securityGroupName": "alpha-node-nsg", "securityGroupResourceGroup": "alpha", "routeTableName": "alpha-node-routetable",
			"useManagedIdentityExtension": true, "userAssignedIdentityID": "aaaaaaaa-2222-3333-4444-555555555555", "useInstanceMetadata": true,
		},
		init: &bootstrapv1.InitConfiguration{NodeRegistration: registration},
		cluster: &bootstrapv1.ClusterConfiguration{
			ControlPlaneEndpoint: testEndpointHost + ":6443",
			APIServer:            bootstrapv1.APIServer{CertSANs: []string{"api.alpha.example"}},
		},
		join: &bootstrapv1.JoinConfiguration{
			NodeRegistration: registration,
			Discovery: bootstrapv1.Discovery{BootstrapToken: bootstrapv1.BootstrapTokenDiscovery{
				APIServerEndpoint: testEndpointHost + ":6443", Token: testToken, CACertHashes: hashes,
			}},
		},
		before: []string{"hostnamectl set-hostname \"{{ ds.meta_data.local_hostname }}\""},
	}
}

func (d *bootData) baseUserData(t *testing.T) cloudinit.BaseUserData {
	t.Helper()
	config, err := json.MarshalIndent(d.azureJSON, "", "    ")
	if err != nil {
		t.Fatal(err)
	}
	return cloudinit.BaseUserData{
		AdditionalFiles: append([]bootstrapv1.File{{
			Path: "/etc/kubernetes/azure.json", Owner: "root:root", Permissions: "0644", Content: string(config),
		}}, d.files...),
		PreKubeadmCommands: d.before,
		KubernetesVersion:  d.version,
	}
}

func (d *bootData) initData(t *testing.T) string {
	t.Helper()
	cluster, err := kubeadmtypes.MarshalClusterConfigurationForVersion(d.cluster, d.version, &upstream.AdditionalData{
		KubernetesVersion: new("v" + d.version.String()), ClusterName: new("alpha"), DNSDomain: new("cluster.local"),
		ServiceSubnet: new("10.128.0.0/12"),
	})
	if err != nil {
		t.Fatal(err)
	}
	init, err := kubeadmtypes.MarshalInitConfigurationForVersion(d.init, d.version)
	if err != nil {
		t.Fatal(err)
	}
	input := &cloudinit.ControlPlaneInput{BaseUserData: d.baseUserData(t), Certificates: d.certs, ClusterConfiguration: cluster,
		InitConfiguration: init}
	if d.ignition != nil {
		data, _, err := ignition.NewInitControlPlane(&ignition.ControlPlaneInput{ControlPlaneInput: input, Ignition: d.ignition})
		return customData(t, data, err)
	}
	data, err := cloudinit.NewInitControlPlane(input)
	return customData(t, data, err)
}

func customData(t *testing.T, document []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(document)
}

func (d *bootData) joinYAML(t *testing.T, controlPlane bool) string {
	t.Helper()
	join := d.join.DeepCopy()
	if controlPlane {
		join.ControlPlane = &bootstrapv1.JoinControlPlane{}
	}
	out, err := kubeadmtypes.MarshalJoinConfigurationForVersion(join, d.version)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (d *bootData) controlPlaneJoinData(t *testing.T) string {
	t.Helper()
	input := &cloudinit.ControlPlaneJoinInput{BaseUserData: d.baseUserData(t), Certificates: d.certs, JoinConfiguration: d.joinYAML(t, true)}
	if d.ignition != nil {
		data, _, err := ignition.NewJoinControlPlane(&ignition.ControlPlaneJoinInput{ControlPlaneJoinInput: input, Ignition: d.ignition})
		return customData(t, data, err)
	}
	data, err := cloudinit.NewJoinControlPlane(input)
	return customData(t, data, err)
}

func (d *bootData) workerData(t *testing.T) string {
	t.Helper()
	input := &cloudinit.NodeInput{BaseUserData: d.baseUserData(t), JoinConfiguration: d.joinYAML(t, false)}
	if d.ignition != nil {
		data, _, err := ignition.NewNode(&ignition.NodeInput{NodeInput: input, Ignition: d.ignition})
		return customData(t, data, err)
	}
	data, err := cloudinit.NewNode(input)
	return customData(t, data, err)
}

// testGuest returns a VM in resource group Alpha, whose case differs from azure.json's as ARM allows.
func testGuest(name, customData string) guest {
	g := guest{
		VMID: fmt.Sprintf("/subscriptions/%s/resourceGroups/Alpha/providers/Microsoft.Compute/virtualMachines/%s", testSubscription,
			name),
		InstanceID:     "instance-of-" + name,
		ComputerName:   name,
		ResourceGroup:  "Alpha",
		SubscriptionID: testSubscription,
		Location:       "westeurope",
		Zone:           "2",
		BootID:         "boot-1",
		PowerState:     "running",
		CustomData:     customData,
		OSType:         "Linux",
		VMSize:         "Standard_D2s_v3",
		VCPUs:          2,
		MemoryGB:       8,
	}
	g.NICs = append(g.NICs, struct {
		ID         string   `json:"id"`
		PrivateIPs []string `json:"privateIPs"`
		PublicIPs  []string `json:"publicIPs"`
	}{ID: g.VMID + "-nic", PrivateIPs: []string{"10.0.0.4"}})
	g.Identity.Type = "UserAssigned"
	g.Identity.UserAssignedIdentities = map[string]any{
		testIdentity: map[string]any{"clientId": "aaaaaaaa-2222-3333-4444-555555555555"},
	}
	return g
}

const (
	testNetwork  = "/subscriptions/" + testSubscription + "/resourceGroups/alpha/providers/Microsoft.Network/"
	testIdentity = "/subscriptions/" + testSubscription + "/resourceGroups/alpha/providers/Microsoft.ManagedIdentity/userAssignedIdentities/cloud-provider"
)

// testState returns the resources that the simulator stores for the cluster, with the subnet inside its network.
func testState(vms ...guest) []map[string]any {
	state := []map[string]any{
		{"id": testNetwork + "virtualNetworks/alpha-vnet", "name": "alpha-vnet", "properties": map[string]any{
			"subnets": []any{map[string]any{"id": testNetwork + "virtualNetworks/alpha-vnet/subnets/alpha-node-subnet", "name": "alpha-node-subnet",
				"properties": map[string]any{
					"networkSecurityGroup": map[string]any{"id": testNetwork + "networkSecurityGroups/alpha-node-nsg"},
				}}},
		}},
		{"id": testNetwork + "networkSecurityGroups/alpha-node-nsg", "name": "alpha-node-nsg"},
		{"id": testNetwork + "routeTables/alpha-node-routetable", "name": "alpha-node-routetable"},
	}
	for _, g := range vms {
		state = append(state, map[string]any{"id": g.VMID, "name": g.ComputerName, "properties": map[string]any{
			"hardwareProfile": map[string]any{"vmSize": "Standard_D2s_v3"},
			"storageProfile": map[string]any{"imageReference": map[string]any{
				"communityGalleryImageId": "/CommunityGalleries/ClusterAPI/Images/capi-ubun2-2404/Versions/" + strings.TrimPrefix(testVersion, "v"),
			}},
		}})
	}
	return state
}

func testInventory(t *testing.T, vms ...guest) inventory {
	t.Helper()
	data, err := json.Marshal(testState(vms...))
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	inv := inventory{}
	inv.collectIDs("", tree)
	return inv
}

func (d *bootData) setKey(key string, value any) { d.azureJSON[key] = value }

func (d *bootData) dropKeys(keys ...string) {
	for _, k := range keys {
		maps.DeleteFunc(d.azureJSON, func(have string, _ any) bool { return have == k })
	}
}

// certificateOf finds one of the certificates to break it.
func (d *bootData) certificateOf(p secret.Purpose) *secret.Certificate {
	return d.certs.GetByPurpose(p)
}

var uninitializedByClusterAPI = corev1.Taint{Key: "node.cluster.x-k8s.io/uninitialized", Effect: corev1.TaintEffectNoSchedule}
