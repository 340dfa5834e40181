package facts

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// ReadResource returns a resource as Azure shows it. Nil without an error means that it does not exist.
func (f *Facts) ReadResource(ctx context.Context, caller Caller, id arm.ID) (json.RawMessage, error) {
	return f.read(ctx, caller, id)
}

// CredentialKind selects a kubeconfig of an AKS cluster.
type CredentialKind string

const (
	// AdminCredential is the kubeconfig of the local account with all rights. Azure refuses it if local accounts are disabled.
	AdminCredential CredentialKind = "listClusterAdminCredential"
	// UserCredential is the kubeconfig of users. With Entra integration it contains no secret.
	UserCredential CredentialKind = "listClusterUserCredential"
)

// kubeconfigTTL is how long a kubeconfig serves while the cluster looks the same. A new cluster is reconciled in quick succession,
// whenever one of its pools changes.
const kubeconfigTTL = time.Minute

// GetKubeconfig returns a kubeconfig of a cluster that Azure shows as seen. The result is a secret. It returns have without a
// request if have was the last answer and the cluster was not written since.
// https://learn.microsoft.com/en-us/rest/api/aks/managed-clusters/list-cluster-admin-credentials
func (f *Facts) GetKubeconfig(ctx context.Context, caller Caller, cluster arm.ID, kind CredentialKind, seen json.RawMessage,
	have []byte) ([]byte, error) {
	out := have
	key := caller.scopedKey(cluster.Key() + "|" + string(kind))
	recentKey := fmt.Sprintf("%s|%x", key, sha256.Sum256(seen))
	if last, ok := f.recentKubeconfigs.Get(recentKey); ok && last == sha256.Sum256(have) {
		return have, nil
	}
	_, err := f.kubeconfigs.getOrAsk(ctx, caller, key, cluster,
		func(last [sha256.Size]byte) bool { return last == sha256.Sum256(have) },
		func(uint64) (_ [sha256.Size]byte, err error) {
			if out, err = f.fetchKubeconfig(ctx, caller, cluster, kind); err == nil {
				f.recentKubeconfigs.Set(recentKey, sha256.Sum256(out))
			}
			return sha256.Sum256(out), err
		})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (f *Facts) fetchKubeconfig(ctx context.Context, caller Caller, cluster arm.ID, kind CredentialKind) ([]byte, error) {
	row, err := types.ForID(cluster)
	if err != nil {
		return nil, err
	}
	response, err := askUnlessFailed(ctx, f.failures, caller, caller.scopedKey(cluster.Key()+"|"+string(kind)),
		func(ctx context.Context) (*client.Response, error) {
			return caller.Client.Post(ctx, cluster, string(kind), row.APIVersion, nil)
		})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Kubeconfigs []struct {
			Value string `json:"value"`
		} `json:"kubeconfigs"`
	}
	// Decoding errors may quote the secret.
	if json.Unmarshal(response.Body, &answer) != nil || len(answer.Kubeconfigs) == 0 {
		return nil, fmt.Errorf("POST %s/%s: the answer has no kubeconfig", cluster.ShortName(), kind)
	}
	kubeconfig, err := base64.StdEncoding.DecodeString(answer.Kubeconfigs[0].Value)
	if err != nil {
		return nil, fmt.Errorf("POST %s/%s: the kubeconfig is not base64", cluster.ShortName(), kind)
	}
	return kubeconfig, nil
}

// scaleSetsTTL is how long a list of scale sets serves the pools of a cluster, which read it at about the same time.
const scaleSetsTTL = 2 * time.Second

// scaleSet identifies a scale set and its pool.
type scaleSet struct {
	ID   arm.ID
	Pool string
}

// instancesTTL is how long the instances of a complete pool serve while the pool looks the same. Other reads are shared for as long.
const instancesTTL = 10 * time.Second

// poolInstance is a virtual machine of a pool. Parked means that it is deallocated, and is read for pools that park nodes only.
type poolInstance struct {
	ID     arm.ID
	Parked bool
}

// parksNodes reports whether AKS deallocates the nodes of a pool that becomes smaller, and keeps their virtual machines:
// https://learn.microsoft.com/en-us/azure/aks/scale-down-mode
func parksNodes(pool json.RawMessage) bool {
	var shown struct {
		Properties struct {
			ScaleDownMode string `json:"scaleDownMode"`
		} `json:"properties"`
	}
	return json.Unmarshal(pool, &shown) == nil && strings.EqualFold(shown.Properties.ScaleDownMode, "Deallocate")
}

// countedInstances returns the IDs of the virtual machines that count as nodes of a pool. Of more than count, those that are parked do not.
func countedInstances(members []poolInstance, count int) (ids []arm.ID) {
	for _, member := range members {
		if !member.Parked || len(members) <= count {
			ids = append(ids, member.ID)
		}
	}
	return ids
}

