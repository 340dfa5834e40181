package server_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// readKubeconfig reads a credential: its name, server, CA, and user.
func (a *azure) readKubeconfig(action string) (name, server string, ca []byte, user map[string]any) {
	a.t.Helper()
	r := a.sendRequest("POST", aks+"/"+action+aksV, nil)
	text, _ := r.valueAt("kubeconfigs.0.value").(string)
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || r.status != 200 {
		a.t.Fatalf("%s = %d %v", action, r.status, r.body)
	}
	var doc map[string]any
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		a.t.Fatal(err)
	}
	name, _ = r.valueAt("kubeconfigs.0.name").(string)
	server, _ = valueAt(doc, "clusters.0.cluster.server").(string)
	data, _ := valueAt(doc, "clusters.0.cluster.certificate-authority-data").(string)
	ca, _ = base64.StdEncoding.DecodeString(data)
	user, _ = valueAt(doc, "users.0.user").(map[string]any)
	return name, server, ca, user
}

func TestManagedClusterCredentials(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	a.sendRequest("PUT", aks+aksV, aksCluster(nil))
	aksRefused(t, "while the cluster is made", a.sendRequest("POST", aks+"/listClusterAdminCredential"+aksV, nil), 409, "OperationNotAllowed",
		"not available")
	a.sim.Settle()
	fqdn, _ := a.sendRequest("GET", aks+aksV, nil).valueAt("properties.fqdn").(string)
	for action, want := range map[string]string{"listClusterAdminCredential": "clusterAdmin", "listClusterUserCredential": "clusterUser",
		"listClusterMonitoringUserCredential": "clusterMonitoringUser"} {
		name, at, ca, user := a.readKubeconfig(action)
		if name != want || at != "https://"+fqdn+":443" || string(ca) != a.listClusters()[0].CA.Certificate {
			t.Errorf("%s: name %s, server %s", action, name, at)
		}
		cert := decodeCertificate(t, user["client-certificate-data"])
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca)
		if _, err := cert.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil ||
			!slices.Contains(cert.Subject.Organization, "system:masters") {
			t.Errorf("%s: certificate of %s: %v", action, cert.Subject, err)
		}
	}
	_, _, before, _ := a.readKubeconfig("listClusterAdminCredential")
	a.mustSucceed("POST", aks+"/rotateClusterCertificates"+aksV, nil)
	if _, _, after, _ := a.readKubeconfig("listClusterAdminCredential"); string(after) == string(before) {
		t.Error("the certificate authority was not rotated")
	}
	a.mustSucceed("PUT", aks+aksV,
		obj{"location": "westus3",
			"properties": obj{"aadProfile": obj{"managed": true, "adminGroupObjectIDs": []any{"00000000-0000-0000-0000-000000000009"}},
				"disableLocalAccounts": true}})
	aksRefused(t, "without local accounts", a.sendRequest("POST", aks+"/listClusterAdminCredential"+aksV, nil), 400, "BadRequest",
		"disable local accounts")
	_, _, _, user := a.readKubeconfig("listClusterUserCredential")
	if args := fmt.Sprint(valueAt(user, "exec.args")); !strings.Contains(args, "6dae42f8-4368-4678-94ff-3960e28e3630") ||
		valueAt(user, "exec.command") != "kubelogin" {
		t.Errorf("user of an Entra cluster = %v", user)
	}
	if c := a.listClusters()[0]; c.LocalAccounts || !c.AAD {
		t.Errorf("control API: local accounts %v, AAD %v", c.LocalAccounts, c.AAD)
	}
}

