package adoption

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// ObservedCluster is an AKS cluster as Azure shows it.
type ObservedCluster struct {
	// Cluster is the managed cluster, Pools are its agent pools, and Related the other resources below it and its extensions.
	Cluster        Resource
	Pools, Related []Resource
	// APIVersion is the api-version of the requests for the cluster and its pools.
	APIVersion string
	// Network is the network of the pools, if they name a subnet.
	Network plan.VNetFact
	// Subnet is the subnet of the first pool as Azure shows it.
	Subnet json.RawMessage
}

// Resource is a resource as Azure shows it.
type Resource struct {
	ID         arm.ID
	APIVersion string
	Body       json.RawMessage
}

// Options are the names of the objects.
type Options struct {
	// Namespace is the namespace of all objects, "" to leave it to the apply.
	Namespace string
	// ClusterName is the name of the Cluster, "" for the name of the AKS cluster.
	ClusterName string
	// Identity is the name of an AzureClusterIdentity, Credential that of the Secret of resource manifests.
	Identity, Credential string
}

// OmittedValue is a value in Azure that is not in the manifests. It stays as it is in Azure and is not repaired.
type OmittedValue struct {
	// ID is the resource, Path the path in its body ("" for all of it), and Value the value as short JSON, hidden if it may be a secret.
	ID          arm.ID
	Path, Value string
	// Reason is the reason why the manifests cannot contain it.
	Reason string
}

// String returns one line for users.
func (l OmittedValue) String() string {
	if l.Path == "" {
		return l.ID.ShortName() + ": " + l.Reason
	}
	return fmt.Sprintf("%s: %s = %s: %s", l.ID.ShortName(), l.Path, l.Value, l.Reason)
}

// newOmittedValue returns a value that is not in the manifests.
func newOmittedValue(id arm.ID, path string, value any, reason string) OmittedValue {
	if path == "" {
		return OmittedValue{ID: id, Reason: reason}
	}
	return OmittedValue{ID: id, Path: path, Value: compare.FormatValue(path, value), Reason: reason}
}

// checkAdoptable rejects clusters that no manifest can adopt.
func (f ObservedCluster) checkAdoptable(o Options) error {
	if name := o.clusterName(f); len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fmt.Errorf("%q is not a valid name of a Cluster, which has lower-case letters, digits and '-'. Choose one with --cluster-name",
			name)
	}
	for key, value := range readTags(f.Cluster.Body) {
		if infrav1.Marks(key) && key != infrav1.OwnerTag && !strings.EqualFold(key, infrav1.ClusterTagKey(o.clusterName(f))) &&
			value == infrav1.TagOwned {
			return fmt.Errorf("%s belongs to another Cluster by its tag %s. End the management by that Cluster first, and remove its tags",
				f.Cluster.ID, key)
		}
	}
	if len(f.Pools) == 0 {
		return fmt.Errorf("%s has no agent pools, and a cluster without pools cannot be adopted", f.Cluster.ID)
	}
	return nil
}

func (o Options) clusterName(f ObservedCluster) string {
	if o.ClusterName != "" {
		return o.ClusterName
	}
	return f.Cluster.ID.Name()
}

// userTags returns the tags without ownership tags, which a manifest cannot contain.
func userTags(body json.RawMessage) map[string]string {
	out := readTags(body)
	for key := range out {
		if infrav1.Marks(key) {
			delete(out, key)
		}
	}
	return out
}

func readTags(body json.RawMessage) map[string]string {
	var shown struct {
		Tags map[string]string `json:"tags"`
	}
	_ = json.Unmarshal(body, &shown) // An unreadable resource has no tags.
	return shown.Tags
}
