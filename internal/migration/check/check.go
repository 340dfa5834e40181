// Package check finds the conditions that would affect the migration of a management cluster from the established provider. It reads from
// Kubernetes, and through plans from Azure. It changes nothing, and may be repeated at any time.
package check

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/management"
)

// Options are the inputs of a check.
type Options struct {
	// Reader reads the kinds of Kubernetes, definitions of kinds, and the kinds of Cluster API and of this provider.
	Reader management.Reader
	// Version is the version of the provider to migrate to.
	Version string
	// UncheckedASOKinds are the kinds of resource manifests that the next manager sends without a definition.
	UncheckedASOKinds []string
	// FindRelease returns an error if clusterctl cannot read a version of the provider for Azure from its repository.
	FindRelease func(ctx context.Context, version string) error
	// Plan computes the writes to Azure that the manager would make for objects. If it is nil, the check has no plans.
	Plan func(ctx context.Context, objects []client.Object) (*preview.Result, error)
	// Progress gets a line before each part of the check that takes time. It may be nil.
	Progress func(line string)
}

// checker collects findings in a report.
type checker struct {
	Options
	report migration.Report
	// definitions are all CustomResourceDefinitions.
	definitions []apiextensionsv1.CustomResourceDefinition
}

// FindAll runs all checks and returns the sorted report.
func FindAll(ctx context.Context, options Options) (*migration.Report, error) {
	c := &checker{Options: options}
	c.report.To = options.Version
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := c.Reader.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list CustomResourceDefinitions: %w", err)
	}
	c.definitions = list.Items
	for _, run := range []func(context.Context) error{c.checkVersions, c.checkRelease, c.checkKinds, c.checkFields, c.checkIdentities, c.checkOperator,
		c.checkRoles, c.checkTags, c.checkPlans} {
		if err := run(ctx); err != nil {
			return nil, err
		}
	}
	c.report.Sort()
	return &c.report, nil
}
