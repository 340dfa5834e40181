package facts

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Resource is a resource as Azure shows it; nil without an error means that it does not exist.
func (f *Facts) Resource(ctx context.Context, c *client.Client, id arm.ID) (json.RawMessage, error) {
	return f.read(ctx, c, id)
}

// CredentialKind says which kubeconfig of an AKS cluster is meant.
type CredentialKind string

const (
	// AdminCredential is that of the local account with all rights. Azure refuses it where local accounts are disabled.
	AdminCredential CredentialKind = "listClusterAdminCredential"
	// UserCredential is that of users; with Entra integration it holds no secret.
	UserCredential CredentialKind = "listClusterUserCredential"
)

// Kubeconfig asks AKS for a kubeconfig of a cluster. The answer is a secret.
// https://learn.microsoft.com/en-us/rest/api/aks/managed-clusters/list-cluster-admin-credentials
func (f *Facts) Kubeconfig(ctx context.Context, c *client.Client, cluster arm.ID, kind CredentialKind) ([]byte, error) {
	row, err := types.Of(cluster)
	if err != nil {
		return nil, err
	}
	response, err := ask(ctx, f.failed, c.Scope()+"|"+cluster.Key()+"|"+string(kind), func(ctx context.Context) (*client.Response, error) {
		return c.Post(ctx, cluster, string(kind), row.APIVersion, nil)
	})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Kubeconfigs []struct {
			Value string `json:"value"`
		} `json:"kubeconfigs"`
	}
	// Errors of decoding may quote what they cannot read.
	if json.Unmarshal(response.Body, &answer) != nil || len(answer.Kubeconfigs) == 0 {
		return nil, fmt.Errorf("POST %s/%s: the answer has no kubeconfig", cluster.Short(), kind)
	}
	kubeconfig, err := base64.StdEncoding.DecodeString(answer.Kubeconfigs[0].Value)
	if err != nil {
		return nil, fmt.Errorf("POST %s/%s: the kubeconfig is not base64", cluster.Short(), kind)
	}
	return kubeconfig, nil
}

// scaleSetsTTL is how long a list of scale sets serves the pools of a cluster, which come for it at about the same time.
const scaleSetsTTL = 2 * time.Second

// scaleSet is what the pool of a scale set is known by.
type scaleSet struct {
	ID   arm.ID
	Pool string
}

// PoolInstances are the IDs of the virtual machines of an agent pool of AKS, sorted as text. exists tells
// whether the pool has a scale set at all: one that is new, or was scaled to zero before it had a node, may have none.
func (f *Facts) PoolInstances(ctx context.Context, c *client.Client, nodeGroup arm.ID, pool string) (ids []arm.ID, exists bool, err error) {
	sets, err := f.sets.get(ctx, c.Scope()+"|"+nodeGroup.Key(), func(ctx context.Context) ([]scaleSet, error) {
		return listScaleSets(ctx, c, nodeGroup)
	})
	if err != nil {
		return nil, false, fmt.Errorf("scale sets of %s: %w", nodeGroup.Short(), err)
	}
	for _, set := range sets {
		if set.Pool != pool {
			continue
		}
		exists = true
		items, err := ask(ctx, f.failed, c.Scope()+"|"+set.ID.Key()+"|instances", func(ctx context.Context) ([]json.RawMessage, error) {
			return c.List(ctx, string(set.ID)+"/virtualMachines", types.ScaleSetAPIVersion, nil)
		})
		if err != nil && !arm.IsNotFound(err) {
			return nil, true, fmt.Errorf("instances of %s: %w", set.ID.Short(), err)
		}
		for _, item := range items {
			var instance struct {
				ID arm.ID `json:"id"`
			}
			if err := json.Unmarshal(item, &instance); err != nil {
				return nil, true, fmt.Errorf("instances of %s: %w", set.ID.Short(), err)
			}
			ids = append(ids, instance.ID)
		}
	}
	slices.Sort(ids)
	return ids, exists, nil
}

func listScaleSets(ctx context.Context, c *client.Client, nodeGroup arm.ID) ([]scaleSet, error) {
	items, err := c.List(ctx, string(nodeGroup)+"/providers/"+types.ScaleSet, types.ScaleSetAPIVersion, nil)
	if arm.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []scaleSet
	for _, item := range items {
		var set struct {
			ID   arm.ID            `json:"id"`
			Tags map[string]string `json:"tags"`
		}
		if err := json.Unmarshal(item, &set); err != nil {
			return nil, err
		}
		// AKS has written the one tag since 2022 and the other before that.
		pool := set.Tags["aks-managed-poolName"]
		if pool == "" {
			pool = set.Tags["poolName"]
		}
		out = append(out, scaleSet{ID: set.ID, Pool: pool})
	}
	return out, nil
}

// Health is what Azure Resource Health says about a resource.
type Health struct {
	// State is Available, Unavailable, Degraded or Unknown.
	State string
	// Reason is Azure's kind of reason, as in "Platform Initiated"; "" when it names none.
	Reason  string
	Summary string
}

// healthAPIVersion is that of https://learn.microsoft.com/en-us/rest/api/resourcehealth/availability-statuses
const healthAPIVersion = "2025-05-01"

// Health asks Azure Resource Health about a resource.
func (f *Facts) Health(ctx context.Context, c *client.Client, id arm.ID) (Health, error) {
	response, err := c.Get(ctx, id.Extension("Microsoft.ResourceHealth/availabilityStatuses", "current"), healthAPIVersion, nil)
	if err != nil {
		return Health{}, fmt.Errorf("resource health of %s: %w", id.Short(), err)
	}
	var answer struct {
		Properties struct {
			AvailabilityState string `json:"availabilityState"`
			ReasonType        string `json:"reasonType"`
			Summary           string `json:"summary"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(response.Body, &answer); err != nil {
		return Health{}, fmt.Errorf("resource health of %s: %w", id.Short(), err)
	}
	return Health{answer.Properties.AvailabilityState, answer.Properties.ReasonType, answer.Properties.Summary}, nil
}
