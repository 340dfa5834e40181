package check

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/pages"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
	"sigs.k8s.io/cluster-api-provider-azure/internal/webhook"
)

// checkFields finds values of stored specs that this provider does not have, does not plan from, refuses, or changes.
func (c *checker) checkFields(ctx context.Context) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	// A gate that is closed refuses its fields. Gates are the user's decision, so all are open here.
	rules := webhook.NewStoredRules(c.Reader, plan.Features{EdgeZone: true, APIServerILB: true, MachinePool: true, ASOAPI: true,
		UncheckedASOKinds: c.UncheckedASOKinds})
	for _, name := range slices.Sorted(maps.Keys(scheme.KnownTypes(infrav1.GroupVersion))) {
		gvk := infrav1.GroupVersion.WithKind(name)
		kind, isList := strings.CutSuffix(name, "List")
		if !isList || !scheme.Recognizes(gvk.GroupVersion().WithKind(kind)) {
			continue
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		err := pages.ForEach(ctx, c.Reader, list, func(stored client.Object) error {
			object, err := scheme.New(gvk.GroupVersion().WithKind(kind))
			if err != nil {
				return err
			}
			return c.checkObject(ctx, rules, stored.(*unstructured.Unstructured), object.(client.Object))
		})
		if err != nil && !meta.IsNoMatchError(err) { // A kind without a definition has no objects.
			return err
		}
	}
	return nil
}

// checkObject decodes a stored object into the type of this provider and applies the rules of webhooks and plans.
func (c *checker) checkObject(ctx context.Context, rules *webhook.StoredRules, stored *unstructured.Unstructured,
	object client.Object) error {
	name, kind := describe(stored), stored.GetKind()
	// Only the spec decides. The status has fields of contract v1beta1, which this provider rewrites.
	content := runtime.DeepCopyJSON(stored.Object)
	delete(content, "status")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, object, true); err != nil {
		strict, isStrict := runtime.AsStrictDecodingError(err)
		if !isStrict {
			c.report.Add("fields", migration.Blocks, name,
				fmt.Sprintf("A field has another type than this provider expects: %v.", userinput.Explain(err, content, object)), "Correct the field.")
			return nil
		}
		for _, each := range strict.Errors() {
			field := strings.TrimSuffix(strings.TrimPrefix(each.Error(), `unknown field "`), `"`)
			c.report.Add("fields", migration.ToKnow, name, fmt.Sprintf("This provider has no field %s. The API server drops it with the next write.", field),
				"Remove it from your manifests.")
		}
	}
	blocked := map[string]bool{}
	for _, err := range append(maxima.FindExceeded(kind, object), specfield.DecodeSpec(object).CheckMisread()...) {
		c.report.Add("fields", migration.Blocks, name, "The object would not be reconciled. "+err.Error()+".", "Correct the field.")
		blocked[err.Field] = true
	}
	result, err := rules.CheckStored(ctx, kind, object)
	if err != nil {
		return fmt.Errorf("check %s: %w", name, err)
	}
	for _, err := range result.Ineffective {
		remedy := "Correct the field."
		if strings.HasSuffix(err.Field, ".kind") {
			remedy = "Remove the manifest. If the message names --unchecked-aso-kinds, you can set this flag of kubectl capz migrate instead. migrate run gives its value to the new manager, as the variable CAPZ_UNCHECKED_ASO_KINDS of clusterctl."
		}
		c.report.Add("fields", migration.Blocks, name, "The resource manifests would not be carried out. "+strings.TrimSuffix(err.Error(), ".")+".",
			remedy)
		blocked[err.Field] = true
	}
	for _, cause := range result.Refused {
		if blocked[cause.Field] {
			continue
		}
		c.report.Add("fields", migration.ToKnow, name, fmt.Sprintf("An object with this spec cannot be created again. %s: %s", cause.Field,
			strings.TrimSuffix(cause.Message, ".")+"."), "The stored object keeps working. Correct the field before you restore or move it.")
	}
	for _, field := range changedFields(object, result.Defaulted) {
		c.report.Add("fields", migration.ToKnow, name, "The next write of the object fills in the default of "+field+".", "")
	}
	return nil
}

// describe returns kind, namespace and name.
func describe(object client.Object) string {
	name := object.GetName()
	if namespace := object.GetNamespace(); namespace != "" {
		name = namespace + "/" + name
	}
	return object.GetObjectKind().GroupVersionKind().Kind + " " + name
}

// changedFields returns the topmost fields of the spec that differ, at most three levels deep.
func changedFields(before, after client.Object) []string {
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	was, errBefore := runtime.DefaultUnstructuredConverter.ToUnstructured(before)
	is, errAfter := runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	if errBefore != nil || errAfter != nil {
		return nil
	}
	return differingFields("spec", was["spec"], is["spec"], 3)
}

func differingFields(path string, before, after any, depth int) []string {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	was, wasObject := before.(map[string]any)
	is, isObject := after.(map[string]any)
	if !wasObject || !isObject || depth == 0 {
		return []string{path}
	}
	keys := maps.Clone(is)
	maps.Copy(keys, was)
	var out []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, differingFields(path+"."+key, was[key], is[key], depth-1)...)
	}
	return out
}
