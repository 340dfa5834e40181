package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/pages"
)

// settings maps annotations of this provider that the established provider does not have to the established provider's behavior without
// them.
var settings = map[string]string{
	infrav1.DeleteLeftoversAnnotation:    "The established provider does not delete leftovers with the cluster.",
	infrav1.IdentityNamespacesAnnotation: "The established provider lets every namespace use every Secret.",
	infrav1.ObserveAnnotation:            "The established provider does not observe. It writes to Azure.",
	infrav1.PlainObjectsAnnotation:       "The established provider does not delete these plain objects with their manifests.",
	infrav1.StopAnnotation:               "The established provider starts no VMs that are stopped. Remove the annotation, and wait until they run, before you return.",
	infrav1.StopScheduleAnnotation:       "The established provider neither stops nor starts VMs. Remove the annotation, and wait until they run, before you return.",
}

// ownFields maps fields that the published definitions of the established provider (v1.26) do not have to its behavior without them, by kind.
var ownFields = map[string]map[string]string{
	"AzureASOManagedCluster": {
		"spec.azureEnvironment": "The operator uses the cloud of its own settings.",
		"spec.identityRef":      "The operator uses the Secret of the annotation serviceoperator.azure.com/credential-from, or its own credential.",
		"spec.subscriptionID":   "The operator uses the subscription of its credential.",
	},
	"AzureClusterIdentity": {
		"spec.allowedResources":  "The established provider does not restrict the resources that clusters use.",
		"spec.allowedRoleScopes": "The established provider does not restrict the scopes of role assignments.",
	},
	"AzureASOManagedClusterTemplate":      withMetadata,
	"AzureASOManagedControlPlaneTemplate": withMetadata,
	"AzureASOManagedMachinePoolTemplate":  withMetadata,
	"AzureClusterTemplate":                withMetadata,
	"AzureManagedClusterTemplate":         withMetadata,
	"AzureManagedControlPlaneTemplate":    withMetadata,
	"AzureManagedMachinePoolTemplate":     withMetadata,
}

// withMetadata are the fields of templates.
var withMetadata = map[string]string{"spec.template.metadata": "New objects of the template do not get these labels and annotations."}

// addSettings adds the annotations of an object that have no effect in the established provider.
func addSettings(report *migration.Report, name string, annotations map[string]string) {
	for annotation, effect := range settings {
		if _, has := annotations[annotation]; has {
			report.Add("back", migration.ToKnow, name, fmt.Sprintf("It has the annotation %s. %s", annotation, effect), "")
		}
	}
}

// findSettings finds annotations on objects that are not of this provider.
func findSettings(ctx context.Context, c client.Reader, report *migration.Report) error {
	for _, kind := range []struct {
		of          string
		list        client.ObjectList
		annotations []string
	}{
		{"Cluster", &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "ClusterList"}},
			[]string{infrav1.ObserveAnnotation, infrav1.StopAnnotation, infrav1.StopScheduleAnnotation}},
		{"Namespace", &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NamespaceList"}},
			[]string{infrav1.ObserveAnnotation}},
		{"Secret", &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "SecretList"}},
			[]string{infrav1.IdentityNamespacesAnnotation}},
	} {
		err := pages.ForEach(ctx, c, kind.list, func(object client.Object) error {
			for _, annotation := range kind.annotations {
				if value, has := object.GetAnnotations()[annotation]; has && value != migration.ObserveValue {
					addSettings(report, strings.Replace(kind.of+" "+client.ObjectKeyFromObject(object).String(), " /", " ", 1),
						map[string]string{annotation: value})
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("list %ss: %w", kind.of, err)
		}
	}
	return nil
}

// findOwnFields finds fields that the established provider drops.
func findOwnFields(ctx context.Context, c client.Reader, report *migration.Report) error {
	for _, kind := range slices.Sorted(maps.Keys(ownFields)) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(migration.GroupVersion.WithKind(kind + "List"))
		err := pages.ForEach(ctx, c, list, func(object client.Object) error {
			for field, effect := range ownFields[kind] {
				if _, has, _ := unstructured.NestedFieldNoCopy(object.(*unstructured.Unstructured).Object, strings.Split(field, ".")...); has {
					report.Add("back", migration.ToKnow, describe(object),
						fmt.Sprintf("The established provider does not have the field %s and drops it. %s", field, effect), "Note the value if you may return to this provider.")
				}
			}
			return nil
		})
		if err != nil && !meta.IsNoMatchError(err) {
			return err
		}
	}
	return nil
}
