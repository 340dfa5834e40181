package flavors

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// manifestOwner is the field owner that Apply uses: that of Argo CD.
// https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/#server-side-apply
const manifestOwner = "argocd-controller"

// otherOwner is another field owner: that of Flux. Its name comes after manifestOwner: managedFields are ordered by their times, in seconds, and
// then by names. An owner with an earlier name and the same second would change its place with its next apply, which Kubernetes takes for a
// change of the object and stores with the new time.
// https://fluxcd.io/flux/components/kustomize/kustomizations/#controlling-the-apply-behavior-of-resources
const otherOwner = "kustomize-controller"

// applies counts what Again did in this test binary.
var applies struct{ manifests, objects, requests, differences atomic.Int64 }

// LogApplies prints, when the test ends, how often Again applied how many objects, and how many differences it found.
func LogApplies(t *testing.T) {
	t.Cleanup(func() {
		t.Logf("%d manifests with %d objects were applied again: %d applies, %d differences", applies.manifests.Load(), applies.objects.Load(),
			applies.requests.Load(), applies.differences.Load())
	})
}

// ApplyAgain applies objects that are in the API server in each way of users and GitOps tools, and fails the test when that changes
// anything:
//
//   - server-side as Argo CD, which applied them first, without and with --force-conflicts: nothing changes, managedFields included
//   - server-side as Flux, which takes the fields over with --force-conflicts: a dry run shows no difference, so Flux does not apply at all. If
//     it does, only managedFields change. Later applies change nothing, with --force-conflicts or without
//   - in Argo CD's client-side comparison of manifest and object, with and without the annotation of a plain apply: only fields that the book
//     lists differ
//   - plainly, as "kubectl apply" without --server-side: only the annotation with the manifest is added, and later nothing changes
//   - by "kubectl replace", for the kinds of this provider: the user's spec stays, and with it the generation where the webhook puts
//     back what controllers wrote. The controllers put back the rest
//
// The API server refuses null server-side, so a manifest with null is applied plainly only. A manifest with finalizers removes those
// of others when it is applied plainly, and the controllers put them back.
//
// Only controllers may write meanwhile, and only the status. The caller checks the writes to Azure.
func ApplyAgain(stage *harness.Stage, objects []*unstructured.Unstructured) {
	stage.T.Helper()
	applies.manifests.Add(1)
	for _, object := range objects {
		applies.objects.Add(1)
		a := again{stage: stage, manifest: object}
		a.readObject(stage.T.Context())
		if !hasNull(object.Object) {
			if len(a.last.GetManagedFields()) == 0 {
				// A manifest without any field owns none, and the API server begins to track owners with the second apply.
				a.compareAfter("server-side, tracked for the first time", exceptAppliers, a.serverSide(manifestOwner))
			}
			a.compareAfter("server-side", exceptStatus, a.serverSide(manifestOwner))
			a.compareAfter("server-side with --force-conflicts", exceptStatus, a.serverSide(manifestOwner, client.ForceOwnership))
			a.compareDryRun(manifestOwner)
			a.compareDryRun(otherOwner)
			a.compareAfter("server-side as another owner with --force-conflicts", exceptAppliers, a.serverSide(otherOwner, client.ForceOwnership))
			a.compareAfter("server-side as another owner, again", exceptStatus, a.serverSide(otherOwner))
			a.compareAfter("server-side as another owner with --force-conflicts, again", exceptStatus, a.serverSide(otherOwner, client.ForceOwnership))
		}
		a.compareAsArgoCD()
		before := a.last
		if scheme.Scheme.Recognizes(object.GroupVersionKind()) {
			continue // kubectl merges Kubernetes' own kinds in another way.
		}
		if len(object.GetFinalizers()) > 0 {
			a.compareAfter("plainly", comparableSpec, a.applyPlainly)
			a.putBack(before)
		} else {
			a.compareAfter("plainly", exceptAppliers, a.applyPlainly)
			a.compareAfter("plainly, again", exceptStatus, a.applyPlainly)
			a.compareAsArgoCD()
		}
		if object.GroupVersionKind().Group == infrav1.GroupVersion.Group {
			before = a.last
			if a.compareAfter("by replacement", comparableSpec, a.replaceObject) {
				a.putBack(before)
			}
		}
	}
}

