package asoresources

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// readCreationTimes asks Azure for the creation times of resources that the established provider may have created for the object. For
// an object of this provider it sends no request.
func readCreationTimes(ctx context.Context, f *facts.Facts, session reconcile.Session, in *plan.Input) error {
	contents, groups := plan.GroupsToList(*in)
	if len(contents) == 0 {
		return nil
	}
	var all []json.RawMessage
	for _, group := range contents {
		items, err := f.ListGroupResources(ctx, session.Caller(), group)
		if err != nil {
			return fmt.Errorf("list the resources of %s, to prove which were created for the object: %w", group.ShortName(), err)
		}
		all = append(all, items...)
	}
	if groups {
		items, err := f.ListResourceGroups(ctx, session.Caller(), in.SubscriptionID())
		if err != nil {
			return fmt.Errorf("list resource groups, to prove which was created for the object: %w", err)
		}
		all = append(all, items...)
	}
	in.ListedResources = plan.ReadListedResources(all)
	return nil
}

// maxListed limits how many resources one message lists, and how many are read to detect that a list lags.
const maxListed = 16

// dropDeleted removes resources that no longer exist from the list: lists of Resource Manager lag, and a resource group stays while it
// holds a resource of others.
func dropDeleted(ctx context.Context, f *facts.Facts, session reconcile.Session, in *plan.Input) {
	contents, groups := plan.GroupsToList(*in)
	if !groups {
		return
	}
	for _, group := range contents {
		unproven := plan.UnprovenInGroup(*in, group)
		for _, id := range unproven[:min(len(unproven), maxListed)] {
			found, err := f.ReadResource(ctx, session.Caller(), id)
			if err == nil && len(found) == 0 {
				delete(in.ListedResources, id.Key())
			}
		}
	}
}

// setMigratedCondition sets the condition about resources that the established provider created for an object. An object of this
// provider has none.
func setMigratedCondition(obj status.Object, in plan.Input) {
	proven, unproven := plan.SplitMigrated(in)
	if len(proven)+len(unproven) == 0 {
		conditions.Delete(obj, infrav1.MigratedResourcesOwnedCondition)
		return
	}
	condition := metav1.Condition{Type: infrav1.MigratedResourcesOwnedCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
	if len(unproven) > 0 {
		condition.Status, condition.Reason = metav1.ConditionFalse, infrav1.OwnershipNotProvenReason
		condition.Message = unprovenMessage(obj.GetNamespace(), in, unproven)
	}
	conditions.Set(obj, condition)
}

// unprovenMessage lists the resources that stay in Azure when the object is deleted, with the commands to have them deleted too.
func unprovenMessage(namespace string, in plan.Input, unproven []arm.ID) string {
	var resources []arm.ID
	var out []string
	for _, id := range unproven {
		if id.Type() != arm.ResourceGroupType {
			resources = append(resources, id)
			continue
		}
		text := id.ShortName() + " stays in Azure when the object is deleted, because Azure does not show that it was created after the object."
		if others := plan.UnprovenInGroup(in, id); len(others) > 0 {
			text = id.ShortName() + " stays in Azure when the object is deleted, because it holds resources that are not proven to be the cluster's: " + shortNames(others) + "."
		}
		out = append(out, text+" To have it deleted with everything in it, run: az tag update --resource-id "+arm.ShellQuote(string(id))+
			" --operation Merge --tags "+arm.ShellQuote(infrav1.ClusterTagKey(in.Cluster)+"="+infrav1.TagOwned))
	}
	if len(resources) > 0 {
		kind, name, _ := strings.Cut(in.ObjectKey, " ")
		out = append(out, shortNames(resources)+": Azure does not show that they were created after the object, so they stay in Azure when the object is deleted. "+
			"To have them deleted with it, run: kubectl annotate -n "+arm.ShellQuote(namespace)+" "+strings.ToLower(kind)+"/"+arm.ShellQuote(name)+" "+infrav1.DeleteAdoptedAnnotation+"=true")
	}
	return strings.Join(out, " ")
}

// shortNames lists the first maxListed resources, and the number of the others.
func shortNames(ids []arm.ID) string {
	var out []string
	for _, id := range ids {
		out = append(out, id.ShortName())
	}
	return text.JoinFirst(out, maxListed)
}
