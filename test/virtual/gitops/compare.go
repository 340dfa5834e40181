package gitops

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Verdict is what the tools show for an object: kstatus, and by it Flux without expressions; Argo CD; and Flux with expressions.
type Verdict struct{ Kind, KStatus, ArgoCD, Flux string }

// verdicts counts the revisions of objects by verdict, in this process.
var verdicts struct {
	mu     sync.Mutex
	counts map[Verdict]int
}

// CountVerdicts returns how many revisions of objects had which verdict in this process.
func CountVerdicts() map[Verdict]int {
	verdicts.mu.Lock()
	defer verdicts.mu.Unlock()
	out := map[Verdict]int{}
	for verdict, n := range verdicts.counts {
		out[verdict] = n
	}
	return out
}

// FindWrongVerdicts returns in what the health of an object in Argo CD and Flux contradicts kstatus. A paused object is Suspended in Argo CD.
// Flux's expressions know nothing of deletions.
func FindWrongVerdicts(object *unstructured.Unstructured, want kstatus.Status) (out []string) {
	argoCD, err := ComputeArgoCDHealth(object)
	if err != nil {
		return []string{err.Error()}
	}
	flux, err := ComputeFluxHealth(object)
	if err != nil {
		return []string{err.Error()}
	}
	countVerdict(Verdict{object.GetKind(), want.String(), argoCD.Status, flux.String()})
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

// FindWrongVerdictsWithoutStatus returns in what the verdicts of the tools for an object of a kind without a status are wrong: it is Current as soon
// as it exists, and the tools have no checks of their own for it.
func FindWrongVerdictsWithoutStatus(object *unstructured.Unstructured, verdict kstatus.Status) (out []string) {
	argoCD, err := ComputeArgoCDHealth(object)
	if err != nil {
		return []string{err.Error()}
	}
	flux, err := ComputeFluxHealth(object)
	if err != nil {
		return []string{err.Error()}
	}
	countVerdict(Verdict{object.GetKind(), verdict.String(), argoCD.Status, flux.String()})
	if object.GetDeletionTimestamp() != nil {
		return nil // kstatus returns Terminating, and Argo CD Progressing, by the deletion alone.
	}
	if verdict != kstatus.CurrentStatus || argoCD.Status != "" || flux != "" {
		out = append(out, fmt.Sprintf("kstatus returns %s, Argo CD %q and Flux's expressions %q, want Current without checks", verdict, argoCD.Status, flux))
	}
	return out
}

func countVerdict(verdict Verdict) {
	verdicts.mu.Lock()
	defer verdicts.mu.Unlock()
	if verdicts.counts == nil {
		verdicts.counts = map[Verdict]int{}
	}
	verdicts.counts[verdict]++
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