func decodeCertificate(t *testing.T, v any) *x509.Certificate {
	t.Helper()
	s, _ := v.(string)
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := pem.Decode(raw)
	if b == nil {
		t.Fatalf("no certificate in %q", s)
	}
	cert, err := x509.ParseCertificate(b.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestClustersAndTheDataPlane(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.ControlToken = "token" })
	a.createGroup()
	a.sendRequest("PUT", aks+aksV, aksCluster(nil))
	fqdn, _ := a.sendRequest("GET", aks+aksV, nil).valueAt("properties.fqdn").(string)
	dial := func(port int) (r server.Route) {
		a.callControl("GET", fmt.Sprintf("/_sim/dial?host=%s&port=%d", strings.ToUpper(fqdn), port), nil, &r)
		return r
	}
	if len(a.listClusters()) != 0 || !strings.Contains(dial(443).Message, "not up yet") {
		t.Errorf("at once: %d clusters, dial %+v", len(a.listClusters()), dial(443))
	}
	appeared, nodes := time.Duration(0), time.Duration(0)
	for d := time.Duration(0); d < 5*time.Minute && nodes == 0; d += 5 * time.Second {
		a.sim.Advance(5 * time.Second)
		if len(a.listClusters()) > 0 && appeared == 0 {
			appeared = d
		}
		if len(a.listNodes()) > 0 {
			nodes = d
		}
	}
	if appeared == 0 || nodes <= appeared {
		t.Errorf("the API server answers after %s, nodes run after %s; want it before them", appeared, nodes)
	}
	a.sim.Settle()
	c := a.listClusters()[0]
	n := c.Nodes[1]
	digits := strings.Split(n.Name, "-")[2]
	instance := mcRG + "/providers/Microsoft.Compute/virtualMachineScaleSets/aks-pool0-" + digits + "-vmss/virtualMachines/1"
	if n.Name != "aks-pool0-"+digits+"-vmss000001" || n.InstanceID != instance ||
		n.ProviderID != "azure://"+strings.Replace(instance, "MC_rg_c1_westus3", "mc_rg_c1_westus3", 1) || len(n.Addresses) != 1 ||
		n.BootID == "" || !n.Running {
		t.Errorf("node = %+v", n)
	}
	if diff := cmp.Diff([]any{"c1", "rg", "westus3", "1.33.2", "Running", "10.0.0.0/16", true, false},
		[]any{c.Name, c.ResourceGroup, c.Location, c.KubernetesVersion, c.PowerState, c.ServiceCIDR, c.LocalAccounts, c.AAD}); diff != "" {
		t.Errorf("cluster (-want +got):\n%s", diff)
	}
	if status := a.callControl("PUT", "/_sim/clusters/listeners", obj{"id": c.ID, "address": "127.0.0.1:7777"}, nil); status != 204 {
		t.Fatalf("listener = %d", status)
	}
	if r := dial(443); r.Address != "127.0.0.1:7777" || r.Step != "" {
		t.Errorf("dial = %+v", r)
	}
	if r := dial(6443); r.Step != "rule" {
		t.Errorf("dial of another port = %+v", r)
	}
	for _, bad := range []obj{{"id": c.ID, "address": "nonsense"}, {"id": c.ID + "x", "address": "127.0.0.1:1"}} {
		if status := a.callControl("PUT", "/_sim/clusters/listeners", bad, nil); status != 400 && status != 404 {
			t.Errorf("listener %v = %d", bad, status)
		}
	}
	a.mustSucceed("POST", aks+"/stop"+aksV, nil)
	if r := dial(443); r.Step != "listener" || !strings.Contains(r.Message, "stopped") {
		t.Errorf("dial of a stopped cluster = %+v", r)
	}
	if diff := cmp.Diff([]string{"pool0/1.33.2/off", "pool0/1.33.2/off"}, a.listNodes()); diff != "" {
		t.Errorf("nodes of a stopped cluster (-want +got):\n%s", diff)
	}
	aksRefused(t, "PUT while stopped", a.sendRequest("PUT", aks+aksV, aksCluster(nil)), 409, "OperationNotAllowed", "stopped")
	aksRefused(t, "pool while stopped", a.sendRequest("PUT", pools+"x"+aksV, agentPool(nil)), 409, "OperationNotAllowed", "stopped")
	a.mustSucceed("POST", aks+"/start"+aksV, nil)
	if diff := cmp.Diff([]string{"pool0/1.33.2", "pool0/1.33.2"}, a.listNodes()); diff != "" {
		t.Errorf("nodes after the start (-want +got):\n%s", diff)
	}
	if status := a.callControl("DELETE", "/_sim/clusters/listeners", obj{"id": c.ID}, nil); status != 204 || dial(443).Step != "listener" {
		t.Errorf("listener removed = %d, dial %+v", status, dial(443))
	}
}

