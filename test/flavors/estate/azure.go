package estate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// clusterTags are the additional tags of every cluster, machineTags those of its machines.
var (
	clusterTags = map[string]any{"costs": "cluster", "team": "cluster"}
	machineTags = map[string]any{"team": "machine", "tier": "machine"}
)

const (
	cluster        = "c1"
	ownerTag       = "sigs.k8s.io_cluster-api-provider-azure_cluster_" + cluster
	roleTag        = "sigs.k8s.io_cluster-api-provider-azure_role"
	providerTag    = "kubernetes.io_cluster_" + cluster
	networkVersion = "2024-05-01"
)

// tagging is which tags the established provider gives a type of resource.
type tagging struct {
	// role is the role tag, "" for none; name is whether there is a name tag.
	role string
	name bool
	// cluster and machine are whether the additional tags of cluster and machine exist, provider the tag of
	// cloud-provider-azure.
	cluster, machine, provider bool
	// data is whether there is the hash of the bootstrap data.
	data bool
	// none means no tags at all.
	none bool
}

// taggings are from the tables of the facts about self-managed clusters, by lower-case type.
var taggings = map[string]tagging{
	"microsoft.resources/resourcegroups":                    {role: "common", name: true, cluster: true},
	"microsoft.network/virtualnetworks":                     {role: "common", name: true, cluster: true},
	"microsoft.network/networksecuritygroups":               {name: true, cluster: true},
	"microsoft.network/routetables":                         {name: true, cluster: true},
	"microsoft.network/publicipaddresses":                   {name: true, cluster: true},
	"microsoft.network/natgateways":                         {name: true, cluster: true},
	"microsoft.network/privateendpoints":                    {name: true, cluster: true},
	"microsoft.network/privatednszones":                     {cluster: true},
	"microsoft.network/privatednszones/virtualnetworklinks": {cluster: true},
	"microsoft.network/bastionhosts":                        {role: "Bastion", name: true},
	"microsoft.network/loadbalancers":                       {role: "by name", cluster: true},
	"microsoft.network/networkinterfaces":                   {name: true, cluster: true, machine: true, provider: true},
	"microsoft.compute/virtualmachines":                     {role: "by name", name: true, cluster: true, machine: true, provider: true},
	"microsoft.compute/virtualmachinescalesets": {role: "node", name: true, cluster: true, machine: true, provider: true,
		data: true},
	"microsoft.compute/availabilitysets":           {role: "common", name: true, cluster: true, machine: true, provider: true},
	"microsoft.compute/disks":                      {none: true},
	"microsoft.compute/virtualmachines/extensions": {none: true},
}

// LeaveInAzure gives the resources of the cluster's group the tags and bodies of the established provider.
func LeaveInAzure(stage *harness.Stage, controlPlanes []string) {
	stage.T.Helper()
	tagged := 0
	for _, resource := range stage.Azure.State() {
		id := strings.TrimPrefix(fmt.Sprint(resource["id"]), "/subscriptions/"+stage.Azure.SubscriptionID+"/")
		rule, ok := taggings[strings.ToLower(fmt.Sprint(resource["type"]))]
		if group, _, _ := strings.Cut(strings.TrimPrefix(id, "resourceGroups/"), "/"); !ok || group != cluster {
			continue
		}
		tags := rule.buildTags(fmt.Sprint(resource["name"]), controlPlanes)
		if rule.data {
			tags[infrav1.CustomDataHashTag] = harness.FindValue(resource, "tags."+infrav1.CustomDataHashTag)
		}
		stage.Azure.PutResource(id+"/providers/Microsoft.Resources/tags/default", "2021-04-01", object{"properties": object{"tags": tags}})
		tagged++
		if strings.EqualFold(fmt.Sprint(resource["type"]), "Microsoft.Network/networkInterfaces") {
			detachAddress(stage, id, controlPlanes)
		}
	}
	if tagged == 0 {
		stage.T.Fatal("nothing in Azure was made")
	}
	leadNowhere(stage, controlPlanes)
}

// leadNowhere gives an internal load balancer of the API server the rules for SSH that the established provider makes for
// every control-plane machine, and attaches to no interface there.
func leadNowhere(stage *harness.Stage, controlPlanes []string) {
	stage.T.Helper()
	lb, internal := apiServerLB(stage)
	if !internal {
		return
	}
	_, balancer := stage.Azure.GetResource(lb, networkVersion)
	for i, machine := range controlPlanes {
		port := 22
		if i > 0 {
			port = 2200 + i
		}
		stage.Azure.PutResource(lb+"/inboundNatRules/"+machine, networkVersion, object{"properties": object{
			"protocol": "Tcp", "frontendPort": port, "backendPort": 22, "idleTimeoutInMinutes": 4, "enableFloatingIP": false,
			"frontendIPConfiguration": object{"id": harness.FindValue(balancer, "properties.frontendIPConfigurations.0.id")},
		}})
	}
}

// apiServerLB returns the path of the API server's load balancer, and whether it is an internal one.
func apiServerLB(stage *harness.Stage) (path string, internal bool) {
	stage.T.Helper()
	azureCluster := &infrav1.AzureCluster{}
	stage.ReadObject(azureCluster, cluster)
	lb := azureCluster.Spec.NetworkSpec.APIServerLB
	return "resourceGroups/" + cluster + "/providers/Microsoft.Network/loadBalancers/" + lb.Name, lb.Type == infrav1.Internal
}

func (r tagging) buildTags(name string, controlPlanes []string) object {
	tags := object{}
	if r.none {
		return tags
	}
	if r.cluster {
		maps.Copy(tags, clusterTags)
	}
	if r.machine {
		maps.Copy(tags, machineTags)
	}
	tags[ownerTag] = "owned"
	switch {
	case r.role == "by name":
		tags[roleTag] = roleOf(name, controlPlanes)
	case r.role != "":
		tags[roleTag] = r.role
	}
	if r.name {
		tags["Name"] = name
	}
	if r.provider {
		tags[providerTag] = "owned"
	}
	return tags
}

// roleOf returns the role of a load balancer or VM by its name.
func roleOf(name string, controlPlanes []string) string {
	switch {
	case name == cluster:
		return "nodeOutbound"
	case name == cluster+"-outbound-lb":
		return "controlPlaneOutbound"
	case strings.HasSuffix(name, "-public-lb-internal"):
		return "apiserver-internal"
	case strings.HasSuffix(name, "-lb"):
		return "apiserver"
	case slices.Contains(controlPlanes, name):
		return "control-plane"
	}
	return "node"
}

// detachAddress takes the public address off the interface of a control-plane machine: the established provider makes it and
// never attaches it there.
func detachAddress(stage *harness.Stage, id string, controlPlanes []string) {
	stage.T.Helper()
	if !slices.ContainsFunc(controlPlanes, func(name string) bool { return strings.HasSuffix(id, "/"+name+"-nic") }) {
		return
	}
	_, nic := stage.Azure.GetResource(id, networkVersion)
	configurations, _ := harness.FindValue(nic, "properties.ipConfigurations").([]any)
	for _, configuration := range configurations {
		properties, _ := configuration.(object)["properties"].(object)
		delete(properties, "publicIPAddress")
	}
	stage.Azure.PutResource(id, networkVersion, nic)
}
