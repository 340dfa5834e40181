package preview

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
)

// listKeys returns the keys of the objects of a kind of this provider, sorted.
func listKeys(ctx context.Context, c client.Client, kind string) (keys []client.ObjectKey, err error) {
	list, err := c.Scheme().New(infrav1.GroupVersion.WithKind(kind + "List"))
	if err != nil {
		return nil, err
	}
	if err := c.List(ctx, list.(client.ObjectList)); err != nil {
		return nil, fmt.Errorf("list %s: %w", kind, err)
	}
	err = meta.EachListItem(list, func(item runtime.Object) error {
		keys = append(keys, client.ObjectKeyFromObject(item.(client.Object)))
		return nil
	})
	slices.SortFunc(keys, func(a, b client.ObjectKey) int { return strings.Compare(a.String(), b.String()) })
	return keys, err
}

// subscription finds the subscriptions that the text of an object names, in IDs and in fields.
var subscription = regexp.MustCompile(`(?i)(?:/subscriptions/|"subscriptionID":")([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})`)

// listSubscriptions returns the subscriptions that the input names, sorted.
func listSubscriptions(o Options) (out []string) {
	for _, object := range o.Objects {
		raw, err := json.Marshal(object)
		if err != nil {
			continue // An object that cannot be encoded is refused when it is stored.
		}
		for _, found := range subscription.FindAllSubmatch(raw, -1) {
			out = append(out, strings.ToLower(string(found[1])))
		}
		if secret, is := object.(*corev1.Secret); is && len(secret.Data[keySubscription]) > 0 {
			out = append(out, strings.ToLower(strings.TrimSpace(string(secret.Data[keySubscription]))))
		}
	}
	if o.Identity.SubscriptionID != "" {
		out = append(out, strings.ToLower(o.Identity.SubscriptionID))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// assumed finds IDs of resources that users bring and that a plan refers to: identities, keys and images.
var assumed = regexp.MustCompile(
	`(?i)/subscriptions/[^/"]+/resourceGroups/[^/"]+/providers/(?:Microsoft\.ManagedIdentity/userAssignedIdentities|Microsoft\.Compute/diskEncryptionSets|Microsoft\.Compute/images)/[^/"]+`)

// listAssumed returns the resources that the objects refer to and that users bring.
func listAssumed(objects []client.Object) (out []overlay.Assumed) {
	for _, object := range objects {
		raw, err := json.Marshal(object)
		if err != nil {
			continue
		}
		for _, found := range assumed.FindAll(raw, -1) {
			out = append(out, overlay.Assumed{ID: string(found)})
		}
	}
	return out
}

// listForeignNetworks returns the resource groups and networks of AzureClusters that other programs manage: the programs create them.
func (p *run) listForeignNetworks(ctx context.Context) (out []overlay.Assumed, err error) {
	list := &infrav1.AzureClusterList{}
	if err := p.server.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list AzureCluster: %w", err)
	}
	for i := range list.Items {
		cluster := &list.Items[i]
		if !annotations.IsExternallyManaged(cluster) {
			continue
		}
		in := plan.ClusterInput{AzureCluster: cluster, SubscriptionID: cmp.Or(cluster.Spec.SubscriptionID, p.options.Identity.SubscriptionID)}
		var subnets []any
		for _, subnet := range cluster.Spec.NetworkSpec.Subnets {
			var prefixes []any
			for _, block := range subnet.CIDRBlocks {
				prefixes = append(prefixes, block)
			}
			subnets = append(subnets, map[string]any{"name": subnet.Name, "id": string(plan.SubnetID(in, subnet.Name)),
				"properties": map[string]any{"provisioningState": "Succeeded", "addressPrefixes": prefixes}})
		}
		out = append(out, overlay.Assumed{ID: string(plan.ResourceGroupID(in)), Location: cluster.Spec.Location},
			overlay.Assumed{ID: string(plan.VNetID(in)), Location: cluster.Spec.Location, Properties: map[string]any{"subnets": subnets}})
	}
	return out, nil
}
