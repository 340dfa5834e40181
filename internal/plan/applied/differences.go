package applied

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Differences are the differences between an object's resources and its first plan. They stay in Azure as long as plans
// want the same.
type Differences struct {
	// firstReconciliation means that the object has no annotation yet.
	firstReconciliation bool
	// kept are hashes of differences by resource. It is nil for an object that was created under this provider.
	kept map[string][]string
}

// ReadDifferences returns the differences of an object.
func ReadDifferences(annotations map[string]string) *Differences {
	migration := Read(annotations).Migration
	if migration == nil {
		return &Differences{firstReconciliation: true, kept: map[string][]string{}}
	}
	return &Differences{kept: migration.Kept}
}

// IsCreatedHere returns true if the object was created under this provider, so that no difference is kept.
func (f *Differences) IsCreatedHere() bool { return f.kept == nil }

// IsMigrated returns true if the object is known to have been created under the established provider.
func (f *Differences) IsMigrated() bool { return !f.firstReconciliation && f.kept != nil }

// KeepsDifference returns true if a difference between a resource and its plan stays in Azure. In the first reconciliation
// of a migrated object it adds the difference. path is the place of the difference, want and have are the planned and the
// existing value as short text.
func (f *Differences) KeepsDifference(id arm.ID, path, want, have string) bool {
	if f.IsCreatedHere() || isMaintained(id, path, have) {
		return false
	}
	short, print := differencesKey(id), hashDifference(path, want)
	known := slices.Contains(f.kept[short], print)
	if f.firstReconciliation && !known {
		f.kept[short] = append(f.kept[short], print)
	}
	return known || f.firstReconciliation
}

// Migration returns the migration to store after a convergence. It is nil until a convergence could read all resources.
func (f *Differences) Migration(outcome arm.Outcome) *Migration {
	unread := slices.ContainsFunc(outcome.Results, func(r arm.Result) bool {
		return len(r.Observed) == 0 && !r.OwnedByOthers && (r.Err != nil || r.State == arm.Waiting || r.State == arm.Blocked)
	})
	if f.firstReconciliation && unread {
		return nil
	}
	return &Migration{Kept: f.kept}
}

// differencesKey returns the key of an ID without subscription and "/resourcegroups/".
func differencesKey(id arm.ID) string {
	_, path, _ := strings.Cut(id.Key(), "/resourcegroups/")
	return path
}

func hashDifference(path, want string) string {
	hash := fnv.New32a()
	hash.Write([]byte(path + "=" + want))
	return fmt.Sprintf("%08x", hash.Sum32())
}
