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
	// New is an empty object.
	New() O
	// Watches are what else an object depends on.
	Watches(ctx context.Context, mgr ctrl.Manager) ([]Watch, error)
	// Load reads what the object belongs to from Kubernetes.
	Load(ctx context.Context, object O) (*I, Subject, error)
}

// Local is what is particular to the objects of a kind that has nothing in Azure.
type Local[O Object, I any] interface {
	Loader[O, I]
	// Show has the status say what is so, of an object that is being deleted, too.
	Show(ctx context.Context, in *I) error
}

// Kind is what is particular to the objects of a kind that has something in Azure. Methods without a context are pure.
type Kind[O Object, I any] interface {
	Loader[O, I]

	// Prepare reads what else the plan is computed from, from Kubernetes.
	Prepare(ctx context.Context, turn Turn, in *I) error
	// Inputs is everything that decides what the plan is, but facts: values that marshal to JSON.
	Inputs(in *I) []any
	// Plan asks Azure for facts and plans.
	Plan(ctx context.Context, turn Turn, in *I) (*Plan, error)
	// Report has the status say what was found, and does what makes usable what is in place. It returns how long that holds
	// at most; 0 is until the next resync.
	Report(ctx context.Context, turn Turn, in *I, outcome arm.Outcome) (time.Duration, error)

	// Deleting is told that the object is being deleted, and says by a verdict what else happens than deleting in Azure.
	Deleting(ctx context.Context, in *I) error
	// Untouched tells whether nothing of the object can ever have been made in Azure.
	Untouched(in *I) bool
	// PlanDeletion is Plan for an object that is being deleted.
	PlanDeletion(ctx context.Context, turn Turn, in *I) (*Plan, error)
	// ReportDeletion has the status say how far the deletion is.
	ReportDeletion(in *I, outcome arm.Outcome)
	// Held is what a person has to know who wants the object to go: Identity, User and Azure. The subscription is "" where
	// none is named.
	Held(in *I, subscription string) deletion.Held
}

// Pausing is for a kind in whose passes other objects are looked after, which have no passes of their own.
type Pausing[I any] interface {
	// Paused has these say that they are paused, while the object is.
	Paused(ctx context.Context, in *I) error
}

// Renewing is for a kind with objects beside its own that have its objects as their owners.
type Renewing[I any] interface {
	// Renew corrects them in Kubernetes. It is called when the object is in order, so that Azure is asked nothing.
	Renew(ctx context.Context, in *I) error
}

// Declaration is what is the same for all objects of a kind.
type Declaration struct {
	// Name is that of the kind, as AzureMachine.
	Name string
	// Finalizer is on the objects of a kind that has something in Azure. Former finalizers go with it.
	Finalizer string
	Former    []string
	// Users finds the objects by their identity, which each keeps from going before itself. It is nil for a kind whose
	// objects ask Azure as the identity of another one.
	Users *access.Users
	// Manageable tells that an object may be managed by somebody else, and is then left alone, but for the form of its readiness.
	Manageable bool
	// Foremost is the condition that says why nothing could be planned.
	Foremost string
	// Summed are the conditions that Ready sums up then. Without any, Ready says what Foremost says.
	Summed []string
	// Alike are conditions that always say what Ready says.
	Alike []string
	// Dropped are conditions that objects may have and that nobody keeps.
	Dropped []string
}

// Watch is a kind of objects that wake those of another one.
type Watch struct {
	Object     client.Object
	Wakes      handler.MapFunc
	Predicates []predicate.Predicate
	// MetadataOnly watches without what the objects hold.
	MetadataOnly bool
}

// Subject is whose the object is.
type Subject struct {
	// Cluster is the one that the object belongs to, nil for an object of several, which can have nothing in Azure. It may
	// stand for one that is not there any more.
	Cluster *clusterv1.Cluster
	// Identity is whom Azure is asked as.
	Identity access.Request
	// WaitsFor says what somebody else has to do before Azure is asked anything; nil is nothing.
	WaitsFor *metav1.Condition
	// Owner has in its annotations what tells the Cluster's resources from those of one with the same name; nil is not known.
	Owner client.Object
	// Made tells that everything was in place once.
	Made bool
}

// Turn is what a kind is lent for one pass.
type Turn struct {
	// Name names the object for Azure's side, as in AzureMachine/default/m-1.
	Name   string
	Access *access.Access
	// Wake puts the object into the queue.
	Wake func()
	// Do sends an action to Azure in the name of the object, as Engine.Do does, if the identity may be used for it.
	Do func(context.Context, engine.Action) arm.Result
	// Found is what was found of the object's resources when it was taken over; nil of one that is being deleted.
	Found *takenover.Found
	// Store writes what was said so far. The pass does so by itself at its end.
	Store func(context.Context) error
}

// Plan is what a pass has the engine do.
type Plan struct {
	Graph *arm.Graph
	// Outdated is closed when another plan can be made, which the object is woken for; nil is never.
	Outdated <-chan struct{}
	// Sent is what earlier plans sent: what of it is no longer wanted goes.
	Sent memory.Memory
	// Unlabelled are resources of the graph that may be without tags and are the object's all the same.
	Unlabelled []arm.ID
	// Migrated are resources without tags that were made for the object under the established provider, and are deleted with it.
	Migrated []arm.ID
	// TagsOnly has what carries no tag count as the object's only below what does, whatever the inventory says.
	TagsOnly bool
	// WholeGroups lets the deletion take a resource group with everything in it. GoesWith is the group that will take
	// everything planned, when the deletion of something else deletes it whole; "" for none.
	WholeGroups bool
	GoesWith    arm.ID
	// LeftBehind says what of others' making stays in Azure when the object goes; "" for nothing.
	LeftBehind string
	// Warning is told at once as something of others' making that will stay in Azure; "" for nothing.
	Warning string
	// Gone is called when nothing is left in Azure.
	Gone func()
}
