package readonly

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
	"sigs.k8s.io/cluster-api-provider-azure/internal/webhook"
)

// FindWrites returns a line for each write to Azure that applying the objects would cause, for each value that an API server would refuse, and
// for each resource that would not become ready. It returns none if nothing is written. The client's transport must be Transport.
func FindWrites(ctx context.Context, c *client.Client, f adoption.ObservedCluster, m adoption.ClusterObjects) ([]string, error) {
	p := &dryRun{engine: engine.New(engine.Options{}), client: c, cluster: m.Cluster.Name}
	if m.ASO != nil {
		p.ownerID = ownership.OwnerTagValue(m.ASO.Infrastructure, p.cluster)
		return p.checkASOManaged(ctx, f, m)
	}
	p.ownerID = ownership.OwnerTagValue(m.ControlPlane, p.cluster)
	return p.checkAzureManaged(ctx, f, m)
}

type dryRun struct {
	engine  *engine.Engine
	client  *client.Client
	cluster string
	// ownerID is the value of the owner tag of the cluster's resources, empty for a cluster that was never managed.
	ownerID string
	found   []string
}

func (p *dryRun) addRefusals(object string, errs field.ErrorList) {
	for _, err := range errs {
		p.found = append(p.found, object+": "+err.Error())
	}
}

func (p *dryRun) checkAzureManaged(ctx context.Context, f adoption.ObservedCluster, m adoption.ClusterObjects) ([]string, error) {
	if f.APIVersion != types.ContainerServiceAPIVersion {
		p.client = p.client.WithAPIVersion(types.ManagedCluster, f.APIVersion)
	}
	in := m.ControlPlaneInput(f)
	if err := p.checkSchemas(ctx, m, &in); err != nil {
		return nil, err
	}
	p.addRefusals("AzureManagedControlPlane "+in.ControlPlane.Name,
		append(webhook.ValidateAzureManagedControlPlane(in.ControlPlane, in.Cluster), aks.CheckSpec(in)...))
	graph, _, err := aks.BuildPlan(in)
	if err != nil {
		return nil, err
	}
	if err := p.convergeGraph(ctx, graph); err != nil {
		return nil, err
	}
	for i, pool := range in.Pools {
		in.Facts.AgentPool = f.Pools[i].Body
		p.addRefusals("AzureManagedMachinePool "+pool.AzurePool.Name,
			append(webhook.ValidateAzureManagedMachinePool(pool.AzurePool, aks.APIVersion(in)), aks.CheckPool(in, pool)...))
		graph, err := aks.BuildPoolPlan(in, pool)
		if err != nil {
			return nil, err
		}
		if err := p.convergeGraph(ctx, graph); err != nil {
			return nil, err
		}
	}
	return p.found, nil
}

func (p *dryRun) checkASOManaged(ctx context.Context, f adoption.ObservedCluster, m adoption.ClusterObjects) ([]string, error) {
	if err := p.checkSchemas(ctx, m, nil); err != nil {
		return nil, err
	}
	for _, in := range m.ASOInputs(f) {
		p.client = p.client.WithAPIVersions(asoresource.APIVersions(in.Set))
		p.addRefusals(in.ObjectKey, asoresource.CheckManifests(in))
		graph, err := asoresource.BuildPlan(in)
		if err != nil {
			return nil, err
		}
		if err := p.convergeGraph(ctx, graph); err != nil {
			return nil, err
		}
	}
	return p.found, nil
}

// convergeGraph reconciles a graph and records the writes that the engine would send.
func (p *dryRun) convergeGraph(ctx context.Context, graph *arm.Graph) error {
	outcome, err := p.engine.Converge(ctx, engine.Request{
		Object: "adoption", Client: p.client, Graph: graph,
		Owner: engine.Owner{TagKey: infrav1.ClusterTagKey(p.cluster), TagValue: infrav1.TagOwned, IDKey: infrav1.OwnerTag, ID: p.ownerID},
	})
	if err != nil {
		return err
	}
	for _, result := range outcome.Results {
		switch {
		case result.IsDone():
		case result.SentMethod != "":
			lines, err := describeWrite(graph.Node(result.ID), result)
			if err != nil {
				return err
			}
			p.found = append(p.found, lines...)
		case result.Err != nil:
			p.found = append(p.found, arm.AddSubject(result.ID.ShortName(), result.Err).Error())
		default:
			p.found = append(p.found, fmt.Sprintf("%s: %s %s%s", result.ID.ShortName(), result.State, result.Message, result.BlockedBy))
		}
	}
	return nil
}

// describeWrite returns the lines about a write.
func describeWrite(node *arm.Node, result arm.Result) ([]string, error) {
	if result.Observed == nil {
		return []string{fmt.Sprintf("%s: would be created", result.ID.ShortName())}, nil
	}
	row, err := types.ForID(result.ID)
	if err != nil {
		return nil, err
	}
	body, err := arm.DecodeBody(node.Body)
	if err != nil {
		return nil, err
	}
	have, err := arm.DecodeBody(result.Observed)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, difference := range compare.Diff(compare.Desired{Type: row, Body: body, OwnedPaths: node.OwnedPaths, DropTags: node.DropTags},
		have) {
		out = append(out, result.ID.ShortName()+": "+difference.String())
	}
	if len(out) == 0 {
		out = append(out, fmt.Sprintf("%s: would be written for %v", result.ID.ShortName(), result.Drift))
	}
	return out, nil
}
