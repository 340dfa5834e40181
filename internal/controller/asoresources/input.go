package asoresources

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// DefaultCredential is the name of the Secret that is used if no credential is named.
const DefaultCredential = "aso-credential"

// AccessRequest returns the access request for the manifests of an object. It uses the first of these that exists:
//
//  1. the Secret that the object's manifests name
//  2. the AzureClusterIdentity of the AzureASOManagedCluster
//  3. the Secret that other manifests of the Cluster name
//  4. the Secret DefaultCredential
//
// Secrets are always of the object's namespace.
func (m *Members) AccessRequest(kind string, obj client.Object) access.Request {
	request := access.Request{Namespace: obj.GetNamespace(), Secret: m.credentialName(ObjectKey(kind, obj))}
	if m.Infrastructure != nil {
		spec := m.Infrastructure.Spec
		request.IdentityRef, request.Environment, request.SubscriptionID = spec.IdentityRef, spec.AzureEnvironment, spec.SubscriptionID
	}
	if request.Secret == "" && request.IdentityRef == nil {
		if request.Secret = m.credentialName(""); request.Secret == "" {
			request.Secret = DefaultCredential
		}
	}
	return request
}

// credentialName returns the Secret that the manifests of a holder name, or those of any holder for "".
func (m *Members) credentialName(holder string) string {
	for _, d := range m.manifests {
		if name := d.Annotations[plan.CredentialAnnotation]; name != "" && (holder == "" || d.DeclaredIn == holder) {
			return name
		}
	}
	return ""
}

// OwnerObject returns the object with the owner ID of the Cluster's resources, or nil.
func (m *Members) OwnerObject() client.Object {
	if m.Infrastructure == nil {
		return nil
	}
	return m.Infrastructure
}

// WaitsForOwner returns the condition for an AzureASOManagedCluster without an owner ID yet, or nil.
func (m *Members) WaitsForOwner() *metav1.Condition {
	if m.Infrastructure != nil && applied.ReadOwnerID(m.Infrastructure.Annotations) != "" {
		return nil
	}
	return &metav1.Condition{
		Status: metav1.ConditionFalse, Reason: infrav1.WaitingReason,
		Message: "waits for the AzureASOManagedCluster of Cluster " + m.Cluster.Name + " to exist and to be reconciled",
	}
}

// LoadPlanInput reads the input of the plan of an object, without facts. unchecked are the kinds that may lack a definition. It sets the
// api-versions of the manifests on the session's client.
func (m *Members) LoadPlanInput(ctx context.Context, c client.Reader, session reconcile.Session, unchecked []string,
	kind string, obj client.Object) (plan.Input, error) {
	in := m.newInput(kind, obj, session.Access.SubscriptionID, session.Access.LentGrants != nil)
	in.UncheckedKinds = unchecked
	session.Access.Client = session.Access.Client.WithAPIVersions(plan.APIVersions(in.Set))
	return in, m.readValues(ctx, c, &in)
}

func (m *Members) newInput(kind string, obj client.Object, subscription string, lentIdentity bool) plan.Input {
	all := m.manifests
	if obj.GetDeletionTimestamp().IsZero() {
		all = m.remainingManifests()
	}
	in := plan.Input{
		Cluster: m.Cluster.Name, Object: obj, ObjectKey: ObjectKey(kind, obj), Set: plan.NewSet(subscription, all, lentIdentity),
		PlainObjects: m.plainObjects[ObjectKey(kind, obj)],
		MachinePools: map[string]*clusterv1.MachinePool{}, PoolUsers: plan.PoolUsers{}, Leaving: map[string]bool{}, Origins: map[string]plan.MigrationOrigin{ObjectKey(kind, obj): plan.ReadMigrationOrigin(obj)},
	}
	holders := map[string]client.Object{}
	if m.Infrastructure != nil {
		in.Owner = m.Infrastructure
		holders[ObjectKey(ClusterKind, m.Infrastructure)] = m.Infrastructure
	}
	if m.ControlPlane != nil {
		in.Version = m.ControlPlane.Spec.Version
		holders[ObjectKey(ControlPlaneKind, m.ControlPlane)] = m.ControlPlane
	}
	network := m.Cluster.Spec.ClusterNetwork
	in.ServiceCIDRs, in.PodCIDRs = network.Services.CIDRBlocks, network.Pods.CIDRBlocks
	for _, pool := range m.Pools {
		holders[ObjectKey(MachinePoolKind, pool.Pool)] = pool.Pool
		in.PoolUsers[ObjectKey(MachinePoolKind, pool.Pool)] = plan.NewPoolUser(pool.Pool)
		if pool.MachinePool != nil && pool.Pool.DeletionTimestamp.IsZero() {
			in.MachinePools[ObjectKey(MachinePoolKind, pool.Pool)] = pool.MachinePool
		}
	}
	for name, holder := range holders {
		in.Origins[name], in.Leaving[name] = plan.ReadMigrationOrigin(holder), !holder.GetDeletionTimestamp().IsZero()
	}
	return in
}

