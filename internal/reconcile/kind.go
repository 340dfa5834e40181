package reconcile

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
)

// Object has conditions, and a status with the observed generation.
type Object interface {
	lifecycle.Object
	GetObserved() *infrav1.ObservedStatus
}

// Loader is the common part of all kinds. O is a pointer to the Go type of the kind. I is the input of one reconciliation: plain data
// that the methods fill in, called in the order in which they are declared here. A method that returns an error may return a
// stopReason.
type Loader[O Object, I any] interface {
	Declare() Declaration
	// Load reads from Kubernetes the objects that the object belongs to.
	Load(ctx context.Context, object O) (*I, Target, error)
}

// LocalKind is implemented by a kind without resources in Azure.
type LocalKind[O Object, I any] interface {
	Loader[O, I]
	// LoadStatusInput reads the rest of the status's input. It is not called for a paused object.
	LoadStatusInput(ctx context.Context, in *I) error
	// Report sets the status, also of an object that is being deleted. It is pure.
	Report(in *I) error
}

// WokenKind is implemented by a kind whose objects have to be reconciled when something other than an object in Kubernetes has changed.
type WokenKind interface {
	// WakeWith is called once, before the first reconciliation, with the function that puts an object into the queue.
	WakeWith(wake func(client.ObjectKey))
}

// Kind is implemented by a kind with resources in Azure. Methods without a context are pure. A kind embeds Defaults, and implements the
// methods of Defaults only where it differs. A pointer to its input is an Input.
type Kind[O Object, I any] interface {
	Loader[O, I]

	// LoadPlanInput reads the rest of the plan's input from Kubernetes. Default: nothing.
	LoadPlanInput(ctx context.Context, session Session, in *I) error
	// Plan asks Azure for facts and computes the plan.
	Plan(ctx context.Context, session Session, in *I) (*Plan, error)
	// Act does all that the engine does not: actions in Azure that are no part of the graph, reads that only the status needs, and
	// writes to other objects. It leaves its findings in the input. Default: nothing.
	Act(ctx context.Context, session Session, in *I, outcome arm.Outcome) error
	// Report sets the status by the outcome and the findings of Act. It is pure, and is also called after Act has failed. It returns
	// how long the result is valid at most; 0 means until the next sync. The error of Act goes before its own. For an object that is
	// being deleted it shows the progress of the deletion, and its results are ignored.
	Report(in *I, outcome arm.Outcome) (time.Duration, error)

	// BeforeDelete runs before Azure is asked. A stopReason that it returns replaces the deletion in Azure, for example to wait for
	// other objects. Default: nothing.
	BeforeDelete(ctx context.Context, in *I) error
	// PlanDeletion computes the plan of an object that is being deleted.
	PlanDeletion(ctx context.Context, session Session, in *I) (*Plan, error)
	// DescribeResources describes the resources that the object may have created in Azure. subscription is "" if it is not known.
	DescribeResources(in *I, subscription string) deletion.Resources
}

// Input is the input of one reconciliation of a Kind.
type Input interface {
	// FingerprintInputs returns all input of the plan except facts, as values that marshal to JSON.
	FingerprintInputs() []any
}

// PointerToInput is the constraint of a pointer to the input of a Kind.
type PointerToInput[I any] interface {
	*I
	Input
}

// Declaration has the properties that all objects of a kind share.
type Declaration struct {
	// Name is the kind, for example AzureMachine.
	Name string
	// Finalizer is put on objects of a kind with resources in Azure. FormerFinalizers are removed with it.
	Finalizer        string
	FormerFinalizers []string
	// WatchedObjects lists the other objects whose changes wake an object of the kind.
	WatchedObjects func(context.Context, ctrl.Manager) ([]Watch, error)
	// IdentityUsers finds the objects that refer to an AzureClusterIdentity; each keeps it from being deleted first. It is nil for a
	// kind that uses the identity of another object.
	IdentityUsers *access.IdentityUsers
	// ExternallyManageable allows the annotation cluster.x-k8s.io/managed-by. Such an object is left alone, except that its readiness
	// is translated to the current contract.
	ExternallyManageable bool
	// PrimaryCondition is the type of the condition that shows why no plan could be made.
	PrimaryCondition string
	// SummarizedConditions are the types that Ready then summarizes. If empty, Ready equals PrimaryCondition.
	SummarizedConditions []string
	// ReadyAliases are types of conditions that always equal Ready.
	ReadyAliases []string
	// ObsoleteConditions are types that stored objects may still have. They are removed.
	ObsoleteConditions []string
	// Stoppable is set for a kind whose VMs can be stopped by annotations. StopsWithCluster is set if AKS stops them together with their
	// cluster: annotations of the Cluster do not count for them then.
	Stoppable, StopsWithCluster bool
	// PublishesValues is set for a kind that publishes Secrets or ConfigMaps. Their owner references are kept while the object is
	// stable, too.
	PublishesValues bool
	// Dependents are objects of another kind without a controller of its own that are paused with the object; nil for none.
	Dependents *Dependents
}

