package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/lab/provider"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

// family is a cluster of a management cluster that is moved.
type family struct {
	flavor, version, namespace string
	// change changes the objects of the flavor; nil changes none.
	change func(objects []*unstructured.Unstructured) []*unstructured.Unstructured
}

// otherNamespace is the namespace of clusters beside those in default.
const otherNamespace = "second"

// families are clusters of all families of kinds, by name.
var families = map[string]family{
	"plain":     {"default", settings.KubernetesVersion, "default", useBroughtNetwork},
	"hidden":    {"private", settings.KubernetesVersion, otherNamespace, nil},
	"vms":       {"machinepool", settings.KubernetesVersion, "default", addFlexiblePool},
	"typed":     {"aks", settings.ManagedKubernetesVersion, "default", nil},
	"documents": {"aks-aso", settings.ManagedKubernetesVersion, "default", nil},
	"class":     {"aks-topology", settings.ManagedKubernetesVersion, "default", nil},
}

// broughtNetwork is the beginning of the IDs of a network that a user has created for a cluster, with subnets, security groups
// and a route table.
const broughtNetwork = "/subscriptions/" + settings.SubscriptionID + "/resourceGroups/brought/providers/Microsoft.Network/"

// useBroughtNetwork lets the cluster use the brought network. Its machines reach the internet through a load balancer, because existing
// subnets stay without NAT gateways.
func useBroughtNetwork(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	for _, o := range objects {
		if o.GetKind() == "AzureCluster" {
			setNested(o, object{"name": "brought-vnet", "resourceGroup": "brought"}, "spec", "networkSpec", "vnet")
			setNested(o, object{"frontendIPsCount": int64(1)}, "spec", "networkSpec", "nodeOutboundLB")
		}
	}
	return objects
}

// bringNetwork creates the brought network.
func (l *lab) bringNetwork() {
	l.t.Helper()
	azure, err := simulator.New(l.loadSettings())
	if err != nil {
		l.t.Fatal(err)
	}
	rule := func(name, port string, priority int) object {
		return object{"name": name, "properties": object{"protocol": "Tcp", "direction": "Inbound", "access": "Allow", "priority": priority,
			"sourceAddressPrefix": "*", "sourcePortRange": "*", "destinationAddressPrefix": "*", "destinationPortRange": port}}
	}
	subnet := func(name, prefix, group string) object {
		return object{"name": name, "properties": object{"addressPrefix": prefix,
			"networkSecurityGroup": object{"id": broughtNetwork + "networkSecurityGroups/" + group},
			"routeTable":           object{"id": broughtNetwork + "routeTables/plain-node-routetable"}}}
	}
	const version = "2024-05-01"
	group, _, _ := strings.Cut(broughtNetwork, "/providers/")
	for _, resource := range []struct {
		id, version string
		body        object
	}{
		{group, "2021-04-01", object{"location": settings.Location}},
		{broughtNetwork + "networkSecurityGroups/plain-controlplane-nsg", version, object{"location": settings.Location, "properties": object{
			"securityRules": []any{rule("ssh", "22", 2200), rule("apiserver", "6443", 2201)}}}},
		{broughtNetwork + "networkSecurityGroups/plain-node-nsg", version, object{"location": settings.Location}},
		{broughtNetwork + "routeTables/plain-node-routetable", version, object{"location": settings.Location}},
		{broughtNetwork + "virtualNetworks/brought-vnet", version, object{"location": settings.Location, "properties": object{
			"addressSpace": object{"addressPrefixes": []any{"10.0.0.0/8"}},
			"subnets": []any{subnet("control-plane-subnet", "10.0.0.0/16", "plain-controlplane-nsg"),
				subnet("node-subnet", "10.1.0.0/16", "plain-node-nsg")},
		}}},
	} {
		// Azure refuses references to resources that are still being created.
		l.eventually("the brought network is created", func() (bool, string) {
			err := azure.PutResource(l.t.Context(), resource.id, resource.version, resource.body)
			return err == nil, fmt.Sprint(err)
		})
	}
}

// useSecret has a cluster sign in with a Secret of its namespace. The lab's application trusts only
// ServiceAccounts of the namespace default.
func (l *lab) useSecret(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	for _, o := range objects {
		if o.GetKind() == "AzureClusterIdentity" {
			setNested(o, "ServicePrincipal", "spec", "type")
			setNested(o, settings.ClientID, "spec", "clientID")
			setNested(o, object{"name": "principal", "namespace": o.GetNamespace()}, "spec", "clientSecret")
			objects = append(objects, &unstructured.Unstructured{Object: object{
				"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": "principal", "namespace": o.GetNamespace()},
				"stringData": object{"clientSecret": l.loadSettings().ClientSecret},
			}})
		}
	}
	return objects
}

// addFlexiblePool adds to the pool of a cluster, whose orchestration is Uniform, a second one with the orchestration Flexible.
func addFlexiblePool(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	out := slices.Clone(objects)
	for _, o := range objects {
		if !strings.HasSuffix(o.GetName(), "-mp-0") {
			continue
		}
		raw, err := o.MarshalJSON()
		if err != nil {
			panic(err) // It was decoded from a manifest.
		}
		second := &unstructured.Unstructured{}
		if err := second.UnmarshalJSON([]byte(strings.ReplaceAll(string(raw), "-mp-0", "-mp-1"))); err != nil {
			panic(err)
		}
		if o.GetKind() == "AzureMachinePool" {
			setNested(second, "Flexible", "spec", "orchestrationMode")
		}
		out = append(out, second)
	}
	return out
}