func TestManagedClusterMergesWhatItIsSent(t *testing.T) {
	a := newAzure(t)
	a.createAKS(func(p obj) {
		p["apiServerAccessProfile"] = obj{"authorizedIPRanges": []any{"1.2.3.4/32"}}
		p["autoUpgradeProfile"] = obj{"upgradeChannel": "stable"}
		p["addonProfiles"] = obj{"azurepolicy": obj{"enabled": true, "config": obj{"a": "1", "b": "2"}}}
	})
	cases := []struct {
		reason string
		send   obj
		path   string
		want   any
	}{
		{"left out stays", obj{"properties": obj{}}, "properties.autoUpgradeProfile.upgradeChannel", "stable"},
		{"pools stay without profiles", obj{"properties": obj{}}, "properties.agentPoolProfiles.0.count", 2.0},
		{"an empty list takes away", obj{"properties": obj{"apiServerAccessProfile": obj{"authorizedIPRanges": []any{}}}},
			"properties.apiServerAccessProfile.authorizedIPRanges.0", nil},
		{"null takes away", obj{"properties": obj{"autoUpgradeProfile": obj{"upgradeChannel": nil}}},
			"properties.autoUpgradeProfile.upgradeChannel", nil},
		{"the sibling has stayed", obj{"properties": obj{}}, "properties.autoUpgradeProfile.nodeOSUpgradeChannel", "NodeImage"},
		{"a map of strings is replaced", obj{"properties": obj{"addonProfiles": obj{"azurepolicy": obj{"config": obj{"a": "1"}}}}},
			"properties.addonProfiles.azurepolicy.config.b", nil},
		{"null as SDKs of the operator send it keeps add-ons", obj{"properties": obj{"addonProfiles": nil}},
			"properties.addonProfiles.azurepolicy.enabled", true},
		{"false turns off", obj{"properties": obj{"addonProfiles": obj{"azurepolicy": obj{"enabled": false}}}},
			"properties.addonProfiles.azurepolicy.identity", nil},
		{"a profile changes its pool", obj{"properties": obj{"agentPoolProfiles": []any{obj{"name": "pool0", "count": 3}}}},
			"properties.agentPoolProfiles.0.count", 3.0},
		{"tags are replaced", obj{"tags": obj{"x": "y"}, "properties": obj{}}, "tags.x", "y"},
		{"tags that are left out stay", obj{"properties": obj{}}, "tags.x", "y"},
		{"the alias of the running version changes nothing", obj{"properties": obj{"kubernetesVersion": "1.33"}},
			"properties.currentKubernetesVersion", "1.33.2"},
		{"the tier changes", obj{"sku": obj{"name": "Base", "tier": "Standard"}, "properties": obj{}}, "sku.tier", "Standard"},
	}
	for _, tc := range cases {
		tc.send["location"] = "westus3"
		a.mustSucceed("PUT", aks+aksV, tc.send)
		r := a.sendRequest("GET", aks+aksV, nil)
		if got := r.valueAt(tc.path); got != tc.want || r.valueAt("properties.provisioningState") != "Succeeded" {
			t.Errorf("%s: %s = %v, want %v (%v)", tc.reason, tc.path, got, tc.want, r.valueAt("properties.provisioningState"))
		}
	}
	if n := len(a.listNodes()); n != 3 {
		t.Errorf("%d nodes, want 3", n)
	}
	if r := a.mustSucceed("PATCH", aks+aksV, obj{"tags": obj{"z": "1"}}); r.valueAt("tags.z") != "1" || r.valueAt("tags.x") != nil {
		t.Errorf("PATCH = %v", r.body)
	}
}