// remainingManifests returns the manifests without those of pools that are being deleted.
func (m *Members) remainingManifests() []plan.Manifest {
	leaving := map[string]bool{}
	for _, pool := range m.Pools {
		leaving[ObjectKey(MachinePoolKind, pool.Pool)] = !pool.Pool.DeletionTimestamp.IsZero()
	}
	return slices.DeleteFunc(slices.Clone(m.manifests), func(d plan.Manifest) bool { return leaving[d.DeclaredIn] })
}

// readValues reads the Secrets and ConfigMaps that manifests refer to. Missing ones are left out, and the plan reports them. References
// of pools are included, because a control plane is created with its pools.
func (m *Members) readValues(ctx context.Context, c client.Reader, in *plan.Input) error {
	in.Values = aso.Values{Secrets: map[aso.KeyRef]string{}, ConfigMaps: map[aso.KeyRef]string{}}
	secrets, configMaps := plan.ListReferencedKeys(*in)
	for _, pool := range m.Pools {
		other := *in
		other.ObjectKey = ObjectKey(MachinePoolKind, pool.Pool)
		s, cm := plan.ListReferencedKeys(other)
		secrets, configMaps = append(secrets, s...), append(configMaps, cm...)
	}
	for _, name := range distinctNames(secrets) {
		secret := &corev1.Secret{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: in.Object.GetNamespace(), Name: name}, secret); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("get Secret %s, to which a resource manifest refers: %w", name, err)
		}
		for key, value := range secret.Data {
			in.Values.Secrets[aso.KeyRef{Name: name, Key: key}] = string(value)
		}
	}
	for _, name := range distinctNames(configMaps) {
		configMap := &corev1.ConfigMap{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: in.Object.GetNamespace(), Name: name}, configMap); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("get ConfigMap %s, to which a resource manifest refers: %w", name, err)
		}
		for key, value := range configMap.Data {
			in.Values.ConfigMaps[aso.KeyRef{Name: name, Key: key}] = value
		}
	}
	return nil
}

// distinctNames returns the names of the objects in refs, each once: manifests may refer to one object thousands of times.
func distinctNames(refs []aso.KeyRef) []string {
	distinct := map[string]bool{}
	for _, ref := range refs {
		distinct[ref.Name] = true
	}
	return slices.Sorted(maps.Keys(distinct))
}

// FingerprintInputs returns all input of the plan of an object except facts.
func FingerprintInputs(in plan.Input) []any {
	var values []string
	for ref, value := range in.Values.Secrets {
		values = append(values, ref.Name+"/"+ref.Key+"="+value)
	}
	for ref, value := range in.Values.ConfigMaps {
		values = append(values, ref.Name+"/"+ref.Key+"="+value)
	}
	slices.Sort(values)
	out := []any{in.Version, in.ServiceCIDRs, in.PodCIDRs, in.UsesLentIdentity(), values}
	for _, d := range in.Manifests() {
		out = append(out, d.DeclaredIn, d.Group, d.Version, d.Kind, d.Name, d.Annotations, d.Spec)
	}
	for _, p := range in.PlainObjects {
		out = append(out, p.Object)
	}
	for _, d := range in.Manifests() {
		if machinePool := in.MachinePools[d.DeclaredIn]; machinePool != nil {
			out = append(out, machinePool.Spec, machinePool.Annotations)
		}
	}
	return out
}

// PlanResources asks Azure for facts and computes the plan.
func (m *Members) PlanResources(ctx context.Context, f *facts.Facts, session reconcile.Session, in *plan.Input) (*reconcile.Plan, error) {
	in.Facts = map[string]json.RawMessage{}
	for _, id := range plan.ListNeededFacts(*in) {
		found, err := f.ReadResource(ctx, session.Caller(), id)
		if err != nil {
			return nil, reconcile.ReadFailedFor(infrav1.ResourcesReadyCondition, err)
		}
		in.Facts[id.Key()] = found
	}
	if errs := plan.CheckReconcilable(*in, m.manifestErrors[in.ObjectKey]); len(errs) > 0 {
		return nil, reconcile.RefuseSpec(errs)
	}
	// Without permission to list resources the object works all the same, but its migrated resources are not proven. Its deletion waits
	// for the permission.
	if err := readCreationTimes(ctx, f, session, in); err != nil && !arm.IsForbidden(err) {
		return nil, reconcile.ReadFailedFor(infrav1.ResourcesReadyCondition, err)
	}
	graph, err := plan.BuildPlan(*in)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	migrated, _ := plan.SplitMigrated(*in)
	return &reconcile.Plan{Graph: graph, LastApplied: plan.LastApplied(*in), IsOthers: in.IsDeclaredElsewhere,
		RecordSubscription: true, IgnoreInventory: in.UsesLentIdentity(), Migrated: migrated}, nil
}