// createFamilies creates the clusters and waits until all of them exist.
func (l *lab) createFamilies() {
	l.t.Helper()
	begin := time.Now()
	l.bringNetwork()
	l.runProgram("kubectl", "create", "namespace", otherNamespace)
	for name, of := range families {
		manifest := strings.ReplaceAll(l.generateCluster(name, of.flavor, of.version, 1), "namespace: default\n", "namespace: "+of.namespace+"\n")
		objects, err := provider.DecodeDocuments([]byte(manifest))
		if err != nil {
			l.t.Fatal(err)
		}
		if of.change != nil {
			objects = of.change(objects)
		}
		if of.namespace != "default" {
			objects = l.useSecret(objects)
		}
		raw, err := provider.EncodeDocuments(objects)
		if err != nil {
			l.t.Fatal(err)
		}
		l.applyManifest(string(raw))
	}
	for name, of := range families {
		l.runProgram("kubectl", "wait", "cluster/"+name, "--namespace", of.namespace, "--for=condition=Available", "--timeout", patience.String())
	}
	l.runProgram("kubectl", "wait",
		"azuremachines,azuremachinepools,azuremachinepoolmachines,azuremanagedcontrolplanes,azuremanagedmachinepools,"+documentTypes, "--all",
		"--all-namespaces", "--for=condition=Ready", "--timeout", patience.String())
	l.t.Logf("%d clusters after %.0f s", len(families), time.Since(begin).Seconds())
}

// listMachines returns the Machines of all namespaces with their IDs.
func (l *lab) listMachines() []string {
	l.t.Helper()
	var out []string
	for _, o := range l.listObjects("machines") {
		out = append(out, fmt.Sprintf("%s/%s %s", o.GetNamespace(), o.GetName(), o.GetUID()))
	}
	slices.Sort(out)
	return out
}

// scaled are the groups of machines that are scaled after the move: of VMs, of scale sets with both orchestrations, and of agent pools of both
// families.
var scaled = []string{"machinedeployment/plain-md-0", "machinepool/vms-mp-0", "machinepool/vms-mp-1", "machinepool/typed-pool1",
	"machinepool/documents-pool1"}

// scaleFamilies scales all groups side by side.
func (l *lab) scaleFamilies(replicas int) {
	l.t.Helper()
	begin := time.Now()
	for _, group := range scaled {
		l.runProgram("kubectl", "scale", group, "--replicas", fmt.Sprint(replicas))
	}
	for _, group := range scaled {
		for _, field := range []string{".status.replicas", ".status.readyReplicas"} {
			l.runProgram("kubectl", "wait", group, fmt.Sprintf("--for=jsonpath={%s}=%d", field, replicas), "--timeout", patience.String())
		}
	}
	l.t.Logf("%d groups have %d machines after %.0f s", len(scaled), replicas, time.Since(begin).Seconds())
}

// rollFamilies replaces the machines of the MachineDeployment and of both scale sets by larger ones.
func (l *lab) rollFamilies() {
	l.t.Helper()
	begin := time.Now()
	template := l.listNamed("azuremachinetemplates", "plain-md-0")
	for _, field := range []string{"resourceVersion", "uid", "creationTimestamp", "generation", "managedFields", "ownerReferences", "annotations"} {
		unstructured.RemoveNestedField(template.Object, "metadata", field)
	}
	delete(template.Object, "status")
	template.SetName("plain-md-larger")
	setNested(template, "Standard_D4s_v3", "spec", "template", "spec", "vmSize")
	raw, err := provider.EncodeDocuments([]*unstructured.Unstructured{template})
	if err != nil {
		l.t.Fatal(err)
	}
	l.applyManifest(string(raw))
	before := map[string]string{}
	for _, pool := range []string{"vms-mp-0", "vms-mp-1"} {
		before[pool] = l.readField("azuremachinepool/"+pool, ".spec.providerIDList[*]")
		l.patchObject("azuremachinepool/"+pool, `{"spec":{"template":{"vmSize":"Standard_D4s_v3"}}}`)
	}
	old := l.runProgram("kubectl", "get", "machines", "-l", "cluster.x-k8s.io/deployment-name=plain-md-0", "-o", "name")
	l.patchObject("machinedeployment/plain-md-0", `{"spec":{"template":{"spec":{"infrastructureRef":{"name":"plain-md-larger"}}}}}`)
	for name := range strings.FieldsSeq(old) {
		l.runProgram("kubectl", "wait", name, "--for=delete", "--timeout", patience.String())
	}
	for pool, was := range before {
		l.eventually("the VMs of "+pool+" are replaced", func() (bool, string) {
			has := l.readField("azuremachinepool/"+pool, `.spec.providerIDList[*]`)
			return has != "" && !slices.ContainsFunc(strings.Fields(has), func(id string) bool { return slices.Contains(strings.Fields(was), id) }), has
		})
	}
	for _, group := range scaled[:3] {
		l.runProgram("kubectl", "wait", group, "--for=jsonpath={.status.readyReplicas}=1", "--timeout", patience.String())
	}
	l.t.Logf("rolled after %.0f s", time.Since(begin).Seconds())
}

// listNamed returns an object of the namespace default.
func (l *lab) listNamed(types, name string) *unstructured.Unstructured {
	l.t.Helper()
	for _, o := range l.listObjects(types) {
		if o.GetName() == name && o.GetNamespace() == "default" {
			return o
		}
	}
	l.t.Fatalf("there is no %s %s", types, name)
	return nil
}

// deleteFamilies deletes all clusters.
func (l *lab) deleteFamilies() {
	l.t.Helper()
	l.runProgram("kubectl", "delete", "clusters", "--all", "--all-namespaces", "--timeout", patience.String())
}

// readBook returns a page of the book.
func (l *lab) readBook(file string) string {
	l.t.Helper()
	page, err := os.ReadFile(filepath.Join(l.root, "docs", "book", file))
	if err != nil {
		l.t.Fatal(err)
	}
	return string(page)
}
