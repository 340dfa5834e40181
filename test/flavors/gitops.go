package flavors

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// compareDryRun fails the test if a dry run of a server-side apply with --force-conflicts changes the object. By such a dry run Flux decides
// whether it applies an object, and Argo CD whether an object is OutOfSync if its option ServerSideDiff is set.
func (a *again) compareDryRun(owner string) {
	t := a.stage.T
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	applies.requests.Add(1)
	content, err := json.Marshal(a.manifest)
	if err != nil {
		t.Fatal(err)
	}
	got := a.manifest.DeepCopy()
	if err := a.stage.Client.Patch(ctx, got, client.RawPatch(types.ApplyPatchType, content), client.DryRunAll, client.ForceOwnership,
		client.FieldOwner(owner)); err != nil {
		applies.differences.Add(1)
		t.Errorf("apply %s %s as %s in a dry run: %v", a.manifest.GetKind(), a.manifest.GetName(), owner, err)
		return
	}
	if diff := harness.DiffContent(exceptAppliers(a.last), exceptAppliers(got)); diff != "" {
		applies.differences.Add(1)
		t.Errorf("a dry run of an apply of %s %s as %s shows a difference (-live +applied):\n%s", a.manifest.GetKind(), a.manifest.GetName(),
			owner, diff)
	}
}

// NormalizedFields are the ends of the paths of fields to which a webhook gives another value than a manifest may have: an empty key is
// generated, a version gets its "v", and settings of a former form move to networkInterfaces.
var NormalizedFields = []string{"sshPublicKey", "version", "controlPlaneEndpoint.host", "subnetName", "acceleratedNetworking"}

// compareAsArgoCD fails the test if Argo CD, by its client-side comparison, shows the object as OutOfSync without a reason that the book gives.
// The comparison merges manifest, annotation and object as kubectl does, without the API server, so it cannot know defaults in elements of lists
// and values that webhooks normalize. Without the annotation the manifest takes its place.
// https://argo-cd.readthedocs.io/en/stable/user-guide/diff-strategies/
func (a *again) compareAsArgoCD() {
	t := a.stage.T
	t.Helper()
	if a.manifest.GroupVersionKind().Group != infrav1.GroupVersion.Group {
		return
	}
	paths, err := findOutOfSync(a.manifest, a.last)
	if err != nil {
		t.Errorf("compare %s %s as Argo CD does: %v", a.manifest.GetKind(), a.manifest.GetName(), err)
		return
	}
	applies.requests.Add(1)
	for _, path := range paths {
		if strings.Contains(path, "[]") || slices.ContainsFunc(NormalizedFields, func(field string) bool { return strings.HasSuffix(path, "."+field) }) {
			continue
		}
		applies.differences.Add(1)
		t.Errorf("Argo CD shows %s %s as OutOfSync: %s", a.manifest.GetKind(), a.manifest.GetName(), path)
	}
}

// findOutOfSync returns the paths in which Argo CD's prediction differs from an object. Elements of lists have no index.
func findOutOfSync(manifest, live *unstructured.Unstructured) ([]string, error) {
	config := manifest.DeepCopy()
	unstructured.RemoveNestedField(config.Object, "status")
	// A manifest with finalizers stays OutOfSync, because it removes those of controllers.
	unstructured.RemoveNestedField(config.Object, "metadata", "finalizers")
	documents := [2][]byte{}
	for i, object := range []*unstructured.Unstructured{config, live} {
		var err error
		if documents[i], err = json.Marshal(object); err != nil {
			return nil, err
		}
	}
	original := []byte(live.GetAnnotations()[corev1.LastAppliedConfigAnnotation])
	if len(original) == 0 {
		original = documents[0]
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, documents[0], documents[1])
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	merged, err := jsonpatch.MergePatch(documents[1], patch)
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	predicted := map[string]any{}
	if err := json.Unmarshal(merged, &predicted); err != nil {
		return nil, err
	}
	current := map[string]any{}
	if err := json.Unmarshal(documents[1], &current); err != nil {
		return nil, err
	}
	found := map[string]bool{}
	listDifferences(found, "", current, predicted)
	return slices.Sorted(maps.Keys(found)), nil
}

func listDifferences(found map[string]bool, path string, live, predicted any) {
	switch live := live.(type) {
	case map[string]any:
		other, ok := predicted.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(live)
		maps.Copy(keys, other)
		for key := range keys {
			listDifferences(found, path+"."+key, live[key], other[key])
		}
		return
	case []any:
		other, ok := predicted.([]any)
		if !ok || len(other) != len(live) {
			found[path+"[]"] = true
			return
		}
		for i := range live {
			listDifferences(found, path+"[]", live[i], other[i])
		}
		return
	}
	if !reflect.DeepEqual(live, predicted) {
		found[path] = true
	}
}
