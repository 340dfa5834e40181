package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

// Supported series of the established provider. Tests have an installation of the newest one. Assumption: the earlier ones store objects
// in the same form.
const oldestMinor, newestMinor = 17, 26

// knownMinor is the newest series of the established provider in metadata.yaml. clusterctl does not upgrade an installation of a later one.
const knownMinor = 30

// byHandSection is the section of docs/book/release.md about installations that the command cannot move.
const byHandSection = "CAPZ that clusterctl has not installed"

const byHand = `by hand, as in docs/book/release.md, section "` + byHandSection + `"`

// listProviders returns the inventory of clusterctl. It is empty if clusterctl has installed nothing.
func listProviders(ctx context.Context, c client.Reader) (migration.Inventory, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(migration.InventoryKind)
	if err := c.List(ctx, list); err != nil && !meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("list the inventory of clusterctl: %w", err)
	}
	return migration.ReadInventory(list), nil
}

// checkVersions finds versions of the established provider and of Cluster API that cannot be migrated from.
func (c *checker) checkVersions(ctx context.Context) error {
	providers, err := listProviders(ctx, c.Reader)
	if err != nil {
		return err
	}
	azure, found := providers.Azure()
	switch version, err := semver.ParseTolerant(azure.Version); {
	case !found:
		c.report.Add("versions", migration.Blocks, "Provider infrastructure-azure", "clusterctl has not installed a provider for Azure.",
			"The command needs an installation by clusterctl. Move "+byHand+".")
	case err != nil:
		c.report.Add("versions", migration.Blocks, "Provider infrastructure-azure", "The inventory of clusterctl has the version "+azure.Version+".",
			"Correct the version in the Provider object.")
	case version.Major >= 2:
		c.report.Add("versions", migration.ToKnow, "Provider infrastructure-azure", "The version "+azure.Version+" is a version of this provider.", "")
	case version.Major == 1 && version.Minor > newestMinor:
		remedy := "Use a newer release of this provider. If there is none, read the other findings, and continue with --despite-findings."
		if version.Minor > knownMinor {
			remedy = "Use a newer release of this provider: clusterctl cannot upgrade to this one."
		}
		c.report.Add("versions", migration.Blocks, "Provider infrastructure-azure",
			fmt.Sprintf("The version %s is later than v1.%d, the newest one that was tested.", azure.Version, newestMinor), remedy)
	case version.Major != 1 || version.Minor < oldestMinor:
		c.report.Add("versions", migration.Blocks, "Provider infrastructure-azure",
			fmt.Sprintf("The version %s is not from v1.%d to v1.%d. Moves from other versions are not supported.", azure.Version, oldestMinor, newestMinor),
			fmt.Sprintf("Upgrade the established provider to v1.%d first.", newestMinor))
	default:
		c.report.Add("versions", migration.DoneByRun, "Provider infrastructure-azure",
			"The version "+azure.Version+" is replaced by "+c.Version+".", "")
	}
	c.report.From = azure.Version
	if azure.Namespace != "" && azure.Namespace != migration.Namespace {
		c.report.Add("versions", migration.Blocks, "Provider infrastructure-azure", "It is in the namespace "+azure.Namespace+".",
			"The command knows only the namespace "+migration.Namespace+". Move "+byHand+".")
	}
	core, _ := providers.Find("CoreProvider", "")
	i := slices.IndexFunc(c.definitions, func(d apiextensionsv1.CustomResourceDefinition) bool {
		return d.Name == "clusters."+clusterv1.GroupVersion.Group
	})
	switch {
	case i < 0:
		c.report.Add("versions", migration.Blocks, "Provider cluster-api", "Cluster API is not installed.", "Select the management cluster with --context.")
	case !slices.ContainsFunc(c.definitions[i].Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == clusterv1.GroupVersion.Version && v.Served
	}):
		// https://cluster-api.sigs.k8s.io/developer/providers/migrations/v1.10-to-v1.11
		c.report.Add("versions", migration.Blocks, "Provider cluster-api",
			strings.Replace(fmt.Sprintf("Cluster API %s does not serve contract %s.", core.Version, clusterv1.GroupVersion.Version), "  ", " ", 1),
			"Upgrade Cluster API to v1.11 or later first: clusterctl upgrade apply --core cluster-api:VERSION --bootstrap kubeadm:VERSION --control-plane kubeadm:VERSION")
	}
	return nil
}