func TestManagedClusterThatFailsCanBeRepairedOrDeleted(t *testing.T) {
	for _, rule := range []fault.Rule{
		{Kind: fault.Fail, Method: "PUT", Type: "Microsoft.ContainerService/managedClusters", Code: "ControlPlaneAddOnsNotReady"},
		{Kind: fault.Fail, Method: "PUT", Type: "Microsoft.Network/publicIPAddresses", Code: "InternalServerError"},
	} {
		a := newAzure(t)
		a.createGroup()
		if err := a.sim.AddFault(rule); err != nil {
			t.Fatal(err)
		}
		r := a.mustSucceed("PUT", aks+aksV, aksCluster(nil))
		if op := a.sendRequest("GET", r.header.Get("Azure-AsyncOperation"), nil); op.valueAt("status") != "Failed" ||
			op.valueAt("error.code") == nil {
			t.Errorf("%s: operation = %v", rule.Type, op.body)
		}
		r = a.sendRequest("GET", aks+aksV, nil)
		if r.valueAt("properties.provisioningState") != "Failed" || r.valueAt("properties.agentPoolProfiles.0.provisioningState") != "Failed" {
			t.Errorf("%s: after the failure: %v, pool %v", rule.Type, r.valueAt("properties.provisioningState"),
				r.valueAt("properties.agentPoolProfiles.0.provisioningState"))
		}
		aksRefused(t, "a pool of a cluster that was never up", a.sendRequest("PUT", pools+"x"+aksV, agentPool(nil)), 409, "OperationNotAllowed",
			"failed provisioning state")
		a.mustSucceed("PUT", aks+aksV, aksCluster(nil))
		if r := a.sendRequest("GET", aks+aksV, nil); r.valueAt("properties.provisioningState") != "Succeeded" ||
			r.valueAt("properties.agentPoolProfiles.0.provisioningState") != "Succeeded" {
			t.Errorf("%s: after another PUT: %v", rule.Type, r.valueAt("properties.provisioningState"))
		}
		if n := len(a.listNodes()); n != 2 {
			t.Errorf("%s: %d nodes", rule.Type, n)
		}
		if err := a.sim.AddFault(fault.Rule{Kind: fault.Allocate, Method: "PUT",
			Type: "Microsoft.ContainerService/managedClusters/agentPools"}); err != nil {
			t.Fatal(err)
		}
		if _, end := a.putAndSettle("bad", agentPool(nil)); end.valueAt("properties.provisioningState") != "Failed" {
			t.Errorf("pool without capacity = %v", end.valueAt("properties.provisioningState"))
		}
		a.mustSucceed("DELETE", groupA, nil)
		for _, id := range []string{groupA, mcRG} {
			if r := a.sendRequest("GET", id, nil); r.status != 404 {
				t.Errorf("%s: %s is left", rule.Type, id)
			}
		}
	}
}

func TestManagedClusterReads(t *testing.T) {
	a := newAzure(t)
	a.createAKS(nil)
	list := func(v any) string { return fmt.Sprint(v) }
	profile := a.sendRequest("GET", aks+"/upgradeProfiles/default"+aksV, nil)
	if !strings.Contains(list(profile.valueAt("properties.controlPlaneProfile.upgrades")), "1.34.2") ||
		strings.Contains(list(profile.valueAt("properties.controlPlaneProfile.upgrades")), "1.35") {
		t.Errorf("upgrade profile = %v", profile.body)
	}
	if p := a.sendRequest("GET", pools+"pool0/upgradeProfiles/default"+aksV, nil); p.valueAt("properties.latestNodeImageVersion") == nil ||
		strings.Contains(list(p.valueAt("properties.upgrades")), "1.34") {
		t.Errorf("pool upgrade profile = %v", p.body)
	}
	if v := a.sendRequest("GET", aks+"/availableAgentPoolVersions"+aksV, nil); !strings.Contains(list(v.body), "1.33.2") && v.status != 200 {
		t.Errorf("availableAgentPoolVersions = %v", v.body)
	}
	v := a.sendRequest("GET", "/subscriptions/"+sub+"/providers/Microsoft.ContainerService/locations/westus3/kubernetesVersions"+aksV, nil)
	if !strings.Contains(list(v.body), "isDefault:true") ||
		strings.Contains(list(a.sendRequest("GET",
			"/subscriptions/"+sub+"/providers/Microsoft.ContainerService/locations/northcentralus/kubernetesVersions"+aksV, nil).body), "1.34") {
		t.Errorf("kubernetesVersions = %v", v.body)
	}
	// az aks get-versions of old asks for these.
	v = a.sendRequest("GET",
		"/subscriptions/"+sub+"/providers/Microsoft.ContainerService/locations/westus3/orchestrators?resource-type=managedClusters&api-version=2019-04-01", nil)
	if all := list(v.valueAt("properties.orchestrators")); v.status != 200 || strings.Count(all, "default:true") != 1 ||
		!strings.Contains(all, "orchestratorVersion:1.34.2") {
		t.Errorf("orchestrators = %d %v", v.status, v.body)
	}
	if m := a.sendRequest("GET", pools+"pool0/machines"+aksV, nil); len(m.body["value"].([]any)) != 2 {
		t.Errorf("machines = %v", m.body)
	}
	run := a.sendRequest("POST", aks+"/runCommand"+aksV, obj{"command": "kubectl get nodes"})
	a.sim.Settle()
	if r := a.sendRequest("GET", run.header.Get("Location"), nil); r.valueAt("properties.exitCode") != 0.0 {
		t.Errorf("run command = %d %v", r.status, r.body)
	}
	if r := a.sendRequest("GET", aks+"?api-version=2025-08-01", nil); r.body["eTag"] != nil ||
		a.sendRequest("GET", aks+aksV, nil).body["eTag"] == nil {
		t.Error("eTag must be shown since 2025-10-01 only")
	}
	withBridge := aksCluster(func(p obj) {
		p["networkProfile"] = obj{"networkPlugin": "kubenet", "dockerBridgeCidr": "172.17.0.1/16"}
	})
	if r := a.sendRequest("PUT", groupA+"/providers/Microsoft.ContainerService/managedClusters/older?api-version=2022-11-01",
		withBridge); r.status != 201 {
		t.Errorf("PUT with what api-version 2022-11-01 had = %d %v", r.status, r.body)
	}
	if r := a.sendRequest("PUT", groupA+"/providers/Microsoft.ContainerService/managedClusters/newer?api-version=2025-10-01",
		withBridge); r.status != 400 {
		t.Errorf("PUT with what api-version 2022-11-01 had, to one that has it no more = %d", r.status)
	}
}