// Dependents are the objects of a kind that belong to an object of another kind.
type Dependents struct {
	// Kind is the kind of the dependents. Finalizer is the finalizer that the controller of the other object puts on them.
	Kind, Finalizer string
	List            func(ctx context.Context, object client.Object) ([]lifecycle.Object, error)
	// DescribeResource returns the resource in Azure that a dependent represents.
	DescribeResource func(dependent lifecycle.Object) string
}

// Watch has changes of other objects wake objects of the kind.
type Watch struct {
	Object     client.Object
	MapFunc    handler.MapFunc
	Predicates []predicate.Predicate
	// MetadataOnly watches only the metadata, so that the cache does not hold the content.
	MetadataOnly bool
}

// Target is the object's Cluster with the identity that Azure is asked as.
type Target struct {
	// Cluster is the object's Cluster. It is nil for an object of several Clusters, which cannot have resources in Azure. It may be a
	// substitute for a Cluster that is gone.
	Cluster *clusterv1.Cluster
	// Identity selects the identity that Azure is asked as.
	Identity access.Request
	// WaitCondition is set if another object has to act before Azure is asked.
	WaitCondition *metav1.Condition
	// Owner is the object whose annotations have the owner ID that distinguishes the Cluster's resources from those of another Cluster
	// of the same name. It is nil if it is not known.
	Owner client.Object
	// WasProvisioned is true once everything was in place.
	WasProvisioned bool
}

// Session gives a kind its access to Azure and its callbacks for one reconciliation.
type Session struct {
	// Name identifies the object to the engine, for example AzureMachine/default/m-1.
	Name   string
	Access *access.Access
	// Now is the clock: it is compared with timestamps of objects.
	Now func() time.Time
	// Read chooses how Azure may be read.
	Read engine.ReadOptions
	// fingerprint is that of the plan's input; nil if no plan is made.
	fingerprint any
	// Wake puts the object into the queue.
	Wake func()
	// RunAction sends an action to Azure for the object, as Engine.RunAction does, if the identity may be used for it.
	RunAction func(context.Context, engine.Action) arm.Result
	// Observing means that nothing may be written to Azure, and nothing to Kubernetes that has others write to Azure or stops workloads.
	// RunAction then returns a result with the intended method. Intend describes a write to Kubernetes that is left out.
	Observing bool
	Intend    func(write string)
	// Migration lists the differences found when the object was migrated; nil for an object that is being deleted.
	Migration *applied.Differences
	// Power is what annotations ask of the object's VMs. A kind that is Stoppable carries it out in Act and reports how far it is.
	Power *Power
	// Store writes the changes made so far. The end of the reconciliation does so by itself.
	Store func(context.Context) error
}

// Caller returns the caller of questions to Azure.
func (s Session) Caller() facts.Caller {
	caller := facts.Caller{Client: s.Access.Client, Read: s.Read, Lent: s.Access.LentGrants != nil}
	if s.fingerprint != nil {
		caller.Name, caller.Input = s.Name, s.fingerprint
	}
	return caller
}

// Plan is the input of the engine.
type Plan struct {
	Graph *arm.Graph
	// Superseded is closed when a better plan can be computed, and the object is then woken. It may be nil.
	Superseded <-chan struct{}
	// LastApplied is the lastApplied of the object. Resources and paths that are no longer planned are removed.
	LastApplied applied.State
	// Ignored describes input that has no effect and that no condition shows; "" for none. It is emitted as a warning.
	Ignored string
	// OwnedUntagged are resources of the graph that belong to the object even if they have no tags.
	OwnedUntagged []arm.ID
	// Migrated are untagged resources that the established provider created for the object. They are deleted with it.
	Migrated []arm.ID
	// IsOthers reports whether another object of the Cluster, which is not being deleted, has a resource in its plan, too. Such a resource
	// is not deleted for this object. It may be nil.
	IsOthers func(id arm.ID) bool
	// RecordSubscription has the object record the subscription of its resources, as kinds with an identity do.
	RecordSubscription bool
	// IgnoreInventory treats a resource that cannot carry tags as the object's only below a tagged one, without regard to the
	// inventory.
	IgnoreInventory bool
	// DeleteWholeGroups lets the deletion remove a resource group with all its content. DeletedWithGroup is the resource group whose
	// deletion for another object removes everything planned; "" if there is none.
	DeleteWholeGroups bool
	DeletedWithGroup  arm.ID
	// FinalWarning describes resources that others created for the cluster and that stay in Azure. It is emitted when the deletion is
	// done; "" for none.
	FinalWarning string
	// PrepareDeletion is Act for an object that is being deleted. It runs before the engine deletes anything. Its warning is emitted at
	// once and describes resources that stay in Azure; "" for none. It is nil if there is nothing to do.
	PrepareDeletion func(context.Context) (warning string, err error)
	// OnDeleted is called when nothing is left in Azure.
	OnDeleted func()
}
