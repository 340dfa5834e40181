package preview

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
)

// Merge applies manifests to the objects of a management cluster: a manifest replaces the fields that it has, and a list as a whole. It
// returns all objects, and the fields of specs that change, by kind and key. Fields that a manifest no longer has are left as they are,
// because only the API server knows who has set them.
func Merge(ctx context.Context, features plan.Features, live, applied []client.Object) (objects []client.Object, specs map[string][]string, err error) {
	server, err := kubernetes.New(nil)
	if err != nil {
		return nil, nil, err
	}
	admit, err := NewAdmission(server, features)
	if err != nil {
		return nil, nil, err
	}
	for _, object := range live {
		if object.GetUID() != "" {
			if err := server.Restore(object); err != nil {
				return nil, nil, err
			}
		}
	}
	objects, specs = slices.Clone(live), map[string][]string{}
	for _, manifest := range applied {
		kind, err := apiutil.GVKForObject(manifest, server.Scheme())
		if err != nil {
			return nil, nil, err
		}
		at := slices.IndexFunc(objects, func(o client.Object) bool {
			of, err := apiutil.GVKForObject(o, server.Scheme())
			return err == nil && of.GroupKind() == kind.GroupKind() && client.ObjectKeyFromObject(o) == client.ObjectKeyFromObject(manifest)
		})
		if at < 0 {
			objects = append(objects, manifest)
			continue
		}
		merged, fields, err := mergeObject(ctx, admit, objects[at], manifest)
		if err != nil {
			return nil, nil, fmt.Errorf("%s %s: %w", kind.Kind, client.ObjectKeyFromObject(manifest), err)
		}
		objects[at] = merged
		if len(fields) > 0 {
			specs[kind.Kind+" "+client.ObjectKeyFromObject(manifest).String()] = fields
		}
	}
	return objects, specs, nil
}

// mergeObject applies one manifest to an object and returns it with the fields of its spec that change.
func mergeObject(ctx context.Context, admit *Admission, live, manifest client.Object) (client.Object, []string, error) {
	before, err := encode(live)
	if err != nil {
		return nil, nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(manifest)
	if err != nil {
		return nil, nil, err
	}
	content = jsonpath.CloneObject(content)
	delete(content, "status")
	for _, key := range []string{"resourceVersion", "uid", "generation", "creationTimestamp", "managedFields"} {
		unstructured.RemoveNestedField(content, "metadata", key)
	}
	patch, err := json.Marshal(content)
	if err != nil {
		return nil, nil, err
	}
	after, err := mergePatch(before, patch)
	if err != nil {
		return nil, nil, err
	}
	merged := &unstructured.Unstructured{}
	if err := json.Unmarshal(after, &merged.Object); err != nil {
		return nil, nil, err
	}
	kind, err := apiutil.GVKForObject(live, admit.scheme)
	if err != nil {
		return nil, nil, err
	}
	merged.SetGroupVersionKind(kind)
	stored, err := admit.Admit(ctx, live, merged)
	if err != nil {
		return nil, nil, err
	}
	typed := live.DeepCopyObject().(client.Object)
	if _, raw := typed.(*unstructured.Unstructured); raw {
		typed = stored
	} else if content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stored); err != nil {
		return nil, nil, err
	} else {
		reflect.ValueOf(typed).Elem().SetZero()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, typed); err != nil {
			return nil, nil, err
		}
	}
	fields, err := changedFields(live, typed)
	if err == nil && len(fields) > 0 {
		typed.SetGeneration(live.GetGeneration() + 1)
	}
	return typed, fields, err
}

func mergePatch(before, patch []byte) ([]byte, error) {
	change, err := jsonmergepatch.CreateThreeWayJSONMergePatch(patch, patch, before)
	if err != nil {
		return nil, err
	}
	return jsonpatch.MergePatch(before, change)
}

func encode(object client.Object) ([]byte, error) { return json.Marshal(object) }

// changedFields returns the paths below the spec whose values differ, sorted.
func changedFields(before, after client.Object) (out []string, err error) {
	leaves := func(object client.Object) (map[string]any, error) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		found := map[string]any{}
		jsonpath.Walk(content["spec"], func(path jsonpath.Path, value any) bool {
			switch value.(type) {
			case map[string]any, []any:
				return true
			}
			found["spec."+path.String()] = value
			return true
		})
		return found, err
	}
	had, err := leaves(before)
	if err != nil {
		return nil, err
	}
	has, err := leaves(after)
	if err != nil {
		return nil, err
	}
	for path, value := range has {
		if was, is := had[path]; !is || !reflect.DeepEqual(was, value) {
			out = append(out, path)
		}
	}
	for path := range had {
		if _, is := has[path]; !is {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Namespaces returns the namespaces that new objects are in and that the objects do not have.
func Namespaces(objects []client.Object) (out []client.Object) {
	has := map[string]bool{}
	for _, object := range objects {
		if _, is := object.(*corev1.Namespace); is {
			has[object.GetName()] = true
		}
	}
	for _, object := range objects {
		if name := object.GetNamespace(); name != "" && !has[name] {
			has[name] = true
			namespace := &corev1.Namespace{}
			namespace.Name = name
			out = append(out, namespace)
		}
	}
	return out
}
