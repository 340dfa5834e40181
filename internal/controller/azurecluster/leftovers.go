package azurecluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/leftovers"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// findLeftovers finds the resources that Services and volumes of the cluster have left in a resource group that users brought. A
// resource group of the cluster is deleted as a whole. It also returns the lists that Azure refused for good, such as for a missing right: they do not hold the deletion up,
// because everything that the plan has can be deleted without them. Errors that pass do.
func (k *Kind) findLeftovers(ctx context.Context, session reconcile.Session, in *input, graph *arm.Graph) (found []leftovers.Leftover,
	refused []string, err error) {
	group, caller := plan.ResourceGroupID(in.planned), session.Caller()
	body, err := k.Facts.ReadResource(ctx, caller, group)
	if err != nil || len(body) == 0 {
		return nil, nil, err
	}
	of := leftovers.Cluster{Name: in.cluster.Name, Owner: ownership.OwnerTagValue(in.azureCluster, in.cluster.Name), IsPlanned: graph.Has}
	if of.HasClusterTags(body) {
		return nil, nil, nil
	}
	if of.Network, err = k.Facts.ReadResource(ctx, caller, plan.VNetID(in.planned)); err != nil {
		return nil, nil, err
	}
	var seen leftovers.GroupContents
	always := func() bool { return true }
	candidates := func() bool {
		return slices.Contains(seen.Refused, leftovers.AllTypes) || of.HasCandidates(seen.Resources)
	}
	for _, list := range []struct {
		of     string
		needed func() bool
		read   func(context.Context, *client.Client, arm.ID) ([]json.RawMessage, error)
		into   *[]json.RawMessage
	}{
		{leftovers.AllTypes, always, k.Facts.GroupContents, &seen.Resources},
		{leftovers.LoadBalancers, candidates, k.Facts.ListLoadBalancers, &seen.LoadBalancers},
		{leftovers.Addresses, candidates, k.Facts.ListPublicIPAddresses, &seen.Addresses},
		{leftovers.Disks, func() bool {
			return leftovers.IsDeletionRequested(in.azureCluster) &&
				(slices.Contains(seen.Refused, leftovers.AllTypes) || of.NeedsDiskBodies(seen.Resources))
		}, k.Facts.ListDisks, &seen.Disks},
	} {
		if !list.needed() {
			continue
		}
		items, err := list.read(ctx, caller.Client, group)
		switch {
		case err == nil:
			*list.into = items
		case arm.IsTransient(err):
			return nil, nil, err
		default:
			seen.Refused = append(seen.Refused, list.of)
		}
	}
	return leftovers.FindLeftovers(of, seen), seen.Refused, nil
}

// describeLeftovers returns how all messages about leftovers begin.
func describeLeftovers(stays []leftovers.Leftover, refused []string) string {
	text := "Services and volumes of the cluster may have left resources in a resource group that is not the cluster's"
	if len(stays) > 0 {
		text = fmt.Sprintf("Services and volumes of the cluster may have left %d resources in a resource group that is not the cluster's",
			len(stays))
	}
	if len(refused) > 0 {
		text += ". Azure refused to list " + strings.Join(refused,
			", ") + " in it, so not all of them may be known, and none of these is deleted. " +
			"The identity needs the right to list them"
	}
	return text
}

// listGroupCommand returns a command that lists a resource group.
func listGroupCommand(group arm.ID) string {
	return fmt.Sprintf("To list the group, run: az resource list --subscription %s --resource-group %s --output table",
		arm.ShellQuote(group.Subscription()), arm.ShellQuote(group.Name()))
}

// maxReasons limits for how many leftovers a message gives a reason. Its command lists all.
const maxReasons = 6

// leftoversMessage lists the resources that stay, with reasons and the command to delete them.
func leftoversMessage(azureCluster *infrav1.AzureCluster, group arm.ID, stays []leftovers.Leftover, refused []string) string {
	var ids []arm.ID
	var reasons []string
	proven := 0
	for _, one := range stays {
		ids = append(ids, one.ID)
		if one.UnprovenReason == "" {
			proven++
		} else if len(reasons) < maxReasons {
			reasons = append(reasons, one.ID.ShortName()+" ("+one.UnprovenReason+")")
		}
	}
	text := describeLeftovers(stays, refused)
	if proven > 0 {
		text += fmt.Sprintf(". %d of them are proven to be the cluster's. To have these deleted with it, run: kubectl annotate -n %s azurecluster/%s %s=true",
			proven, azureCluster.Namespace, azureCluster.Name, infrav1.DeleteLeftoversAnnotation)
	}
	if len(reasons) > 0 {
		text += ". Not proven, so only you can delete them: " + strings.Join(reasons, ", ")
		if more := len(ids) - proven - len(reasons); more > 0 {
			text += fmt.Sprintf(" and %d others", more)
		}
	}
	if len(ids) == 0 {
		return text + ". " + listGroupCommand(group)
	}
	return text + ". To delete all of them after checking them, run: " + deletion.RemovalCommand(ids)
}

// leftoversEvent is leftoversMessage at the end of the deletion, short enough for an event.
func leftoversEvent(group arm.ID, stays []leftovers.Leftover, refused []string) string {
	var names []string
	for _, one := range stays {
		names = append(names, one.ID.ShortName())
	}
	text := describeLeftovers(stays, refused)
	if len(names) > 0 {
		text += ": " + deletion.SummarizeNames(names)
	}
	return text + ". " + listGroupCommand(group)
}

// reportLeftovers sets the condition about resources that stay.
func reportLeftovers(in *input) {
	if len(in.leftoversKept)+len(in.refusedLists) == 0 {
		if len(in.leftoversToDelete) == 0 {
			conditions.Delete(in.azureCluster, infrav1.LeftoversCondition)
		}
		return
	}
	conditions.Set(in.azureCluster, metav1.Condition{
		Type: infrav1.LeftoversCondition, Status: metav1.ConditionFalse, Reason: infrav1.LeftBehindInAzureReason,
		Message: leftoversMessage(in.azureCluster, plan.ResourceGroupID(in.planned), in.leftoversKept, in.refusedLists),
	})
}
