package plan_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cloudconfig"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/fieldtest"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/test/golden"
)

// readElsewhere are the fields that plans leave to others, with who reads them. A prefix that ends in a dot is for all below.
var readElsewhere = map[string]string{
	"cluster.subscriptionID": "internal/identity falls back to the manager's; plans get " +
		"ClusterInput.SubscriptionID",
	"cluster.identityRef.":                                "internal/identity signs in with it",
	"cluster.bastionSpec.azureBastion.subnet.natGateway.": "refused by name: Azure lets the subnet of a bastion host have none",
	"cluster.bastionSpec.azureBastion.subnet.role":        "a bastion host's subnet has one role",
	"machine.roleAssignmentName":                          "the webhook moves it to systemAssignedIdentityRole.name; left over, it is refused",
}

// TestEveryFieldCounts changes every field of the specs of all golden cases, one at a time, and demands that something
// comes of it: another plan, endpoint, failure domain or azure.json, or a refusal. A field that no case sets and that is
// not in the table fails, too, so that a new field cannot be forgotten.
func TestEveryFieldCounts(t *testing.T) {
	counts := map[string]bool{}
	for _, name := range golden.CaseNames(t) {
		in := readInput(t, name)
		if in.AzureMachine == nil {
			fieldtest.VaryLeaves("cluster", reflect.ValueOf(&in.AzureCluster.Spec).Elem(), counts,
				func() string { return clusterEffect(in.ClusterInput) })
		} else {
			fieldtest.VaryLeaves("machine", reflect.ValueOf(&in.AzureMachine.Spec).Elem(), counts, func() string { return machineEffect(in) })
		}
	}
	all := fieldtest.LeafPaths("cluster", reflect.TypeFor[infrav1.AzureClusterSpec]())
	all = append(all, fieldtest.LeafPaths("machine", reflect.TypeFor[infrav1.AzureMachineSpec]())...)
	fieldtest.RequireAllEffective(t, all, counts, readElsewhere)
}

func clusterEffect(in plan.ClusterInput) string {
	graph, err := cluster.BuildPlan(in)
	host, port := cluster.APIServerEndpoint(in)
	controlPlane, _, jsonErr := cloudconfig.BuildAzureJSON(cloudconfig.Input{ClusterInput: in})
	return fmt.Sprint(renderNodes(graph), err, host, port, toJSON(cluster.FailureDomains(in)), string(controlPlane), jsonErr,
		joinMessages(cluster.UnsupportedFields(in)), joinMessages(cluster.CheckSpec(in)))
}

func machineEffect(in plan.MachineInput) string {
	graph, err := machine.BuildPlan(in)
	return fmt.Sprint(renderNodes(graph), err, joinMessages(machine.UnsupportedFields(in)), joinMessages(machine.CheckSpec(in)),
		machine.FailureDomain(in))
}

func joinMessages(errs field.ErrorList) string {
	var out []string
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return strings.Join(out, "\n")
}

func renderNodes(graph *arm.Graph) string {
	if graph == nil {
		return ""
	}
	return toJSON(graph.Nodes())
}

func toJSON(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
