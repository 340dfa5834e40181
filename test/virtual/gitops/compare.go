package gitops

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// ObjectHealth is the health of an object in kstatus, which Flux uses without expressions; in Argo CD; and in Flux with expressions.
type ObjectHealth struct{ Kind, KStatus, ArgoCD, Flux string }

// counted has the number of revisions of objects by health, in this process.
var counted struct {
	mu     sync.Mutex
	counts map[ObjectHealth]int
}

// CountHealth returns the number of revisions of objects by health, in this process.
func CountHealth() map[ObjectHealth]int {
	counted.mu.Lock()
	defer counted.mu.Unlock()
	out := map[ObjectHealth]int{}
	for health, n := range counted.counts {
		out[health] = n
	}
	return out
}

// FindWrongHealth returns the contradictions between the health of an object in Argo CD and Flux and its status in kstatus. A paused object is
// Suspended in Argo CD. Flux's expressions do not cover deletions.
func FindWrongHealth(object *unstructured.Unstructured, want kstatus.Status) (out []string) {
	argoCD, err := ComputeArgoCDHealth(object)
	if err != nil {
		return []string{err.Error()}
	}
	flux, err := ComputeFluxHealth(object)
	if err != nil {
		return []string{err.Error()}
	}
	countHealth(ObjectHealth{object.GetKind(), want.String(), argoCD.Status, flux.String()})
	deleted := object.GetDeletionTimestamp() != nil
	switch {
	case deleted && argoCD.Status == "Progressing", isPaused(object) && argoCD.Status == "Suspended":
	case deleted || argoCDHealth[argoCD.Status] != want || argoCD.Message == "":
		out = append(out, fmt.Sprintf("kstatus returns %s, and Argo CD shows %s: %q", want, argoCD.Status, argoCD.Message))
	}
	if !deleted && flux != want {
		out = append(out, fmt.Sprintf("kstatus returns %s, and Flux's expressions %s", want, flux))
	}
	return out
}

// FindWrongHealthWithoutStatus returns the errors in the health of an object whose kind has no status. Such an object is Current as soon as it
// exists, and the tools have no checks of their own for it.
func FindWrongHealthWithoutStatus(object *unstructured.Unstructured, health kstatus.Status) (out []string) {
	argoCD, err := ComputeArgoCDHealth(object)
	if err != nil {
		return []string{err.Error()}
	}
	flux, err := ComputeFluxHealth(object)
	if err != nil {
		return []string{err.Error()}
	}
	countHealth(ObjectHealth{object.GetKind(), health.String(), argoCD.Status, flux.String()})
	if object.GetDeletionTimestamp() != nil {
		return nil // kstatus returns Terminating, and Argo CD Progressing, by the deletion alone.
	}
	if health != kstatus.CurrentStatus || argoCD.Status != "" || flux != "" {
		out = append(out, fmt.Sprintf("kstatus returns %s, Argo CD %q and Flux's expressions %q, want Current without checks", health, argoCD.Status, flux))
	}
	return out
}

func countHealth(health ObjectHealth) {
	counted.mu.Lock()
	defer counted.mu.Unlock()
	if counted.counts == nil {
		counted.counts = map[ObjectHealth]int{}
	}
	counted.counts[health]++
}

func isPaused(object *unstructured.Unstructured) bool {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, each := range list {
		condition, _ := each.(map[string]any)
		if condition["type"] == clusterv1.PausedCondition && condition["status"] == "True" {
			return true
		}
	}
	return false
}
