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
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// DefaultCredential is the name of the Secret that is used where nothing names another credential.
const DefaultCredential = "aso-credential"

// Identity is whom Azure is asked as for the documents of an object: the Secret that they name, the AzureClusterIdentity of the
// AzureASOManagedCluster, the Secret that other documents of the Cluster name, or that of the usual name. Secrets are always
// those of the namespace.
func (m *Members) Identity(kind string, obj client.Object) access.Request {
	request := access.Request{Namespace: obj.GetNamespace(), Secret: m.named(Holder(kind, obj))}
	if m.Infrastructure != nil {
		spec := m.Infrastructure.Spec
		request.Ref, request.Environment, request.SubscriptionID = spec.IdentityRef, spec.AzureEnvironment, spec.SubscriptionID
	}
	if request.Secret == "" && request.Ref == nil {
		if request.Secret = m.named(""); request.Secret == "" {
			request.Secret = DefaultCredential
		}
	}
	return request
}

// named is the Secret that the documents of a holder name, or of any for "".
func (m *Members) named(holder string) string {
	for _, d := range m.documents {
		if name := d.Annotations[plan.CredentialAnnotation]; name != "" && (holder == "" || d.DeclaredIn == holder) {
			return name
		}
	}
	return ""
}

// Owner is the object with what tells the Cluster's resources from those of another one of its name.
func (m *Members) Owner() client.Object {
	if m.Infrastructure == nil {
		return nil
	}
	return m.Infrastructure
}

// WaitsForOwner says that the AzureASOManagedCluster has to be begun first; nil when it is.
func (m *Members) WaitsForOwner() *metav1.Condition {
	if m.Infrastructure != nil && m.Infrastructure.Annotations[infrav1.OwnerIDAnnotation] != "" {
		return nil
	}
	return &metav1.Condition{
		Status: metav1.ConditionFalse, Reason: infrav1.WaitingReason,
		Message: "waits for the AzureASOManagedCluster of Cluster " + m.Cluster.Name + " to be there and begun",
	}
}

// Input is what the plan of an object is computed from, without the facts. It has the turn's client speak the api-versions of
// the documents.
func (m *Members) Input(ctx context.Context, c client.Reader, turn reconcile.Turn, kind string, obj client.Object) (plan.Input, error) {
	bound := !turn.Access.OfSecret && turn.Access.Identity.Namespace != obj.GetNamespace()
	in := m.input(kind, obj, turn.Access.SubscriptionID, bound)
	turn.Access.Client = turn.Access.Client.WithAPIVersions(plan.APIVersions(in.Set))
	return in, m.values(ctx, c, &in)
}

// Named is Input without values: what is enough to name resources.
func (m *Members) Named(kind string, obj client.Object, subscription string) plan.Input {
	return m.input(kind, obj, subscription, false)
}

func (m *Members) input(kind string, obj client.Object, subscription string, bound bool) plan.Input {
	all := m.documents
	if obj.GetDeletionTimestamp().IsZero() {
		all = m.staying()
	}
	in := plan.Input{
		Cluster: m.Cluster.Name, Object: obj, ObjectKey: Holder(kind, obj), Set: plan.NewSet(subscription, all, bound),
		PlainObjects: m.plains[Holder(kind, obj)],
		MachinePools: map[string]*clusterv1.MachinePool{}, Origins: map[string]plan.Origin{Holder(kind, obj): plan.ReadOrigin(obj)},
	}
	if m.Infrastructure != nil {
		in.Owner = m.Infrastructure
		in.Origins[Holder(ClusterKind, m.Infrastructure)] = plan.ReadOrigin(m.Infrastructure)
	}
	if m.ControlPlane != nil {
		in.Version = m.ControlPlane.Spec.Version
		in.Origins[Holder(ControlPlaneKind, m.ControlPlane)] = plan.ReadOrigin(m.ControlPlane)
	}
	network := m.Cluster.Spec.ClusterNetwork
	in.ServiceCIDR, in.PodCIDR = first(network.Services.CIDRBlocks), first(network.Pods.CIDRBlocks)
	for _, pool := range m.Pools {
		in.Origins[Holder(MachinePoolKind, pool.Pool)] = plan.ReadOrigin(pool.Pool)
		if pool.MachinePool != nil && pool.Pool.DeletionTimestamp.IsZero() {
			in.MachinePools[Holder(MachinePoolKind, pool.Pool)] = pool.MachinePool
		}
	}
	return in
}

