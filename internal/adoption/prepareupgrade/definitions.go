package prepareupgrade

import (
	"context"
	"fmt"
	"io"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Label of the operator's definitions: internal/crdmanagement of Azure Service Operator.
const (
	operatorLabel = "app.kubernetes.io/name"
	operatorName  = "azure-service-operator"
)

// Label of everything that the established provider installs. Kinds of its group without it belong to another provider.
const (
	providerLabel = "cluster.x-k8s.io/provider"
	providerName  = "infrastructure-azure"
)

// DisableConversion disables conversions by webhooks that are no longer served. Such a webhook lets every request for all kinds
// fail, including the deletion of namespaces and clusterctl.
//
// Afterwards the operator's definitions serve only the stored version, so no object can be written in a version that only the
// operator can convert. A newly installed operator compares specs and restores its own, by the same package. The kinds of the
// provider have one version, or versions of one schema.
func DisableConversion(ctx context.Context, c client.Client, kinds []apiextensionsv1.CustomResourceDefinition, out io.Writer) error {
	changed := 0
	for _, kind := range kinds {
		if !NeedsOperator(kind) {
			continue
		}
		ours := IsProviderKind(kind)
		before := kind.DeepCopy()
		kind.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
		for i := range kind.Spec.Versions {
			if version := &kind.Spec.Versions[i]; !ours {
				version.Served = version.Storage
			}
		}
		if err := c.Patch(ctx, &kind,
			client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("disable the conversion of %s by a webhook: %w", kind.Name, err)
		}
		changed++
	}
	fmt.Fprintf(out, "%d kinds need no conversion by a webhook any more\n", changed)
	return nil
}

// NeedsOperator reports whether objects of a kind are converted by a webhook that ends with the established provider.
func NeedsOperator(kind apiextensionsv1.CustomResourceDefinition) bool {
	return (IsProviderKind(kind) || IsOperatorKind(kind)) && kind.Spec.Conversion != nil &&
		kind.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

// IsProviderKind reports whether the established provider or this one has installed the definition.
func IsProviderKind(kind apiextensionsv1.CustomResourceDefinition) bool {
	return kind.Spec.Group == infrav1.GroupVersion.Group && kind.Labels[providerLabel] == providerName
}

// IsOperatorKind reports whether the definition belongs to the operator, by its label. Other programs may have kinds of such a
// group.
func IsOperatorKind(kind apiextensionsv1.CustomResourceDefinition) bool {
	return kind.Labels[operatorLabel] == operatorName && strings.HasSuffix(kind.Spec.Group, groupSuffix)
}

// FindWebhooks returns the operator's configurations of admission webhooks.
func FindWebhooks(ctx context.Context, c client.Reader) ([]metav1.PartialObjectMetadata, error) {
	var out []metav1.PartialObjectMetadata
	for _, name := range []string{"mutating", "validating"} {
		kind := "MutatingWebhookConfiguration"
		if name == "validating" {
			kind = "ValidatingWebhookConfiguration"
		}
		configuration := metav1.PartialObjectMetadata{}
		configuration.SetGroupVersionKind(schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: kind})
		err := c.Get(ctx, client.ObjectKey{Name: "azureserviceoperator-" + name + "-webhook-configuration"}, &configuration)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("get the operator's %s: %w", kind, err)
		}
		if err == nil {
			out = append(out, configuration)
		}
	}
	return out, nil
}

// DeleteWebhooks deletes the operator's admission webhooks. Without a running operator they refuse every change of its objects.
func DeleteWebhooks(ctx context.Context, c client.Client) error {
	configurations, err := FindWebhooks(ctx, c)
	if err != nil {
		return err
	}
	for i := range configurations {
		if err := client.IgnoreNotFound(c.Delete(ctx, &configurations[i])); err != nil {
			return fmt.Errorf("delete %s %s: %w", configurations[i].Kind, configurations[i].Name, err)
		}
	}
	return nil
}
