package virtual

import (
	"regexp"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual/gitops"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual/kstatus"
)

// checkStatus fails the test if kstatus, Argo CD, Flux or metrics contradict the conditions of an object of our kinds. Objects that another manager reconciles
// have the status that it writes.
func (k *Kubernetes) checkStatus(stored client.Object) {
	kind, err := apiutil.GVKForObject(stored, k.scheme)
	if err != nil || kind.Group != infrav1.GroupVersion.Group {
		return
	}
	object, ok := stored.(kstatus.Object)
	if !ok {
		k.checkWithoutStatus(stored, kind)
		return
	}
	if annotations.IsExternallyManaged(object) {
		return
	}
	read, computed, err := kstatus.Compute(object, kind)
	if err != nil {
		k.t.Errorf("%s %s: %v", kind.Kind, object.GetName(), err)
		return
	}
	for _, condition := range object.GetConditions() {
		if twice := findTwice(condition.Message); twice != "" {
			k.t.Errorf("%s %s: %s names %q twice: %s", kind.Kind, object.GetName(), condition.Type, twice, condition.Message)
		}
	}
	for _, found := range kstatus.FindContradictions(object, computed) {
		k.t.Errorf("%s %s: %s; conditions: %v", kind.Kind, object.GetName(), found, object.GetConditions())
	}
	for _, found := range kstatus.FindOtherState(object, computed) {
		k.t.Errorf("%s %s: %s; conditions: %v", kind.Kind, object.GetName(), found, object.GetConditions())
	}
	if object.GetObserved().ObservedGeneration == 0 {
		return // Another provider made the object, and this one has not reconciled it yet.
	}
	for _, found := range gitops.FindWrongHealth(read, computed) {
		k.t.Errorf("%s %s: %s; conditions: %v", kind.Kind, object.GetName(), found, object.GetConditions())
	}
}

// checkWithoutStatus fails the test if a tool waits for an object of a kind without a status.
func (k *Kubernetes) checkWithoutStatus(object client.Object, kind schema.GroupVersionKind) {
	read, computed, err := kstatus.Compute(object, kind)
	if err != nil {
		k.t.Errorf("%s %s: %v", kind.Kind, object.GetName(), err)
		return
	}
	for _, found := range gitops.FindWrongHealthWithoutStatus(read, computed) {
		k.t.Errorf("%s %s: %s", kind.Kind, object.GetName(), found)
	}
}

// namedRequest matches a request as errors of Azure name it.
var namedRequest = regexp.MustCompile(`\b(?:GET|PUT|PATCH|POST|DELETE) [\w.-]+/[^\s:;,]+: `)

// findTwice returns a request that a message names twice.
func findTwice(message string) string {
	seen := map[string]bool{}
	for _, found := range namedRequest.FindAllString(message, -1) {
		if seen[found] {
			return found
		}
		seen[found] = true
	}
	return ""
}