// applyEarly applies objects server-side once more, without --force-conflicts, while their first reconciliation is under way.
func applyEarly(stage *harness.Stage, objects []*unstructured.Unstructured) {
	stage.T.Helper()
	ctx, cancel := context.WithTimeout(stage.T.Context(), harness.Patience)
	defer cancel()
	for _, object := range objects {
		if hasNull(object.Object) {
			continue
		}
		if err := (&again{stage: stage, manifest: object}).serverSide(manifestOwner)(ctx, nil); err != nil {
			stage.T.Errorf("apply %s %s again before it is reconciled: %v", object.GetKind(), object.GetName(), err)
		}
	}
}

// again applies one manifest whose object exists.
type again struct {
	stage    *harness.Stage
	manifest *unstructured.Unstructured
	// last is the object as it was read last.
	last *unstructured.Unstructured
}

// compareAfter does an apply and compares the parts of the object before and after it. It returns whether they are equal.
func (a *again) compareAfter(way string, parts func(*unstructured.Unstructured) map[string]any,
	apply func(context.Context, *unstructured.Unstructured) error) bool {
	t := a.stage.T
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	applies.requests.Add(1)
	before := a.last
	if err := apply(ctx, before.DeepCopy()); err != nil {
		applies.differences.Add(1)
		t.Errorf("apply %s %s %s: %v", a.manifest.GetKind(), a.manifest.GetName(), way, err)
		return false
	}
	diff := harness.DiffContent(parts(before), parts(a.readObject(ctx)))
	if diff != "" {
		applies.differences.Add(1)
		t.Errorf("to apply %s %s %s changes it (-before +after):\n%s", a.manifest.GetKind(), a.manifest.GetName(), way, diff)
	}
	return diff == ""
}

func (a *again) readObject(ctx context.Context) *unstructured.Unstructured {
	a.stage.T.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(a.manifest.GroupVersionKind())
	if err := a.stage.Client.Get(ctx, client.ObjectKeyFromObject(a.manifest), live); err != nil {
		a.stage.T.Fatalf("read %s %s: %v", a.manifest.GetKind(), a.manifest.GetName(), err)
	}
	a.last = live
	return live
}

// exceptStatus returns an object with its generation and its managedFields. It leaves the status out: no apply can change it, and a
// controller may write it for the first time meanwhile. The times in managedFields change with each apply that writes.
func exceptStatus(object *unstructured.Unstructured) map[string]any {
	object = object.DeepCopy()
	object.SetResourceVersion("")
	object.SetManagedFields(slices.DeleteFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Subresource == "status"
	}))
	delete(object.Object, "status")
	return object.Object
}

// exceptAppliers returns an object with its generation, without the fields that name its appliers.
func exceptAppliers(object *unstructured.Unstructured) map[string]any {
	object = &unstructured.Unstructured{Object: exceptStatus(object)}
	object.SetManagedFields(nil)
	annotations := object.GetAnnotations()
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	if len(annotations) == 0 {
		annotations = nil
	}
	object.SetAnnotations(annotations)
	return object.Object
}

// written are the fields of specs that controllers write and that webhooks do not put back when an update leaves them out.
var written = map[string][]string{
	"AzureManagedCluster":        {"controlPlaneEndpoint"},
	"AzureManagedMachinePool":    {"providerIDList"},
	"AzureASOManagedMachinePool": {"providerIDList"},
	"AzureMachinePool":           {"providerID", "providerIDList"},
}

// comparableSpec returns the spec of an object without what controllers write, and its generation where they write nothing.
func comparableSpec(object *unstructured.Unstructured) map[string]any {
	object = object.DeepCopy()
	fields := written[object.GetKind()]
	for _, name := range fields {
		unstructured.RemoveNestedField(object.Object, "spec", name)
	}
	if len(fields) > 0 {
		object.SetGeneration(0)
	}
	inSpec, _, _ := unstructured.NestedMap(object.Object, "spec")
	if len(inSpec) == 0 {
		inSpec = nil
	}
	return map[string]any{"spec": inSpec, "generation": object.GetGeneration()}
}