// staying are the documents without those of pools that are being deleted.
func (m *Members) staying() []plan.Manifest {
	leaving := map[string]bool{}
	for _, pool := range m.Pools {
		leaving[Holder(MachinePoolKind, pool.Pool)] = !pool.Pool.DeletionTimestamp.IsZero()
	}
	return slices.DeleteFunc(slices.Clone(m.documents), func(d plan.Manifest) bool { return leaving[d.DeclaredIn] })
}

func first(blocks []string) string {
	if len(blocks) == 0 {
		return ""
	}
	return blocks[0]
}

// values reads what documents refer to. What is missing is left out: the plan says so. A control plane is made with its pools.
func (m *Members) values(ctx context.Context, c client.Reader, in *plan.Input) error {
	in.Values = plan.Values{Secrets: map[plan.KeyRef]string{}, ConfigMaps: map[plan.KeyRef]string{}}
	secrets, configMaps := plan.ListReferencedKeys(*in)
	for _, pool := range m.Pools {
		other := *in
		other.ObjectKey = Holder(MachinePoolKind, pool.Pool)
		s, cm := plan.ListReferencedKeys(other)
		secrets, configMaps = append(secrets, s...), append(configMaps, cm...)
	}
	for _, name := range names(secrets) {
		secret := &corev1.Secret{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: in.Object.GetNamespace(), Name: name}, secret); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("get Secret %s, which a document names: %w", name, err)
		}
		for key, value := range secret.Data {
			in.Values.Secrets[plan.KeyRef{Name: name, Key: key}] = string(value)
		}
	}
	for _, name := range names(configMaps) {
		configMap := &corev1.ConfigMap{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: in.Object.GetNamespace(), Name: name}, configMap); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("get ConfigMap %s, which a document names: %w", name, err)
		}
		for key, value := range configMap.Data {
			in.Values.ConfigMaps[plan.KeyRef{Name: name, Key: key}] = value
		}
	}
	return nil
}

// names are the objects that have keys, each once: documents may name one thousands of times.
func names(refs []plan.KeyRef) []string {
	distinct := map[string]bool{}
	for _, ref := range refs {
		distinct[ref.Name] = true
	}
	return slices.Sorted(maps.Keys(distinct))
}

// Inputs is everything that decides what the plan of an object is, but facts.
func Inputs(in plan.Input) []any {
	var values []string
	for ref, value := range in.Values.Secrets {
		values = append(values, ref.Name+"/"+ref.Key+"="+value)
	}
	for ref, value := range in.Values.ConfigMaps {
		values = append(values, ref.Name+"/"+ref.Key+"="+value)
	}
	slices.Sort(values)
	out := []any{in.Version, in.ServiceCIDR, in.PodCIDR, in.UsesLentIdentity(), values}
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

// Plan asks Azure for facts and plans.
func (m *Members) Plan(ctx context.Context, f *facts.Facts, turn reconcile.Turn, in *plan.Input) (*reconcile.Plan, error) {
	in.Facts = map[string]json.RawMessage{}
	for _, id := range plan.ListNeededFacts(*in) {
		found, err := f.ReadResource(ctx, turn.Access.Client, id)
		if err != nil {
			return nil, reconcile.UnreadFor(infrav1.ResourcesReadyCondition, err)
		}
		in.Facts[id.Key()] = found
	}
	errs := append(slices.Clone(m.wrong[in.ObjectKey]), plan.CheckCredentials(in.OwnManifests())...)
	if errs = append(errs, plan.CheckManifests(*in)...); len(errs) > 0 {
		return nil, reconcile.Refused(errs)
	}
	// Without the right to ask, an object works all the same; its resources are not proven. Its deletion waits for the right.
	if err := date(ctx, f, turn, in); err != nil && !arm.IsForbidden(err) {
		return nil, reconcile.UnreadFor(infrav1.ResourcesReadyCondition, err)
	}
	graph, err := plan.BuildPlan(*in)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	migrated, _ := plan.SplitMigrated(*in)
	return &reconcile.Plan{Graph: graph, Sent: plan.LastApplied(*in), TagsOnly: in.UsesLentIdentity(), Migrated: migrated}, nil
}