func TestTrustedAccess(t *testing.T) {
	a := newAzure(t)
	a.createAKS(nil)
	at := aks + "/trustedAccessRoleBindings/b" + aksV
	doc := obj{"properties": obj{"sourceResourceId": groupA + "/providers/Microsoft.MachineLearningServices/workspaces/w",
		"roles": []any{"Microsoft.MachineLearningServices/workspaces/mlworkload"}}}
	if r := a.mustSucceed("PUT", at, doc); r.status != 201 || r.valueAt("properties.provisioningState") != "Updating" ||
		a.sendRequest("GET", at, nil).valueAt("properties.provisioningState") != "Succeeded" {
		t.Errorf("PUT = %d %v", r.status, r.body)
	}
	doc["properties"].(obj)["roles"] = []any{"Microsoft.MachineLearningServices/workspaces/inference-v1"}
	if r := a.mustSucceed("PUT", at, doc); r.status != 201 || r.header.Get("Azure-AsyncOperation") == "" {
		t.Errorf("an update = %d %v, recorded is 201 with an operation", r.status, r.header)
	}
	aksRefused(t, "no roles", a.sendRequest("PUT", aks+"/trustedAccessRoleBindings/c"+aksV, obj{"properties": obj{}}), 400, "InvalidParameter",
		"at least one role")
	if r := a.mustSucceed("DELETE", at, nil); r.status != 202 || a.sendRequest("GET", at, nil).status != 404 {
		t.Errorf("DELETE = %d", r.status)
	}
}

func TestMaintenanceConfigurations(t *testing.T) {
	a := newAzure(t)
	a.createAKS(nil)
	at := aks + "/maintenanceConfigurations/"
	window := func(hours int, start string) obj {
		return obj{"properties": obj{"maintenanceWindow": obj{"durationHours": hours, "startTime": start,
			"schedule": obj{"weekly": obj{"dayOfWeek": "Saturday", "intervalWeeks": 1}}}}}
	}
	if r := a.sendRequest("PUT", at+"aksManagedAutoUpgradeSchedule"+aksV, window(12, "00:00")); r.status != 200 ||
		r.valueAt("properties.maintenanceWindow.utcOffset") != "+00:00" {
		t.Errorf("PUT = %d %v", r.status, r.body)
	}
	aksRefused(t, "another name", a.sendRequest("PUT", at+"mine"+aksV, window(12, "00:00")), 400, "InvalidParameter", "not one of default")
	aksRefused(t, "too short", a.sendRequest("PUT", at+"aksManagedNodeOSUpgradeSchedule"+aksV, window(2, "00:00")), 400, "InvalidParameter",
		"between 4 and 24")
	aksRefused(t, "no time", a.sendRequest("PUT", at+"aksManagedNodeOSUpgradeSchedule"+aksV, window(4, "25:00")), 400, "InvalidParameter",
		"hh:mm")
	if r := a.sendRequest("DELETE", at+"aksManagedAutoUpgradeSchedule"+aksV, nil); r.status != 200 {
		t.Errorf("DELETE = %d", r.status)
	}
}
