package check

import (
	"context"

	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

// checkRelease finds that clusterctl cannot read the release that the migration installs. Without the check, the migration would end after the
// established provider was stopped.
func (c *checker) checkRelease(ctx context.Context) error {
	if c.report.From == c.Version {
		return nil // It is installed, so an interrupted migration does not read it again.
	}
	return addRelease(ctx, &c.report, c.FindRelease, c.Version, migration.ReleaseRemedy)
}

// addRelease adds a finding that blocks if clusterctl cannot read a version of the provider for Azure.
func addRelease(ctx context.Context, report *migration.Report, find func(context.Context, string) error, version, remedy string) error {
	err := find(ctx, version)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	report.Add("release", migration.Blocks, "Provider infrastructure-azure", "clusterctl cannot read version "+version+". "+err.Error(), remedy)
	return nil
}
