package azurecluster

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/volumes"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/leftovers"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// findLeftovers finds the resources that Services and volumes of the cluster have left in a resource group that users brought. A
// resource group of the cluster is deleted as a whole.
func (k *Kind) findLeftovers(ctx context.Context, session reconcile.Session, in *input, graph *arm.Graph) ([]leftovers.Leftover, error) {
	group, c := plan.ResourceGroupID(in.planned), session.Access.Client
	body, err := k.Facts.ReadResource(ctx, c, group)
	if err != nil || len(body) == 0 {
		return nil, err
	}
	of := leftovers.Cluster{Name: in.cluster.Name, Owner: ownership.Value(in.azureCluster, in.cluster.Name), Planned: graph.Has}
	if of.Owns(body) {
		return nil, nil
	}
	if of.Network, err = k.Facts.ReadResource(ctx, c, plan.VNetID(in.planned)); err != nil {
		return nil, err
	}
	var seen leftovers.Seen
	if seen.Resources, err = k.Facts.GroupContents(ctx, c, group); err != nil {
		return nil, err
	}
	if !of.Candidates(seen.Resources) {
		return nil, nil
	}
	if seen.LoadBalancers, err = k.Facts.ListLoadBalancers(ctx, c, group); err != nil {
		return nil, err
	}
	if seen.Addresses, err = k.Facts.ListPublicIPAddresses(ctx, c, group); err != nil {
		return nil, err
	}
	if leftovers.Requested(in.azureCluster) && of.NeedsDisks(seen.Resources) {
		// Without permission to list disks they are only reported.
		if seen.Disks, err = k.Facts.ListDisks(ctx, c, group); err != nil && volumes.IsTransient(err) {
			return nil, err
		}
	}
	return leftovers.Find(of, seen), nil
}

// maxReasons limits for how many leftovers a message gives a reason. Its command lists all.
const maxReasons = 6

// leftoversMessage lists the resources that stay, with reasons and the command to delete them.
func leftoversMessage(azureCluster *infrav1.AzureCluster, stays []leftovers.Leftover) string {
	var ids []arm.ID
	var reasons []string
	proven := 0
	for _, one := range stays {
		ids = append(ids, one.ID)
		if one.Unproven == "" {
			proven++
		} else if len(reasons) < maxReasons {
			reasons = append(reasons, one.ID.ShortName()+" ("+one.Unproven+")")
		}
	}
	text := fmt.Sprintf("Services and volumes of the cluster may have left %d resources in a resource group that is not the cluster's", len(ids))
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
	return text + ". To delete all of them after you have looked at them, run: " + deletion.RemovalCommand(ids)
}

// leftoversEvent is leftoversMessage at the end of the deletion, short enough for an event.
func leftoversEvent(group arm.ID, stays []leftovers.Leftover) string {
	var names []string
	for _, one := range stays {
		names = append(names, one.ID.ShortName())
	}
	return fmt.Sprintf("Services and volumes of the cluster may have left %d resources in a resource group that is not the cluster's: %s. To list the group, run: "+
		"az resource list --subscription %s --resource-group %s --output table", len(stays), deletion.SummarizeNames(names), arm.ShellQuote(group.Subscription()), arm.ShellQuote(group.Name()))
}

// reportLeftovers sets the condition about resources that stay.
func reportLeftovers(in *input) {
	if len(in.leftoversKept) == 0 {
		if len(in.leftoversToDelete) == 0 {
			conditions.Delete(in.azureCluster, infrav1.LeftoversCondition)
		}
		return
	}
	conditions.Set(in.azureCluster, metav1.Condition{
		Type: infrav1.LeftoversCondition, Status: metav1.ConditionFalse, Reason: infrav1.LeftBehindInAzureReason, Message: leftoversMessage(in.azureCluster, in.leftoversKept),
	})
}
