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
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/takenover"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
)

// Object is of a kind with conditions, whose status says what of it was looked at.
type Object interface {
	lifecycle.Object
	GetObserved() *infrav1.ObservedStatus
}

// Loader is what every kind has. O is a pointer to its type. I is the input of one pass: plain data, which the methods of a kind
// fill in the order in which they are declared. Methods that return an error may end the pass with a verdict.
type Loader[O Object, I any] interface {
	Declare() Declaration
	// NewObject is an empty object.
	NewObject() O
	// WatchedObjects are what else an object depends on.
	WatchedObjects(ctx context.Context, mgr ctrl.Manager) ([]Watch, error)
	// Load reads what the object belongs to from Kubernetes.
	Load(ctx context.Context, object O) (*I, Target, error)
}

// LocalKind is what is particular to the objects of a kind that has nothing in Azure.
type LocalKind[O Object, I any] interface {
	Loader[O, I]
	// ReportStatus has the status say what is so, of an object that is being deleted, too.
	ReportStatus(ctx context.Context, in *I) error
}

// Kind is what is particular to the objects of a kind that has something in Azure. Methods without a context are pure.
type Kind[O Object, I any] interface {
	Loader[O, I]

	// LoadPlanInput reads what else the plan is computed from, from Kubernetes.
	LoadPlanInput(ctx context.Context, turn Session, in *I) error
	// FingerprintInputs is everything that decides what the plan is, but facts: values that marshal to JSON.
	FingerprintInputs(in *I) []any
	// Plan asks Azure for facts and plans.
	Plan(ctx context.Context, turn Session, in *I) (*Plan, error)
	// Report has the status say what was found, and does what makes usable what is in place. It returns how long that holds
	// at most; 0 is until the next resync.
	Report(ctx context.Context, turn Session, in *I, outcome arm.Outcome) (time.Duration, error)

	// BeforeDelete is told that the object is being deleted, and says by a verdict what else happens than deleting in Azure.
	BeforeDelete(ctx context.Context, in *I) error
	// NothingCreated tells whether nothing of the object can ever have been made in Azure.
	NothingCreated(in *I) bool
	// PlanDeletion is Plan for an object that is being deleted.
	PlanDeletion(ctx context.Context, turn Session, in *I) (*Plan, error)
	// ReportDeletion has the status say how far the deletion is.
	ReportDeletion(in *I, outcome arm.Outcome)
	// DeletionBlocker is what a person has to know who wants the object to go: Identity, User and Azure. The subscription is "" where
	// none is named.
	DeletionBlocker(in *I, subscription string) deletion.Blocker
}

// PausedReporter is for a kind in whose passes other objects are looked after, which have no passes of their own.
type PausedReporter[I any] interface {
	// ReportPaused has these say that they are paused, while the object is.
	ReportPaused(ctx context.Context, in *I) error
}

// OwnerReferenceRenewer is for a kind with objects beside its own that have its objects as their owners.
type OwnerReferenceRenewer[I any] interface {
	// RenewOwnerReferences corrects them in Kubernetes. It is called when the object is in order, so that Azure is asked nothing.
	RenewOwnerReferences(ctx context.Context, in *I) error
}

// Declaration is what is the same for all objects of a kind.
type Declaration struct {
	// Name is that of the kind, as AzureMachine.
	Name string
	// Finalizer is on the objects of a kind that has something in Azure. Former finalizers go with it.
	Finalizer        string
	FormerFinalizers []string
	// IdentityUsers finds the objects by their identity, which each keeps from going before itself. It is nil for a kind whose
	// objects ask Azure as the identity of another one.
	IdentityUsers *access.IdentityUsers
	// ExternallyManageable tells that an object may be managed by somebody else, and is then left alone, but for the form of its readiness.
	ExternallyManageable bool
	// PrimaryCondition is the condition that says why nothing could be planned.
	PrimaryCondition string
	// SummarizedConditions are the conditions that Ready sums up then. Without any, Ready says what Foremost says.
	SummarizedConditions []string
	// ReadyAliases are conditions that always say what Ready says.
	ReadyAliases []string
	// ObsoleteConditions are conditions that objects may have and that nobody keeps.
	ObsoleteConditions []string
}

// Watch is a kind of objects that wake those of another one.
type Watch struct {
	Object     client.Object
	MapFunc    handler.MapFunc
	Predicates []predicate.Predicate
	// MetadataOnly watches without what the objects hold.
	MetadataOnly bool
}

// Target is whose the object is.
type Target struct {
	// Cluster is the one that the object belongs to, nil for an object of several, which can have nothing in Azure. It may
	// stand for one that is not there any more.
	Cluster *clusterv1.Cluster
	// Identity is whom Azure is asked as.
	Identity access.Request
	// WaitCondition says what somebody else has to do before Azure is asked anything; nil is nothing.
	WaitCondition *metav1.Condition
	// Owner has in its annotations what tells the Cluster's resources from those of one with the same name; nil is not known.
	Owner client.Object
	// WasProvisioned tells that everything was in place once.
	WasProvisioned bool
}

// Session is what a kind is lent for one pass.
type Session struct {
	// Name names the object for Azure's side, as in AzureMachine/default/m-1.
	Name   string
	Access *access.Access
	// Wake puts the object into the queue.
	Wake func()
	// RunAction sends an action to Azure in the name of the object, as Engine.Do does, if the identity may be used for it.
	RunAction func(context.Context, engine.Action) arm.Result
	// Migration is what was found of the object's resources when it was taken over; nil of one that is being deleted.
	Migration *takenover.Found
	// Store writes what was said so far. The pass does so by itself at its end.
	Store func(context.Context) error
}

// Plan is what a pass has the engine do.
type Plan struct {
	Graph *arm.Graph
	// Superseded is closed when another plan can be made, which the object is woken for; nil is never.
	Superseded <-chan struct{}
	// LastApplied is what earlier plans sent: what of it is no longer wanted goes.
	LastApplied memory.Memory
	// OwnedUntagged are resources of the graph that may be without tags and are the object's all the same.
	OwnedUntagged []arm.ID
	// Migrated are resources without tags that were made for the object under the established provider, and are deleted with it.
	Migrated []arm.ID
	// IgnoreInventory has what carries no tag count as the object's only below what does, whatever the inventory says.
	IgnoreInventory bool
	// DeleteWholeGroups lets the deletion take a resource group with everything in it. DeletedWithGroup is the group that will take
	// everything planned, when the deletion of something else deletes it whole; "" for none.
	DeleteWholeGroups bool
	DeletedWithGroup  arm.ID
	// FinalWarning says what of others' making stays in Azure when the object goes; "" for nothing.
	FinalWarning string
	// EarlyWarning is told at once as something of others' making that will stay in Azure; "" for nothing.
	EarlyWarning string
	// OnDeleted is called when nothing is left in Azure.
	OnDeleted func()
}
