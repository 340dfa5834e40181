package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/readonly"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Families of objects, as the flag --to names them.
const (
	AzureManaged    = "azuremanaged"
	AzureASOManaged = "azureasomanaged"
)

// Transfer is the transfer of one cluster.
type Transfer struct {
	// Kubernetes is a client of the management cluster. Azure reads from Azure; its transport must be readonly.Transport.
	Kubernetes client.Client
	Azure      *armclient.Client
	// Key is the Cluster, To the family of its new objects.
	Key client.ObjectKey
	To  string
	// Identity is the AzureClusterIdentity of AzureManaged objects, Credential the Secret of AzureASOManaged objects.
	Identity, Credential string
	// SubscriptionID is the subscription of a cluster whose objects do not have it.
	SubscriptionID string
	// APIVersion is the api-version of resource manifests of cluster and pools.
	APIVersion string
	// Messages gets a line per step and per value that the new objects cannot have.
	Messages io.Writer
	// Poll is the interval at which the transfer reads the old objects until they are paused. Patience is the longest time to wait for it.
	Poll, Patience time.Duration
}

// Run transfers the cluster.
func (t *Transfer) Run(ctx context.Context) error {
	cluster := &clusterv1.Cluster{}
	if err := t.Kubernetes.Get(ctx, t.Key, cluster); err != nil {
		return fmt.Errorf("get Cluster %s: %w", t.Key, err)
	}
	if cluster.Spec.Topology.IsDefined() {
		return fmt.Errorf("the Cluster %s has a topology, which determines the kinds of its objects. Change its ClusterClass instead", t.Key)
	}
	old, err := t.findMembers(ctx, cluster, otherFamily(t.To))
	if err != nil {
		return err
	}
	made, err := t.findMembers(ctx, cluster, t.To)
	if err != nil {
		return err
	}
	complete := made.infrastructure != nil && made.controlPlane != nil && len(made.pools) >= len(old.pools)
	switch {
	case old.isEmpty() && !made.isEmpty() && !isHeld(made):
		t.report("Cluster %s has objects of the family %s already", t.Key, t.To)
		return nil
	case old.isEmpty() && made.isEmpty():
		return fmt.Errorf("the Cluster %s has no objects of the family %s", t.Key, otherFamily(t.To))
	case made.isEmpty() && cluster.Spec.Paused != nil && *cluster.Spec.Paused:
		return fmt.Errorf("the Cluster %s is paused. Unpause it, and wait until it is Ready. A transfer checks first that nothing in Azure would change", t.Key)
	}
	if !complete {
		if err := t.createObjects(ctx, cluster, old, made); err != nil {
			return err
		}
		if made, err = t.findMembers(ctx, cluster, t.To); err != nil {
			return err
		}
	}
	if !old.isEmpty() {
		if err := t.pauseCluster(ctx, cluster, old); err != nil {
			return err
		}
		if err := t.changeReferences(ctx, cluster, made); err != nil {
			return err
		}
		if err := t.releaseObjects(ctx, old, made); err != nil {
			return err
		}
	}
	return t.resume(ctx, cluster, made)
}

func otherFamily(family string) string {
	if family == AzureManaged {
		return AzureASOManaged
	}
	return AzureManaged
}

func (t *Transfer) report(format string, arguments ...any) {
	fmt.Fprintf(t.Messages, format+"\n", arguments...)
}

// createObjects creates the new objects that are not among made, paused by their annotation. Before that it proves that they change
// nothing in Azure.
func (t *Transfer) createObjects(ctx context.Context, cluster *clusterv1.Cluster, old, made members) error {
	id, err := t.findAKSCluster(old)
	if err != nil {
		return err
	}
	found, err := readonly.ReadCluster(ctx, t.Azure, id, t.APIVersion)
	if err != nil {
		return err
	}
	options := adoption.Options{Namespace: t.Key.Namespace, ClusterName: t.Key.Name, Identity: t.Identity, Credential: t.Credential}
	write := adoption.WriteASOManaged
	if t.To == AzureManaged {
		write = adoption.WriteAzureManaged
	}
	objects, omitted, err := write(found, options)
	if err != nil {
		return err
	}
	if err := adaptObjects(&objects, cluster, old); err != nil {
		return err
	}
	for _, value := range omitted {
		t.report("not in the new objects: %s", value)
	}
	writes, err := readonly.FindWrites(ctx, t.Azure, found, objects)
	if err != nil {
		return fmt.Errorf("check the writes of the new objects: %w", err)
	}
	for _, line := range writes {
		t.report("would change or fail: %s", line)
	}
	if len(writes) > 0 {
		return errors.New("the new objects would write to Azure, so nothing was changed")
	}
	for _, object := range newMembers(objects).all() {
		if made.has(object) {
			continue
		}
		object.SetAnnotations(withPaused(object.GetAnnotations()))
		err := t.Kubernetes.Create(ctx, object)
		switch {
		case apierrors.IsAlreadyExists(err):
			return fmt.Errorf("%s %s exists already and does not belong to Cluster %s. The transfer needs this name. Delete the object if it is not needed, and repeat the command",
				kindOf(object), object.GetName(), t.Key)
		case err != nil:
			return fmt.Errorf("create %s %s: %w", kindOf(object), object.GetName(), err)
		}
		t.report("created %s %s", kindOf(object), object.GetName())
	}
	return nil
}

// findAKSCluster returns the ID of the AKS cluster.
func (t *Transfer) findAKSCluster(old members) (arm.ID, error) {
	switch controlPlane := old.controlPlane.(type) {
	case *infrav1.AzureManagedControlPlane:
		subscription := controlPlane.Spec.SubscriptionID
		if subscription == "" {
			subscription = t.SubscriptionID
		}
		if subscription == "" {
			return "", errors.New("the AzureManagedControlPlane has no subscription. Set --subscription")
		}
		return arm.NewID(subscription, controlPlane.Spec.ResourceGroupName, types.ManagedCluster, controlPlane.Name), nil
	case *infrav1.AzureASOManagedControlPlane:
		if t.SubscriptionID == "" {
			return "", errors.New("resource manifests have no subscription. Set --subscription")
		}
		return findDeclaredCluster(t.SubscriptionID, old)
	}
	return "", errors.New("the Cluster has no control plane of the old family")
}