// putBack waits until spec and metadata are as they were before.
func (a *again) putBack(before *unstructured.Unstructured) {
	a.stage.T.Helper()
	parts := func(object *unstructured.Unstructured) map[string]any {
		out := exceptAppliers(object)
		metadata, _, _ := unstructured.NestedMap(out, "metadata")
		delete(metadata, "generation")
		if finalizers, _, _ := unstructured.NestedStringSlice(metadata, "finalizers"); finalizers != nil {
			metadata["finalizers"] = slices.Sorted(slices.Values(finalizers))
		}
		out["metadata"] = metadata
		return out
	}
	defer func() {
		if a.stage.T.Failed() {
			a.stage.T.Logf("not put back in %s %s (-before +after):\n%s", a.manifest.GetKind(), a.manifest.GetName(),
				harness.DiffContent(parts(before), parts(a.last)))
		}
	}()
	want := parts(before)
	a.stage.Eventually(fmt.Sprintf("%s %s is as it was", a.manifest.GetKind(), a.manifest.GetName()), func() bool {
		return reflect.DeepEqual(want, parts(a.readObject(a.stage.T.Context())))
	})
}

// hasNull returns whether a key has the value null.
func hasNull(object map[string]any) bool {
	for _, value := range object {
		inner, _ := value.(map[string]any)
		if value == nil || hasNull(inner) {
			return true
		}
	}
	return false
}

func (a *again) serverSide(owner string, options ...client.ApplyOption) func(context.Context, *unstructured.Unstructured) error {
	return func(ctx context.Context, _ *unstructured.Unstructured) error {
		return client.WithFieldValidation(a.stage.Client, metav1.FieldValidationStrict).
			Apply(ctx, client.ApplyConfigurationFromUnstructured(a.manifest.DeepCopy()), append(options, client.FieldOwner(owner))...)
	}
}

// applyPlainly is what kubectl does with definitions that are not its own: it merges the manifest, the manifest of the apply before, which an
// annotation has, and the object, and sends nothing when they agree.
func (a *again) applyPlainly(ctx context.Context, live *unstructured.Unstructured) error {
	original := live.GetAnnotations()[corev1.LastAppliedConfigAnnotation]
	manifest, err := json.Marshal(a.manifest)
	if err != nil {
		return err
	}
	modified := a.manifest.DeepCopy()
	annotations := map[string]string{}
	maps.Copy(annotations, modified.GetAnnotations())
	annotations[corev1.LastAppliedConfigAnnotation] = string(manifest)
	modified.SetAnnotations(annotations)
	documents := [2][]byte{}
	for i, object := range []*unstructured.Unstructured{modified, live} {
		if documents[i], err = json.Marshal(object); err != nil {
			return err
		}
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch([]byte(original), documents[0], documents[1])
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	if string(patch) == "{}" {
		return nil
	}
	return a.stage.Client.Patch(ctx, live, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("kubectl-client-side-apply"))
}

// replaceObject puts the manifest in the place of the object. Owners, labels and other finalizers are put back by Cluster API, which does
// not run here.
func (a *again) replaceObject(ctx context.Context, live *unstructured.Unstructured) error {
	replacement := a.manifest.DeepCopy()
	replacement.SetResourceVersion(live.GetResourceVersion())
	replacement.SetOwnerReferences(live.GetOwnerReferences())
	replacement.SetFinalizers(slices.DeleteFunc(live.GetFinalizers(),
		func(finalizer string) bool { return strings.HasSuffix(finalizer, infrav1.GroupVersion.Group) }))
	// The webhook keeps the label with the name of the Cluster, and an AzureManagedCluster has no webhook that changes it. Cluster API, which is not
	// there, would set the others.
	labels := maps.Clone(live.GetLabels())
	if live.GetKind() != "AzureManagedCluster" {
		delete(labels, clusterv1.ClusterNameLabel)
	}
	replacement.SetLabels(labels)
	return a.stage.Client.Update(ctx, replacement, client.FieldOwner("kubectl-replace"))
}