// ListPoolInstances returns the IDs of the virtual machines of an AKS agent pool, sorted as text. seen is the pool as Azure shows
// it, count its number of nodes. exists reports whether the pool has a scale set. A new pool, or one scaled to zero before it had a
// node, may have none.
func (f *Facts) ListPoolInstances(ctx context.Context, caller Caller, nodeGroup arm.ID, pool string, seen json.RawMessage,
	count int) (ids []arm.ID, exists bool, err error) {
	recentKey := caller.scopedKey(fmt.Sprintf("%s|%s|%x", nodeGroup.Key(), pool, sha256.Sum256(seen)))
	if ids, ok := f.completePools.Get(recentKey); ok {
		return ids, true, nil
	}
	path := arm.ID(string(nodeGroup) + "/providers/" + types.ScaleSet)
	sets, err := f.poolScaleSets.getOrAsk(ctx, caller, caller.scopedKey(nodeGroup.Key()), path, acceptAny,
		func(mark uint64) ([]scaleSet, error) {
			return f.scaleSets.getOrAsk(ctx, caller, caller.scopedKey(fmt.Sprintf("%s|%d", nodeGroup.Key(), mark)),
				func(ctx context.Context) ([]scaleSet, error) {
					return listScaleSets(ctx, caller.Client, path)
				})
		})
	if err != nil {
		return nil, false, fmt.Errorf("scale sets of %s: %w", nodeGroup.ShortName(), err)
	}
	parks, accept := parksNodes(seen), acceptAny[[]poolInstance]
	if parks {
		// The scale set looks the same when a virtual machine of it is deallocated or started.
		accept = func(members []poolInstance) bool { return len(countedInstances(members, count)) == count }
	}
	var all []poolInstance
	for _, set := range sets {
		if set.Pool != pool {
			continue
		}
		exists = true
		members, err := f.poolInstances.getOrAsk(ctx, caller, caller.scopedKey(set.ID.Key()), set.ID, accept, func(uint64) ([]poolInstance, error) {
			return f.listInstances(ctx, caller, set.ID, parks)
		})
		if err != nil {
			return nil, true, fmt.Errorf("instances of %s: %w", set.ID.ShortName(), err)
		}
		all = append(all, members...)
	}
	ids = countedInstances(all, count)
	slices.Sort(ids)
	if exists && len(ids) == count {
		f.completePools.Set(recentKey, ids)
	}
	return ids, exists, nil
}

// acceptAny accepts every answer.
func acceptAny[V any](V) bool { return true }

// listInstances returns the virtual machines of a scale set, none if it does not exist. Without power it does not read whether they are
// parked.
func (f *Facts) listInstances(ctx context.Context, caller Caller, set arm.ID, power bool) (out []poolInstance, err error) {
	var query url.Values
	if power {
		query = url.Values{"$expand": {"instanceView"}}
	}
	items, err := askUnlessFailed(ctx, f.failures, caller, caller.scopedKey(set.Key()+"|instances"),
		func(ctx context.Context) ([]json.RawMessage, error) {
			return caller.Client.List(ctx, string(set)+"/virtualMachines", types.ScaleSetAPIVersion, query)
		})
	if err != nil && !arm.IsNotFound(err) {
		return nil, err
	}
	for _, item := range items {
		var instance struct {
			ID         arm.ID `json:"id"`
			Properties struct {
				InstanceView struct {
					Statuses []struct {
						Code string `json:"code"`
					} `json:"statuses"`
				} `json:"instanceView"`
			} `json:"properties"`
		}
		if err := json.Unmarshal(item, &instance); err != nil {
			return nil, err
		}
		found := poolInstance{ID: instance.ID}
		for _, status := range instance.Properties.InstanceView.Statuses {
			found.Parked = found.Parked || status.Code == "PowerState/deallocated" || status.Code == "PowerState/deallocating"
		}
		out = append(out, found)
	}
	return out, nil
}

func listScaleSets(ctx context.Context, c *client.Client, path arm.ID) ([]scaleSet, error) {
	items, err := c.List(ctx, string(path), types.ScaleSetAPIVersion, nil)
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
		// AKS writes the first tag since 2022, and wrote the second before.
		pool := set.Tags["aks-managed-poolName"]
		if pool == "" {
			pool = set.Tags["poolName"]
		}
		out = append(out, scaleSet{ID: set.ID, Pool: pool})
	}
	return out, nil
}

// Health is the answer of Azure Resource Health about a resource.
type Health struct {
	// State is Available, Unavailable, Degraded or Unknown.
	State string
	// Reason is Azure's type of the reason, as in "Platform Initiated", "" if there is none.
	Reason  string
	Summary string
}

// healthAPIVersion is the api-version of https://learn.microsoft.com/en-us/rest/api/resourcehealth/availability-statuses
const healthAPIVersion = "2025-05-01"

// ReadHealth reads the state of a resource from Azure Resource Health.
func (f *Facts) ReadHealth(ctx context.Context, c *client.Client, id arm.ID) (Health, error) {
	response, err := c.Get(ctx, id.Extension("Microsoft.ResourceHealth/availabilityStatuses", "current"), healthAPIVersion, nil)
	if err != nil {
		return Health{}, fmt.Errorf("resource health of %s: %w", id.ShortName(), err)
	}
	var answer struct {
		Properties struct {
			AvailabilityState string `json:"availabilityState"`
			ReasonType        string `json:"reasonType"`
			Summary           string `json:"summary"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(response.Body, &answer); err != nil {
		return Health{}, fmt.Errorf("resource health of %s: %w", id.ShortName(), err)
	}
	return Health{answer.Properties.AvailabilityState, answer.Properties.ReasonType, answer.Properties.Summary}, nil
}
