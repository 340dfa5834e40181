package check

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

// aggregationLabel is the label of ClusterRoles whose rules the established provider gets.
const aggregationLabel = "cluster.x-k8s.io/aggregate-to-capz-manager"

// checkRoles finds roles of the established provider that no upgrade removes.
func (c *checker) checkRoles(ctx context.Context) error {
	roles, bindings := &rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}
	if err := c.Reader.List(ctx, roles); err != nil {
		return fmt.Errorf("list ClusterRoles: %w", err)
	}
	if err := c.Reader.List(ctx, bindings); err != nil {
		return fmt.Errorf("list ClusterRoleBindings: %w", err)
	}
	add := func(kind string, object client.Object) {
		labels := object.GetLabels()
		switch {
		case labels[migration.ProviderLabel] == migration.ProviderName && labels[migration.SeriesLabel] == "":
			c.report.Add("roles", migration.DoneByRun, kind+" "+object.GetName(), "A role of the established provider. It is replaced or deleted.", "")
		case labels[aggregationLabel] == "true":
			c.report.Add("roles", migration.ToKnow, kind+" "+object.GetName(),
				"A role of your own whose rights the established provider has. This provider does not get them.",
				"Grant the rights by namespace, and delete the role after the migration.")
		}
	}
	for i := range roles.Items {
		add("ClusterRole", &roles.Items[i])
	}
	for i := range bindings.Items {
		add("ClusterRoleBinding", &bindings.Items[i])
	}
	return nil
}
