package deletion

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/owner"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// maxNames limits how many objects a message lists, and maxCommands how many a command lists. A command for more of them selects by the
// label of their Cluster, so that it is always complete.
const maxNames, maxCommands = 4, 20

// Prerequisites are objects that have to be gone before the deletion of another object begins in Azure.
type Prerequisites struct {
	// Kind is the kind of Objects, for example AzureMachine. OwnerKind is the kind of Cluster API that owns them, for example Machine.
	Kind, OwnerKind string
	Objects         []client.Object
	// Cluster is their Cluster, or its substitute.
	Cluster *clusterv1.Cluster
	// ClusterGone is set if Cluster is a substitute.
	ClusterGone bool
}

// WaitCondition explains which objects have to go first, and how to delete those that are not being deleted.
func (f Prerequisites) WaitCondition(reason string) metav1.Condition {
	var going, staying, commands []string
	objects := slices.SortedFunc(slices.Values(f.Objects), func(a, b client.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	for _, obj := range objects {
		if !obj.GetDeletionTimestamp().IsZero() {
			going = append(going, obj.GetName())
			continue
		}
		staying = append(staying, obj.GetName())
		command := strings.ToLower(f.Kind) + "/" + obj.GetName()
		if name := owner.FindName(obj, f.OwnerKind); name != "" {
			command = strings.ToLower(f.OwnerKind) + "/" + name
		}
		commands = append(commands, command)
	}
	var parts []string
	if len(going) > 0 {
		parts = append(parts, fmt.Sprintf("waits for the deletion of: %s %s", f.Kind, SummarizeNames(going)))
	}
	if len(staying) > 0 {
		parts = append(parts, fmt.Sprintf("waits for objects that are not being deleted yet: %s %s. %s", f.Kind, SummarizeNames(staying),
			f.deleteHint(commands)))
	}
	return metav1.Condition{Status: metav1.ConditionFalse, Reason: reason, Message: strings.Join(parts, "; ")}
}

// deleteHint explains how to delete the objects that are not being deleted.
func (f Prerequisites) deleteHint(commands []string) string {
	byName := "kubectl delete -n " + f.Cluster.Namespace + " " + strings.Join(commands, " ")
	if len(commands) > maxCommands {
		kinds := map[string]bool{}
		for _, command := range commands {
			kind, _, _ := strings.Cut(command, "/")
			kinds[kind] = true
		}
		byName = fmt.Sprintf("kubectl delete -n %s %s --selector %s=%s", f.Cluster.Namespace, strings.Join(slices.Sorted(maps.Keys(kinds)), ","),
			clusterv1.ClusterNameLabel, f.Cluster.Name)
	}
	switch {
	case f.ClusterGone:
		return "To continue, delete them: " + byName
	case !f.Cluster.DeletionTimestamp.IsZero():
		return "Cluster " + f.Cluster.Name + " is being deleted, and Cluster API deletes them, too. To delete them now: " + byName
	default:
		return "To continue, delete the Cluster with all its objects: kubectl delete -n " + f.Cluster.Namespace + " cluster/" + f.Cluster.Name + ", or only them: " + byName
	}
}

// SummarizeNames lists the first names, and the number of the others.
func SummarizeNames(all []string) string { return text.JoinFirst(all, maxNames) }
